"""Config options of version 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Lenient, Maybe, Unknown, Untagged, Wire, open_with
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.common.ids import SessionConfigGroupId, SessionConfigId, SessionConfigValueId, SessionId


class SessionConfigSelectGroup(Extensible, kw_only=True):
    """Values of a selection under one heading."""

    group_id: SessionConfigGroupId
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

    config_id: SessionConfigId
    name: str
    description: Maybe[str] = UNSET
    category: Maybe[SessionConfigOptionCategory] = UNSET


class SelectConfigOption(ConfigOption, tag_field="type", tag="select", kw_only=True):
    """A config option with one value out of several."""

    current_value: SessionConfigValueId
    options: SessionConfigSelectOptions


def offered_values(option: SelectConfigOption) -> Iterator[SessionConfigSelectOption]:
    """The values of a selection, grouped or not."""
    for entry in option.options:
        if isinstance(entry, SessionConfigSelectOption):
            yield entry
        else:
            yield from entry.options


class BooleanConfigOption(ConfigOption, tag_field="type", tag="boolean", kw_only=True):
    """A config option that is on or off."""

    current_value: bool


#: A setting of a session.
if TYPE_CHECKING:
    SessionConfigOption = SelectConfigOption | BooleanConfigOption | Unknown
else:
    SessionConfigOption = Annotated[SelectConfigOption | BooleanConfigOption, open_with(configId=str, name=str)]


class SetSessionConfigOptionResponse(Extensible, kw_only=True):
    """All config options, since one may change others."""

    config_options: Lenient[Items[SessionConfigOption]]


class SetConfigOption(Extensible, kw_only=True):
    """What all requests to set a config option have."""

    session_id: SessionId
    config_id: SessionConfigId


class SetIdConfigOption(SetConfigOption, tag_field="type", tag="id", kw_only=True):
    """Chooses a value of a selection."""

    value: SessionConfigValueId


class SetBooleanConfigOption(SetConfigOption, tag_field="type", tag="boolean", kw_only=True):
    """Turns a switch on or off."""

    value: bool


#: Sets a config option.
if TYPE_CHECKING:
    SetSessionConfigOptionRequest = SetIdConfigOption | SetBooleanConfigOption | Unknown
else:
    SetSessionConfigOptionRequest = Annotated[
        SetIdConfigOption | SetBooleanConfigOption, open_with(sessionId=str, configId=str, value=Any)
    ]
