"""The small file in which a person names models, endpoints and limits.

```toml
model = "anthropic:claude-opus-4-5"      # what runs when nothing else is chosen
models = ["openai:gpt-5-mini", "home:qwen3"]  # what else is offered
thinking = "medium"
sessions = "off"                         # or the folder in which sessions are kept

[providers.home]
wire = "openai"
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "HOME_KEY"
context_size = 32768
```

`base_url`, `api_key`, `api_key_env` and `context_size` at the top level are short for the same keys of the provider
that `model` names. Unknown keys are skipped with a warning, so that a file of a newer version still works.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from duologue.coder.models.base import ModelError

THINKING = ("off", "low", "medium", "high")


class Wire(StrEnum):
    """The format an endpoint speaks: OpenAI chat completions or Anthropic messages, both streamed."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class SettingsError(ModelError):
    """A setting is wrong or missing; the summary names it and says what to do."""


class Rule(msgspec.Struct, frozen=True):
    """What one key may hold: its type and, for numbers, the least value, for words, the choices."""

    type: type
    least: float | None = None
    choices: tuple[str, ...] = ()


ENDPOINT_KEYS: Mapping[str, Rule] = {
    "base_url": Rule(str),
    "api_key": Rule(str),
    "api_key_env": Rule(str),
    "context_size": Rule(int, least=1),
}
PROVIDER_KEYS: Mapping[str, Rule] = {**ENDPOINT_KEYS, "wire": Rule(str, choices=tuple(Wire))}
LIMIT_KEYS: Mapping[str, Rule] = {
    "thinking": Rule(str, choices=THINKING),
    "max_output_tokens": Rule(int, least=1),
    "retries": Rule(int, least=0),
    "retry_delay": Rule(float, least=0),
    "retry_delay_limit": Rule(float, least=0),
    "connect_timeout": Rule(float, least=0.001),
    "silence_timeout": Rule(float, least=0.001),
    "answer_bytes": Rule(int, least=1),
    "line_bytes": Rule(int, least=1),
}
STORE_KEYS: Mapping[str, Rule] = {
    "sessions": Rule(str),
    "session_count": Rule(int, least=1),
    "session_bytes": Rule(int, least=1),
    "session_days": Rule(int, least=1),
}
TOP_KEYS: Mapping[str, Rule] = {
    "model": Rule(str),
    "models": Rule(list),
    **ENDPOINT_KEYS,
    **LIMIT_KEYS,
    **STORE_KEYS,
}

_WORDS = {str: "a text", int: "a whole number", float: "a number", list: "a list of texts", dict: "a table"}


class Config(msgspec.Struct, frozen=True):
    """The checked content of the file; empty when there is none."""

    path: Path | None = None
    top: Mapping[str, Any] = msgspec.field(default_factory=dict)
    providers: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, Any]:
        return {key: value for key, value in self.top.items() if key in LIMIT_KEYS}

    @property
    def key_variables(self) -> frozenset[str]:
        """The variables that hold keys."""
        tables = (self.top, *self.providers.values())
        return frozenset(table["api_key_env"] for table in tables if "api_key_env" in table)


def config_path(env: Mapping[str, str]) -> Path | None:
    """Where the file is looked for; None when there is neither `DUOLOGUE_CONFIG`, `XDG_CONFIG_HOME` nor `HOME`."""
    if named := env.get("DUOLOGUE_CONFIG"):
        return Path(named)
    if base := env.get("XDG_CONFIG_HOME"):
        return Path(base) / "duologue" / "config.toml"
    if home := env.get("HOME"):
        return Path(home) / ".config" / "duologue" / "config.toml"
    return None


def read_config(env: Mapping[str, str]) -> Config:
    """Read and check the file. A file that was not asked for by name may be missing or unreadable.

    Raises SettingsError when the file is not TOML, a value has the wrong type, or a file named by `DUOLOGUE_CONFIG`
    cannot be read.
    """
    path = config_path(env)
    if path is None:
        return Config()
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        return _without_file(path, error, named=bool(env.get("DUOLOGUE_CONFIG")))
    import tomllib

    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{path}: not a valid TOML file: {error}") from None
    return _checked(path, table)


def _without_file(path: Path, error: OSError | ValueError, *, named: bool) -> Config:
    reason = getattr(error, "strerror", None) or str(error)
    if named:
        raise SettingsError(f"{path}: {reason}: set DUOLOGUE_CONFIG to a readable file, or unset it") from None
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Config()
    return Config(warnings=(f"{path}: not read: {reason}",))


def _checked(path: Path, table: dict[str, Any]) -> Config:
    warnings: list[str] = []
    tables = table.pop("providers", {})
    if not isinstance(tables, dict):
        raise _wrong(path, "providers", dict, tables)
    top = _known(path, table, TOP_KEYS, "", warnings)
    providers = {}
    for name, provider in tables.items():
        if not isinstance(provider, dict):
            raise _wrong(path, f"providers.{name}", dict, provider)
        providers[name] = _known(path, provider, PROVIDER_KEYS, f"providers.{name}.", warnings)
    if any("api_key" in part for part in (top, *providers.values())) and _others_may_read(path):
        warnings.append(f"{path}: holds a key and others may read it: run `chmod 600 {path}`, or use `api_key_env`")
    return Config(path, top, providers, tuple(warnings))


def _known(
    path: Path, table: dict[str, Any], rules: Mapping[str, Rule], prefix: str, warnings: list[str]
) -> dict[str, Any]:
    known = {}
    for key, value in table.items():
        if key not in rules:
            names = [*rules, *([] if prefix else ["providers"])]
            warnings.append(f"{path}: unknown key `{prefix}{key}` is ignored; {_meant(key, names)}")
            continue
        known[key] = _value(path, prefix + key, rules[key], value)
    return known


def _meant(key: str, names: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key, names, n=1, cutoff=0.75)
    return f"is `{near[0]}` meant?" if near else f"known here: {', '.join(names)}"


def _value(path: Path, key: str, rule: Rule, value: Any) -> Any:
    fits = isinstance(value, rule.type) or (rule.type is float and isinstance(value, int))
    if not fits or isinstance(value, bool):
        raise _wrong(path, key, rule.type, value)
    if rule.type is list and not all(isinstance(item, str) for item in value):
        raise _wrong(path, key, list, value)
    if rule.choices and value not in rule.choices:
        raise SettingsError(f"{path}: `{key}` must be one of {', '.join(rule.choices)}, not {value!r}")
    if rule.least is not None and not value >= rule.least:
        raise SettingsError(f"{path}: `{key}` must be at least {rule.least:g}, not {value!r}")
    return value


def _wrong(path: Path, key: str, expected: type, value: Any) -> SettingsError:
    # The value itself may be a key, so only its type is told.
    found = _WORDS.get(type(value), f"a {type(value).__name__}")
    return SettingsError(f"{path}: `{key}` must be {_WORDS[expected]}, not {found}")


def _others_may_read(path: Path) -> bool:
    return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)) if hasattr(stat, "S_IRGRP") else False
