"""Modes and config options of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import OPEN, Extensible, Items, Lenient, Maybe, Unknown, Untagged, Wire
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.common.ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId
from duologue.protocol.v1.ids import SessionModeId


class SessionMode(Extensible, kw_only=True):
    """A way of working that a session can be switched to."""

    id: SessionModeId
    name: str
    description: Maybe[str] = UNSET


class SessionModeState(Extensible, kw_only=True):
    """The modes of a session and the present one."""

    current_mode_id: SessionModeId
    available_modes: Lenient[Items[SessionMode]]


class SetSessionModeRequest(Extensible, kw_only=True):
    """Switches the mode of a session."""

    session_id: SessionId
    mode_id: SessionModeId


class SetSessionModeResponse(Extensible, kw_only=True):
    """The mode is switched."""


class SessionConfigSelectGroup(Extensible, kw_only=True):
    """Values of a selection under one heading."""

    group: SessionConfigGroupId
    name: str
    options: Lenient[Items[SessionConfigSelectOption]]


if TYPE_CHECKING:
    SessionConfigSelectOptions = list[SessionConfigSelectOption] | list[SessionConfigSelectGroup]
else:

    class SessionConfigSelectOptions(Untagged):
        """The values of a selection, all in groups or none: the first one tells which."""

        variants = (list[SessionConfigSelectOption], list[SessionConfigSelectGroup])

        @classmethod
        def pick(cls, raw: Any) -> Any:
            match raw:
                case [{"options": _}, *_]:
                    return list[SessionConfigSelectGroup]
            return list[SessionConfigSelectOption]


class SessionConfigSelect(Wire, kw_only=True):
    """The present value of a selection and the values that it offers."""

    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions


class ConfigOption(Extensible, kw_only=True):
    """What all config options have."""

    id: SessionConfigId
    name: str
    description: Maybe[str] = UNSET
    category: Maybe[SessionConfigOptionCategory] = UNSET


class SelectConfigOption(ConfigOption, tag_field="type", tag="select", kw_only=True):
    """A config option with one value out of several."""

    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions


class BooleanConfigOption(ConfigOption, tag_field="type", tag="boolean", kw_only=True):
    """A config option that is on or off."""

    current_value: bool


#: A setting of a session.
if TYPE_CHECKING:
    SessionConfigOption = SelectConfigOption | BooleanConfigOption | Unknown
else:
    SessionConfigOption = Annotated[SelectConfigOption | BooleanConfigOption, OPEN]


class SetSessionConfigOptionResponse(Extensible, kw_only=True):
    """All config options, since one may change others."""

    config_options: Lenient[Items[SessionConfigOption]]


class SetSessionConfigOptionRequest(Extensible, kw_only=True):
    """Sets a config option. A selection takes a value's id and no type, a switch a boolean and the type ``boolean``."""

    session_id: SessionId
    config_id: SessionConfigId
    value: SessionConfigValueId | bool
    type: str | UnsetType = UNSET
