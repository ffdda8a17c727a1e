"""Setting a mode, a model or an option: three requests in v1, one in v2."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.config import mode_notes, mode_option_of, options_down, set_value, take_up
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, SessionMemory
from duologue.protocol.changes.notes import note_down
from duologue.protocol.changes.steps import Answer, Ask, Notify, Steps, Unspeakable
from duologue.protocol.common.errors import ErrorCode, session_not_found, shortened
from duologue.protocol.method import AGENT, Request
from duologue.protocol.v1 import config as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v1.updates import ConfigOptionUpdateEvent, CurrentModeUpdateEvent
from duologue.protocol.v2 import config as v2
from duologue.protocol.v2 import table as v2_table

#: How agents from before config options change their model.
SESSION_SET_MODEL: Request[Any, Any] = Request.untyped("session/set_model", AGENT)


# --- v2 client, v1 agent ---------------------------------------------------------------------------------------------


def set_option_down(memory: ConnectionMemory, request: v2.SetSessionConfigOptionRequest, key: Hashable) -> Steps:
    if isinstance(request, Unknown):
        message = f"protocol version 1 has no config option of type {request.raw.get('type')!r}"
        raise Unspeakable(ErrorCode.INVALID_PARAMS, message)
    session = memory.session(request.session_id)
    if isinstance(request, v2.SetIdConfigOption) and request.config_id in (session.mode_option, session.model_option):
        return _set_made_here(memory, session, request, key)
    memory.outbound[key] = OpenRequest(
        lambda result: (Answer(key, _options_answer(take_up(session, result.config_options), result.meta)),)
    )
    made = v1.SetSessionConfigOptionRequest(
        session_id=request.session_id,
        config_id=request.config_id,
        value=request.value,
        type="boolean" if isinstance(request, v2.SetBooleanConfigOption) else UNSET,
        meta=request.meta,
    )
    return (Ask(v1_table.SESSION_SET_CONFIG_OPTION, made),)


def _set_made_here(
    memory: ConnectionMemory, session: SessionMemory, request: v2.SetIdConfigOption, key: Hashable
) -> Steps:
    """Set an option that was made out of v1's modes or of an older agent's models."""
    memory.outbound[key] = OpenRequest(
        lambda result: (Answer(key, _options_answer(set_value(session, request.config_id, request.value), UNSET)),)
    )
    if request.config_id == session.model_option:
        return (Ask(SESSION_SET_MODEL, {"sessionId": request.session_id, "modelId": request.value}),)
    made = v1.SetSessionModeRequest(session_id=request.session_id, mode_id=request.value, meta=request.meta)
    return (Ask(v1_table.SESSION_SET_MODE, made),)


def _options_answer(options: list[Any], meta: Any) -> v2.SetSessionConfigOptionResponse:
    return v2.SetSessionConfigOptionResponse(config_options=options, meta=meta)


# --- v1 client, v2 agent ---------------------------------------------------------------------------------------------


def set_option_up(memory: ConnectionMemory, request: v1.SetSessionConfigOptionRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)

    def answer(result: v2.SetSessionConfigOptionResponse) -> Steps:
        told = [Notify(v1_table.SESSION_UPDATE, note) for note in mode_notes(session, result.config_options)]
        options = options_down(session, result.config_options)
        return (*told, Answer(key, v1.SetSessionConfigOptionResponse(config_options=options, meta=result.meta)))

    memory.inbound[key] = OpenRequest(answer)
    made: type[Any] = v2.SetBooleanConfigOption if isinstance(request.value, bool) else v2.SetIdConfigOption
    change = made(session_id=request.session_id, config_id=request.config_id, value=request.value, meta=request.meta)
    return (Ask(v2_table.SESSION_SET_CONFIG_OPTION, change),)


def set_mode_up(memory: ConnectionMemory, request: v1.SetSessionModeRequest, key: Hashable) -> Steps:
    session = memory.sessions.get(request.session_id)
    if session is None or not session.opened:
        raise Unspeakable(*session_not_found(request.session_id))
    option = mode_option_of(session.options)
    if option is None or request.mode_id not in [offered.value for offered in v2.offered_values(option)]:
        raise Unspeakable(ErrorCode.INVALID_PARAMS, f"the session has no mode {shortened(request.mode_id)!r}")
    memory.inbound[key] = OpenRequest(partial(_mode_set, session, request.mode_id, key))
    change = v2.SetIdConfigOption(
        session_id=request.session_id, config_id=option.config_id, value=request.mode_id, meta=request.meta
    )
    return (Ask(v2_table.SESSION_SET_CONFIG_OPTION, change),)


def _mode_set(session: SessionMemory, mode_id: str, key: Hashable, result: v2.SetSessionConfigOptionResponse) -> Steps:
    """Tell v1 of the options, which its answer has no room for, and of the mode if it is not the one asked for.

    The mode comes behind the answer, at which a client takes it that its wish was granted.
    """
    options, mode = result.config_options, mode_option_of(result.config_options)
    news = options != session.options
    session.options = list(options)
    told = [ConfigOptionUpdateEvent(config_options=options_down(session, options))] if news else []
    other = (
        []
        if mode is None or mode.current_value == mode_id
        else [CurrentModeUpdateEvent(current_mode_id=mode.current_value)]
    )
    return (
        *(_told(session, update) for update in told),
        Answer(key, v1.SetSessionModeResponse(meta=result.meta)),
        *(_told(session, update) for update in other),
    )


def _told(session: SessionMemory, update: Any) -> Notify:
    return Notify(v1_table.SESSION_UPDATE, note_down(session.session_id, update))
