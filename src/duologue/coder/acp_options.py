"""The config options of a session: which model works, and what it may do without asking."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from duologue.coder.models.base import Model
from duologue.coder.models.config import SettingsError, read_config
from duologue.coder.models.registry import ModelChoice, available_models, load_model
from duologue.coder.models.settings import OFFLINE, chosen_spec, resolve
from duologue.coder.settling import in_daemon
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


class ChosenModel:
    """The model of one session, by its `spec`, and the loading of it."""

    def __init__(self, models: Models, offered: Callable[[], Sequence[ModelChoice]]) -> None:
        self._models = models
        self._offered = offered
        self.spec = offered()[0].spec
        self._model: Model | None = None
        # The first turn may come while the model is loaded ahead.
        self._loading = asyncio.Lock()

    @property
    def sees(self) -> bool:
        """Whether it takes images."""
        return self.spec != OFFLINE

    def choose(self, spec: str) -> None:
        """Holds from the next turn on."""
        self.spec, self._model = spec, None

    def is_offered(self) -> bool:
        return any(choice.spec == self.spec for choice in self._offered())

    def first(self) -> str:
        """The one that a new session has."""
        return self._offered()[0].spec

    def option(self) -> SelectConfigOption:
        return model_option(self._offered(), self.spec)

    def notices(self) -> Sequence[str]:
        """See `Models`."""
        return self._models.notices()

    async def prepare(self) -> None:
        """Load it before it is needed."""
        if self.spec == OFFLINE:
            return
        from duologue.coder.models.remote import RemoteModel

        # What is wrong with it is told by the turn that needs it.
        with contextlib.suppress(Exception):
            model = await self.loaded()
            if isinstance(model, RemoteModel):
                await model.prepare()

    async def loaded(self) -> Model:
        """The model, ready to be asked. Raises ModelError."""
        async with self._loading:
            while self._model is None:
                spec = self.spec
                # In a thread: a model may load a library. Meanwhile another one may have been chosen.
                model = await in_daemon(self._models.load, spec)
                if spec == self.spec:
                    self._model = model
            return self._model


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
