"""The environment that commands get: an allow list, never what merely happens to be set.

A model's key, a cloud token or a database password of the parent must not reach a command that a model wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

ALLOWED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "NVM_DIR", "NODE_ENV", "JAVA_HOME"),
        *("GOPATH", "GOROOT", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "RBENV_ROOT", "GEM_HOME"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NIX_PATH"),
        *("DEVELOPER_DIR", "SDKROOT", "HOMEBREW_PREFIX"),
    )
)
ALLOWED_PREFIXES = ("LC_",)
PROXIES = frozenset(
    name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())
)

# A name that looks like this never passes by name, not even when a host lists it; a host can give it as a value.
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS(WORD|WD|PHRASE)?(_|$)|CREDENTIAL|AUTH|COOKIE|PRIVATE", re.IGNORECASE)

# No pager, editor or question may wait for a person who is not there.
FIXED = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1"}


def command_environment(
    parent: Mapping[str, str] | None = None, *, names: Iterable[str] = (), values: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a command may see. `names` are further names to take from the parent, `values` are set as they are."""
    parent = os.environ if parent is None else parent
    wanted = ALLOWED | frozenset(names)
    chosen = {name: value for name, value in parent.items() if _passes(name, value, wanted)}
    chosen["PATH"] = absolute_path(chosen.get("PATH") or os.defpath)
    return {**chosen, **FIXED, **(values or {})}


def _passes(name: str, value: str, wanted: frozenset[str]) -> bool:
    if SECRET.search(name):
        return False
    # A proxy is an address; with a user in it, it is a password.
    if name in PROXIES:
        return "@" not in value
    return name in wanted or name.startswith(ALLOWED_PREFIXES)


def absolute_path(path: str) -> str:
    """A search path without relative entries, which would find programs in the project."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())
