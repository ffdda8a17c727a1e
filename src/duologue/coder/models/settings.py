"""Which model runs, where and with which key: `--model` decides, then the environment, then the config file.

A model is named `offline`, `openai:NAME`, `anthropic:NAME`, `openai-compatible:NAME` or `PROVIDER:NAME` with a provider
of the config file. A bare NAME is a model of the OpenAI-compatible endpoint that `DUOLOGUE_BASE_URL` names.

A key is only sent where it belongs: `DUOLOGUE_API_KEY` goes to the chosen built-in provider, `OPENAI_API_KEY` and
`ANTHROPIC_API_KEY` to their own provider or the proxy its base URL names, a key of a config table to the endpoint of
that table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from duologue.coder.models.config import Config, SettingsError, Wire, config_path
from duologue.coder.models.keys import Secret, public_address
from duologue.coder.models.library import check_library

OFFLINE = "offline"
COMPATIBLE = "openai-compatible"
FORMS = "use `offline`, `openai:NAME`, `anthropic:NAME`, or set DUOLOGUE_BASE_URL and name its model"


class Endpoint(msgspec.Struct, frozen=True):
    """Where a model lives. `own` is true for the provider's own address, where prices and sizes are known."""

    provider: str
    wire: Wire
    base_url: str
    key: Secret | None
    key_hint: str
    own: bool = False

    @property
    def title(self) -> str:
        return f"{self.provider} ({public_address(self.base_url)})"


class RemoteSettings(msgspec.Struct, frozen=True):
    """All that a remote model needs. Times are seconds.

    `retries` counts further attempts, made only before any event was seen; the first waits `retry_delay`, each next one
    twice as long, and an endpoint that asks to wait longer than `retry_delay_limit` is not asked again.
    `silence_timeout` bounds the time between two pieces of an answer, not the whole answer. `answer_bytes` bounds the
    body of an answer, and `line_bytes` each line of it, of which an event of a stream is one.
    """

    endpoint: Endpoint
    model: str
    thinking: Literal["off", "low", "medium", "high"] | None = None
    max_output_tokens: int | None = None
    context_size: int | None = None
    retries: int = 2
    retry_delay: float = 0.5
    retry_delay_limit: float = 30.0
    connect_timeout: float = 10.0
    silence_timeout: float = 600.0
    answer_bytes: int = 256 * 1024 * 1024
    line_bytes: int = 16 * 1024 * 1024

    @property
    def spec(self) -> str:
        return f"{self.endpoint.provider}:{self.model}"


class Builtin(msgspec.Struct, frozen=True):
    """A provider known by name; `address` is None when the user has to give it."""

    wire: Wire
    address: str | None
    url_variable: str
    key_variable: str


