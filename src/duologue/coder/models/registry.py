"""The models that can be chosen, and the way from a name to a model that is ready to be asked.

Nothing heavy is imported here: a remote model loads its library when it is first asked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping

import msgspec

from duologue.coder.models.base import Model
from duologue.coder.models.config import Config, SettingsError, read_config
from duologue.coder.models.settings import OFFLINE, RemoteSettings, chosen_spec, resolve

Warn = Callable[[str], None]
_log = logging.getLogger("duologue.coder.models")


class ModelChoice(msgspec.Struct, frozen=True):
    """A model a person may choose; `spec` is what `load_model` takes."""

    spec: str
    name: str
    description: str


def load_model(spec: str | None = None, env: Mapping[str, str] | None = None, *, warn: Warn = _log.warning) -> Model:
    """The model that `spec`, the environment or the config file names; the offline one when none does.

    `warn` gets each oddity of the config file as one line. Raises SettingsError when the name, a base URL, a key or the
    config file is missing or wrong, and when the model library is not installed.
    """
    env = os.environ if env is None else env
    config = _config(env, warn)
    settings = resolve(chosen_spec(spec, env, config), env, config)
    return _offline() if settings is None else _remote(settings)


def available_models(
    spec: str | None = None, env: Mapping[str, str] | None = None, *, warn: Warn = _log.warning
) -> tuple[ModelChoice, ...]:
    """What to offer, the chosen model first and the offline one last. A model that cannot be used is left out.

    Keeps going over wrong settings, which it tells to `warn`: a bad line must not take the other models away.
    """
    env = os.environ if env is None else env
    try:
        config = _config(env, warn)
    except SettingsError as error:
        warn(error.summary)
        config = Config()
    specs = [*_chosen(spec, env, config, warn), *config.top.get("models", ()), OFFLINE]
    choices = (_choice(each, env, config, warn) for each in dict.fromkeys(specs))
    return tuple(dict.fromkeys(choice for choice in choices if choice))


def _config(env: Mapping[str, str], warn: Warn) -> Config:
    config = read_config(env)
    for warning in config.warnings:
        warn(warning)
    return config


def _chosen(spec: str | None, env: Mapping[str, str], config: Config, warn: Warn) -> list[str]:
    try:
        return [chosen_spec(spec, env, config)]
    except SettingsError as error:
        warn(error.summary)
        return []


def _choice(spec: str, env: Mapping[str, str], config: Config, warn: Warn) -> ModelChoice | None:
    try:
        settings = resolve(spec, env, config)
    except SettingsError as error:
        warn(f"model {spec!r} is not offered: {error.summary}")
        return None
    if settings is None:
        return ModelChoice(OFFLINE, "Offline", "Built in: needs no network and no key")
    return ModelChoice(settings.spec, settings.model, settings.endpoint.title)


def _offline() -> Model:
    from duologue.coder.models.offline import OfflineModel

    return OfflineModel()


def _remote(settings: RemoteSettings) -> Model:
    from duologue.coder.models.remote import RemoteModel

    return RemoteModel(settings)
