"""Where sessions are kept, and how many of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from duologue.coder.models.config import STORE_KEYS, Config, SettingsError, read_config
from duologue.coder.store.errors import StoreError
from duologue.local.state import state_folder
from duologue.processes.environment import PROXIES, SECRET

MIB = 1024 * 1024

#: In place of a folder: keep nothing.
OFF = "off"

#: Shorter values are placeholders, and masking them would spoil the words around them.
SHORTEST_SECRET = 8


class StoreLimits(msgspec.Struct, frozen=True):
    """What is dropped first: sessions in which no turn was answered, then the old ones, then the least recently used. A
    session that is open in any process stays."""

    #: Sessions that are kept.
    session_count: int = 1000
    #: Bytes of all of them.
    session_bytes: int = 512 * MIB
    #: Days since a session was last used.
    session_days: int = 90
    #: The same for a session in which no turn was answered.
    unused_days: int = 1
    #: The longest time that something stays unwritten, in seconds.
    flush_seconds: float = 0.25
    #: How long to wait before what could not be written is tried again, in seconds.
    retry_seconds: float = 2
    #: Bytes that wait in memory while nothing can be written. With more of them nothing is kept any more.
    waiting_bytes: int = 64 * MIB
    #: How long to wait for another process to let go of a session, in seconds.
    busy_seconds: float = 3


class StoreSettings(msgspec.Struct, frozen=True):
    """The folder of the database, and its limits. `secrets` are values that must not be written down."""

    folder: Path
    limits: StoreLimits = StoreLimits()
    secrets: tuple[str, ...] = ()


def store_settings(option: str | None, env: Mapping[str, str]) -> StoreSettings | None:
    """What the command line, `DUOLOGUE_SESSIONS` or the config file say, in this order; None when nothing is to be
    kept, or there is no home folder.

    Raises StoreError when they say nothing that can be used: then nothing is kept either.
    """
    if OFF in (option, not option and env.get("DUOLOGUE_SESSIONS")):
        return None
    try:
        config = read_config(env)
    except SettingsError as error:
        raise StoreError(f"the config file may forbid it, and cannot be used ({error.summary})") from None
    chosen = option or env.get("DUOLOGUE_SESSIONS") or config.top.get("sessions")
    if chosen == OFF:
        return None
    limits = {name: config.top[name] for name in STORE_KEYS if name in config.top and name != "sessions"}
    folder = _folder(chosen, env)
    return None if folder is None else StoreSettings(folder, StoreLimits(**limits), secrets_of(env, config))


def _folder(chosen: str | None, env: Mapping[str, str]) -> Path | None:
    if not chosen:
        state = state_folder(env)
        return None if state is None else state / "sessions"
    folder = Path(chosen).expanduser()
    if not folder.is_absolute():
        raise StoreError(f"{chosen}: name the folder of the sessions from the root, or {OFF!r}")
    return folder


def secrets_of(env: Mapping[str, str], config: Config) -> tuple[str, ...]:
    """Values that stand under names of secrets in the environment, and the keys of the config file, the longest first.

    A path or a text of several words is no key, whatever its name: masked, it would only spoil what was said.
    """
    tables = (config.top, *config.providers.values())
    hinted = config.key_variables
    named = [value for name, value in env.items() if name in hinted or (SECRET.search(name) and name not in PROXIES)]
    keys = [str(table["api_key"]) for table in tables if "api_key" in table]
    return tuple(sorted({value for value in (*named, *keys) if _is_key(value)}, key=len, reverse=True))


def _is_key(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET and not value.startswith("/") and not any(char.isspace() for char in value)
