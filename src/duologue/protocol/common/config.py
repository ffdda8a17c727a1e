"""Config options of a session, as far as both versions agree."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum, Wire
from duologue.protocol.common.ids import SessionConfigValueId


class SessionConfigOptionCategory(OpenEnum):
    """What a config option is about, so that a client can find a fitting place for it."""

    MODE = "mode"
    MODEL = "model"
    MODEL_CONFIG = "model_config"
    THOUGHT_LEVEL = "thought_level"


class SessionConfigSelectOption(Extensible, kw_only=True):
    """A value that a selection offers."""

    value: SessionConfigValueId
    name: str
    description: Maybe[str] = UNSET


class SessionConfigBoolean(Wire, kw_only=True):
    """The state of a switch."""

    current_value: bool