BUILTIN: Mapping[str, Builtin] = {
    "openai": Builtin(Wire.OPENAI, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": Builtin(Wire.ANTHROPIC, "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    COMPATIBLE: Builtin(Wire.OPENAI, None, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
}


def chosen_spec(spec: str | None, env: Mapping[str, str], config: Config) -> str:
    """The model that was asked for, by the order that this module's first line tells; `offline` when nothing was."""
    if chosen := spec or env.get("DUOLOGUE_MODEL") or config.top.get("model"):
        return str(chosen)
    if env.get("DUOLOGUE_BASE_URL") or config.top.get("base_url"):
        raise SettingsError("a base URL is set but no model is named: set DUOLOGUE_MODEL or pass --model")
    return OFFLINE


def resolve(spec: str, env: Mapping[str, str], config: Config) -> RemoteSettings | None:
    """The settings of the named model, or None for `offline`.

    Raises SettingsError when the name, the base URL, the library or the key (in this order) is missing or wrong.
    """
    if spec == OFFLINE:
        return None
    provider, model = split_spec(spec, env, config)
    table = _table(provider, config)
    if provider == COMPATIBLE and ":" in model and not spec.startswith(COMPATIBLE):
        _check_provider(spec, env, config, table)
    endpoint = _endpoint(provider, env, config, table)
    return RemoteSettings(endpoint, model, context_size=table.get("context_size"), **config.limits)


def split_spec(spec: str, env: Mapping[str, str], config: Config) -> tuple[str, str]:
    """Provider and model of a spec. A first word that is no provider belongs to the model, as in `qwen3:8b`."""
    prefix, _, name = spec.partition(":")
    if not _is_provider(prefix, config):
        return COMPATIBLE, spec
    if name:
        return prefix, name
    for other in (env.get("DUOLOGUE_MODEL"), config.top.get("model")):
        if other and other != spec and (pair := split_spec(other, {}, Config(providers=config.providers)))[0] == prefix:
            return pair
    raise SettingsError(f"no model is named for {prefix!r}: write `{prefix}:NAME`")


def _check_provider(spec: str, env: Mapping[str, str], config: Config, table: Mapping[str, Any]) -> None:
    """Raises SettingsError for a first word that can only have been meant as a provider: there is no endpoint that may
    have a model of the whole name."""
    if env.get("DUOLOGUE_BASE_URL") or env.get(BUILTIN[COMPATIBLE].url_variable) or table.get("base_url"):
        return
    prefix = spec.partition(":")[0]
    known = ", ".join([*BUILTIN, *config.providers])
    file = config.path or config_path(env) or "the config file"
    raise SettingsError(
        f"there is no provider {prefix!r} for the model {spec!r}; there are: {known}. Describe it in {file} under "
        f"[providers.{prefix}], or set DUOLOGUE_BASE_URL if this is the name of a model"
    )


def _is_provider(word: str, config: Config) -> bool:
    return word in BUILTIN or word in config.providers


def _table(provider: str, config: Config) -> Mapping[str, Any]:
    """The config keys of a provider: its own table over the top-level keys when `model` of the file names it."""
    own = config.providers.get(provider, {})
    prefix = config.top.get("model", "").partition(":")[0]
    described = prefix if _is_provider(prefix, config) else COMPATIBLE
    return {**config.top, **own} if described == provider else own


def _endpoint(provider: str, env: Mapping[str, str], config: Config, table: Mapping[str, Any]) -> Endpoint:
    known = BUILTIN.get(provider)
    if known is None:
        return _configured(provider, env, config, table)
    url, source = _first(
        (env.get("DUOLOGUE_BASE_URL"), "DUOLOGUE_BASE_URL"),
        (env.get(known.url_variable), known.url_variable),
        (table.get("base_url"), "base_url"),
        (known.address, "address"),
    )
    if not url:
        raise SettingsError(f"no endpoint is named for the model: {FORMS}")
    _check_url(url, source)
    check_library()
    own = url.rstrip("/") == known.address
    key = _key(known, source, env, table)
    hint = table.get("api_key_env") or f"{known.key_variable} or DUOLOGUE_API_KEY"
    if own and key is None:
        raise SettingsError(f"no key for {provider}: set {hint}", status=401)
    return Endpoint(provider, known.wire, url, key, hint if known.address else "DUOLOGUE_API_KEY", own)


def _key(known: Builtin, source: str, env: Mapping[str, str], table: Mapping[str, Any]) -> Secret | None:
    """The key for the endpoint that `source` named. A compatible one never gets a key meant for another address."""
    named = known.address is not None
    key, _ = _first(
        (env.get("DUOLOGUE_API_KEY"), ""),
        (env.get(known.key_variable) if named or source == known.url_variable else None, ""),
        (_file_key(table, env) if named or source == "base_url" else None, ""),
    )
    return Secret(key) if key else None


def _configured(provider: str, env: Mapping[str, str], config: Config, table: Mapping[str, Any]) -> Endpoint:
    url = table.get("base_url")
    if not url:
        raise SettingsError(f"{config.path}: `providers.{provider}.base_url` is missing")
    _check_url(url, f"providers.{provider}.base_url")
    check_library()
    key = _file_key(table, env)
    return Endpoint(
        provider=provider,
        wire=Wire(table.get("wire", Wire.OPENAI)),
        base_url=url,
        key=Secret(key) if key else None,
        key_hint=table.get("api_key_env") or f"`api_key_env` in [providers.{provider}]",
    )


def _file_key(table: Mapping[str, Any], env: Mapping[str, str]) -> str | None:
    named = table.get("api_key_env")
    return (env.get(named) if named else None) or table.get("api_key")


def _first(*candidates: tuple[str | None, str]) -> tuple[str | None, str]:
    return next(((value, source) for value, source in candidates if value), (None, ""))


def _check_url(url: str, source: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise SettingsError(f"{source} is not an http(s) address: give one like http://127.0.0.1:8080/v1")
