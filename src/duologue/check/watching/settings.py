"""Modes and options: that what is told about them agrees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk, inside
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side


def _lists(talk: Talk) -> Iterator[tuple[Said, list[Json]]]:
    """Each list of options that the agent told, with where."""
    for said in talk.theirs:
        options = said.result.get("configOptions", said.update.get("configOptions"))
        if isinstance(options, list):
            yield said, [option for option in options if isinstance(option, dict)]


def values(option: Json) -> list[Any]:
    """The values of a select, those of groups included."""
    found = []
    for entry in option.get("options") or []:
        if isinstance(entry, dict):
            found += [each.get("value") for each in entry.get("options", [entry]) if isinstance(each, dict)]
    return found


@watch("v1-modes-02", Side.AGENT)
def current_mode_is_there(talk: Talk) -> Seen:
    for said in talk.theirs:
        modes = said.result.get("modes")
        if isinstance(modes, dict) and isinstance(modes.get("availableModes"), list):
            ids = [mode.get("id") for mode in modes["availableModes"] if isinstance(mode, dict)]
            sound = modes.get("currentModeId") in ids and len(set(map(str, ids))) == len(ids)
            yield said, "" if sound else "currentModeId is not one of the modes, or two modes have one id"


@watch("v1-modes-08", Side.AGENT)
def modes_agree_with_options(talk: Talk) -> Seen:
    for said in talk.theirs:
        current = inside(said.result, "modes", "currentModeId")
        options = said.result.get("configOptions")
        if current is not None and isinstance(options, list):
            chosen = [o.get("currentValue") for o in options if isinstance(o, dict) and o.get("category") == "mode"]
            yield said, "" if current in chosen else "the mode is no option, or the option has another value"


@watch("all-config-02", Side.AGENT)
def current_value_is_there(talk: Talk) -> Seen:
    for said, options in _lists(talk):
        for option in options:
            if option.get("type") == "select" and isinstance(option.get("currentValue"), str):
                listed = option["currentValue"] in values(option)
                yield said, "" if listed else f"{option['currentValue']!r} is not among the options"


@watch("v1-config-02", Side.AGENT)
def booleans_where_offered(talk: Talk) -> Seen:
    offered = talk.offered(Side.CLIENT, "session", "configOptions", "boolean")
    for said, options in _lists(talk):
        wrong = not isinstance(offered, dict) and any(option.get("type") == "boolean" for option in options)
        yield said, "a boolean option goes to a client without the capability" if wrong else ""


def modes_told(talk: Talk) -> list[Any] | None:
    """The ids of the modes that a client was told; None where it was told none."""
    for said in talk.said:
        modes = inside(said.result, "modes", "availableModes")
        if isinstance(modes, list):
            return [mode.get("id") for mode in modes if isinstance(mode, dict)]
    return None


@watch("v1-modes-03", Side.CLIENT)
def sets_modes_that_exist(talk: Talk) -> Seen:
    told = modes_told(talk)
    for said in talk.theirs:
        if said.method == "session/set_mode":
            yield said, "" if told and said.params.get("modeId") in told else "the mode was not told"


@watch("v1-modes-09", Side.CLIENT)
def prefers_options(talk: Talk) -> Seen:
    ours = [said.result for said in talk.said if said.ours]
    both = any(isinstance(result.get("modes"), dict) and result.get("configOptions") for result in ours)
    for said in talk.theirs:
        if both and said.method in {"session/set_mode", "session/set_config_option"}:
            yield said, "set_mode is used where there are options" if said.method == "session/set_mode" else ""
