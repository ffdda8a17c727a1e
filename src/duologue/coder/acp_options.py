"""The config options of a session: which model works, and what it may do without asking."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Protocol

from duologue.coder.models.base import Model
from duologue.coder.models.config import SettingsError, read_config
from duologue.coder.models.registry import ModelChoice, available_models, load_model
from duologue.coder.models.settings import chosen_spec, resolve
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.v2.config import SelectConfigOption

log = logging.getLogger("duologue.coder.models")

MODEL = "model"
MODE = "mode"

ASK = "ask"
READ_ONLY = "read_only"

#: The status of a ModelError that asks for a key.
UNAUTHORIZED = 401

#: Stands for a model that was asked for in a way that names none that works.
BROKEN = "configured"

MODES = (
    SessionConfigSelectOption(
        value=ASK, name="Ask", description="Reads freely; asks before it changes a file or runs a command"
    ),
    SessionConfigSelectOption(
        value=READ_ONLY, name="Read only", description="Reads freely; changes no file and runs no command"
    ),
)


class Models(Protocol):
    """The models a session can choose from."""

    def offered(self) -> Sequence[ModelChoice]:
        """At least one; the first is the one that a new session has."""

    def load(self, spec: str) -> Model:
        """The model, ready to be asked. Raises ModelError."""

    def notices(self) -> Sequence[str]:
        """What a person should be told about their settings, each in a sentence without its full stop."""

    def missing_key(self) -> str | None:
        """What to do, in words, when the first model only lacks a key."""


class ConfiguredModels:
    """The models that the environment and the config file name; `chosen` is the one that was asked for by hand."""

    def __init__(self, chosen: str | None = None, env: Mapping[str, str] | None = None) -> None:
        self._chosen = chosen
        self._env = os.environ if env is None else env

    def offered(self) -> Sequence[ModelChoice]:
        """A model that was asked for and cannot be used stays the first: to work with it tells what is wrong. Another
        one in its place would answer in a way that nobody asked for."""
        problem = self._problem()

        def warn(text: str) -> None:
            if problem is None or not text.endswith(problem.summary):  # That is told when the model is to work.
                log.warning("%s", text)

        choices = available_models(self._chosen, self._env, warn=warn)
        if problem is None:
            return choices
        told = f"Cannot be used: {problem.summary}"
        return (ModelChoice(BROKEN, self._chosen or "Configured model", told), *choices)

    def load(self, spec: str) -> Model:
        return load_model(self._chosen if spec == BROKEN else spec, self._env)

    def notices(self) -> Sequence[str]:
        """What is odd about the config file. An error in it is told by the model."""
        try:
            return read_config(self._env).warnings
        except SettingsError:
            return ()

    def missing_key(self) -> str | None:
        problem = self._problem()
        return problem.summary if problem is not None and problem.status == UNAUTHORIZED else None

    def _problem(self) -> SettingsError | None:
        try:
            config = read_config(self._env)
            resolve(chosen_spec(self._chosen, self._env, config), self._env, config)
        except SettingsError as error:
            return error
        return None


def model_option(choices: Sequence[ModelChoice], current: str) -> SelectConfigOption:
    return SelectConfigOption(
        config_id=MODEL,
        name="Model",
        category=SessionConfigOptionCategory.MODEL,
        current_value=current,
        options=[
            SessionConfigSelectOption(value=choice.spec, name=choice.name, description=choice.description)
            for choice in choices
        ],
    )


def mode_option(current: str) -> SelectConfigOption:
    return SelectConfigOption(
        config_id=MODE,
        name="Mode",
        description="What the agent may do",
        category=SessionConfigOptionCategory.MODE,
        current_value=current,
        options=list(MODES),
    )
