"""Config options, and v1's modes and models, which v2 knows only as options.

The last options of a session are kept in v2's form: v1 gets `modes` derived from the option of category `mode`. Out of
a v1 agent's modes (or the models of older agents), if it has no such option, an option is made for v2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import SessionMemory
from duologue.protocol.changes.notes import down, note_down, note_up, up
from duologue.protocol.changes.renaming import raw_renamed, renamed
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.v1 import config as v1
from duologue.protocol.v1.updates import ConfigOptionUpdateEvent as ConfigUpdateV1
from duologue.protocol.v1.updates import CurrentModeUpdateEvent, SessionNotification
from duologue.protocol.v2 import config as v2
from duologue.protocol.v2.updates import ConfigOptionUpdateEvent as ConfigUpdateV2
from duologue.protocol.v2.updates import UpdateSessionNotification

MODE = SessionConfigOptionCategory.MODE
MODEL = SessionConfigOptionCategory.MODEL


# --- Down ------------------------------------------------------------------------------------------------------------


def option_down(option: v2.SelectConfigOption | v2.BooleanConfigOption) -> Any:
    if isinstance(option, v2.BooleanConfigOption):
        return renamed(option, v1.BooleanConfigOption, "config_id", "id")
    return renamed(option, v1.SelectConfigOption, "config_id", "id", options=_values(option, _group_down))


def options_down(session: SessionMemory, options: Iterable[v2.SessionConfigOption]) -> list[Any]:
    """Options for v1, without those that it does not know or that its client did not offer to show."""
    booleans = session.connection.client.boolean_options
    return [
        option_down(option)
        for option in options
        if isinstance(option, v2.SelectConfigOption) or (booleans and isinstance(option, v2.BooleanConfigOption))
    ]


def _group_down(group: v2.SessionConfigSelectGroup) -> v1.SessionConfigSelectGroup:
    return v1.SessionConfigSelectGroup(group=group.group_id, name=group.name, options=group.options, meta=group.meta)


def settings_down(session: SessionMemory, options: Any) -> dict[str, Any]:
    """The members `configOptions` and `modes` of v1's answers that open a session; it is open then."""
    session.opened = True
    if options is UNSET:
        return {}
    session.options = list(options)
    members: dict[str, Any] = {"config_options": options_down(session, options)}
    modes = modes_of(options)
    return {**members, "modes": modes} if modes is not None else members


def mode_option_of(options: Iterable[Any] | None) -> v2.SelectConfigOption | None:
    """The option that v1 knows as modes: the first selection of category `mode`."""
    return _of_category(options, MODE)


def _of_category(options: Iterable[Any] | None, category: SessionConfigOptionCategory) -> v2.SelectConfigOption | None:
    found = (option for option in options or () if isinstance(option, v2.SelectConfigOption))
    return next((option for option in found if option.category == category), None)


def modes_of(options: Iterable[Any] | None) -> v1.SessionModeState | None:
    option = mode_option_of(options)
    if option is None:
        return None
    modes = [
        v1.SessionMode(id=one.value, name=one.name, description=one.description, meta=one.meta)
        for one in v2.offered_values(option)
    ]
    return v1.SessionModeState(current_mode_id=option.current_value, available_modes=modes, meta=option.meta)


def options_update_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    """The options, and with them the mode when it is another one."""
    update: Any = note.update
    notes = mode_notes(session, update.config_options)
    change = ConfigUpdateV1(config_options=options_down(session, update.config_options), meta=update.meta)
    return down([*notes, SessionNotification(session_id=note.session_id, update=change, meta=note.meta)])


def mode_notes(session: SessionMemory, options: list[Any]) -> list[SessionNotification]:
    """Take new options in; tell v1 about the mode if they changed it."""
    before, after = mode_option_of(session.options), mode_option_of(options)
    session.options = list(options)
    if after is None or (before is not None and before.current_value == after.current_value):
        return []
    return [note_down(session.session_id, CurrentModeUpdateEvent(current_mode_id=after.current_value))]


# --- Up --------------------------------------------------------------------------------------------------------------


def option_up(option: v1.SessionConfigOption) -> Any:
    match option:
        case v1.SelectConfigOption():
            return renamed(option, v2.SelectConfigOption, "id", "config_id", options=_values(option, _group_up))
        case v1.BooleanConfigOption():
            return renamed(option, v2.BooleanConfigOption, "id", "config_id")
        case Unknown():
            return raw_renamed(option, "id", "configId")


def _group_up(group: v1.SessionConfigSelectGroup) -> v2.SessionConfigSelectGroup:
    return v2.SessionConfigSelectGroup(group_id=group.group, name=group.name, options=group.options, meta=group.meta)


def settings_up(session: SessionMemory, answer: Any, raw: Any) -> Any:
    """The options of an answer that opens a session; `raw` is its JSON, for the models of older agents."""
    options = answer.config_options
    made = [option_up(option) for option in options] if isinstance(options, list) else []
    if isinstance(answer.modes, v1.SessionModeState) and mode_option_of(made) is None:
        made.insert(0, _option_of_modes(session, answer.modes, made))
    models = raw.get("models") if isinstance(raw, dict) else None
    if isinstance(models, dict) and _of_category(made, MODEL) is None:
        made += _option_of_models(session, models, made)
    if not made and not isinstance(options, list):
        return UNSET
    session.options = made
    return made


def _option_of_modes(session: SessionMemory, modes: v1.SessionModeState, others: list[Any]) -> v2.SelectConfigOption:
    session.mode_option = _free_id("mode", others)
    return v2.SelectConfigOption(
        config_id=session.mode_option,
        name="Mode",
        category=MODE,
        current_value=modes.current_mode_id,
        options=[
            SessionConfigSelectOption(value=mode.id, name=mode.name, description=mode.description, meta=mode.meta)
            for mode in modes.available_modes
        ],
        meta=modes.meta,
    )


def _option_of_models(session: SessionMemory, models: dict[str, Any], others: list[Any]) -> list[v2.SelectConfigOption]:
    """An option out of `models`, which older agents send beside the specification; none if it is not of that shape."""
    values = [
        SessionConfigSelectOption(
            value=model["modelId"],
            name=model["name"],
            description=words if isinstance(words := model.get("description"), str) else UNSET,
        )
        for model in models.get("availableModels") or ()
        if isinstance(model, dict) and isinstance(model.get("modelId"), str) and isinstance(model.get("name"), str)
    ]
    current = models.get("currentModelId")
    if not values or not isinstance(current, str):
        return []
    session.model_option = _free_id("model", others)
    made = v2.SelectConfigOption(
        config_id=session.model_option, name="Model", category=MODEL, current_value=current, options=values
    )
    return [made]


def _free_id(wanted: str, options: list[Any]) -> str:
    taken = {getattr(option, "config_id", None) for option in options}
    while wanted in taken:
        wanted += "_"
    return wanted


def options_update_up(session: SessionMemory, note: SessionNotification) -> UpdateSessionNotification:
    update: Any = note.update
    change = ConfigUpdateV2(config_options=take_up(session, update.config_options), meta=update.meta)
    return UpdateSessionNotification(session_id=note.session_id, update=change, meta=note.meta)


def take_up(session: SessionMemory, options: Iterable[v1.SessionConfigOption]) -> list[Any]:
    """All options after v1 sent its own: those that were made here stay."""
    made = [option for option in session.options or () if _made_here(session, option)]
    session.options = [*made, *map(option_up, options)]
    return session.options


def _made_here(session: SessionMemory, option: Any) -> bool:
    names = (session.mode_option, session.model_option)
    return isinstance(option, v2.SelectConfigOption) and option.config_id in names


def mode_update_up(session: SessionMemory, note: SessionNotification) -> Any:
    """A new mode as new options; nothing if the options say so already."""
    update: Any = note.update
    option = mode_option_of(session.options)
    if option is None or option.current_value == update.current_mode_id:
        return ()
    options = set_value(session, option.config_id, update.current_mode_id)
    return up([note_up(note.session_id, ConfigUpdateV2(config_options=options, meta=update.meta))])


def set_value(session: SessionMemory, config_id: str, value: str) -> list[Any]:
    """All options after one of them got a value."""
    session.options = [
        msgspec.structs.replace(option, current_value=value)
        if isinstance(option, v2.SelectConfigOption) and option.config_id == config_id
        else option
        for option in session.options or ()
    ]
    return session.options


# --- Both ------------------------------------------------------------------------------------------------------------


def _values(option: Any, change: Callable[[Any], Any]) -> list[Any]:
    flat = SessionConfigSelectOption
    return [entry if isinstance(entry, flat) else change(entry) for entry in option.options]
