"""Turns: one request from prompt to stop reason in v1; a prompt that is accepted and a stream of states in v2.

Down, v1's response waits for the idle state that ends the turn; its user message is not sent back. Up, the prompt is
accepted at the first sign that the agent works on it, and an error before that is an error of the prompt; at the end
comes the idle state. A failed turn is idle with the stop reason `_error` and the error under `_meta`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from msgspec import UNSET

from duologue.protocol.changes.content import blocks_down, blocks_up
from duologue.protocol.changes.memory import ConnectionMemory, OpenPrompt, OpenRequest, SessionMemory
from duologue.protocol.changes.notes import note_up
from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse, Step, Steps
from duologue.protocol.changes.tools import catch_up
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.failed_turns import ERROR_STOP, error_meta, error_of
from duologue.protocol.method import Request
from duologue.protocol.v1 import prompt as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import prompt as v2
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import StateUpdateEvent, UpdateSessionNotification, UserMessageEvent

# --- v1 client, v2 agent ---------------------------------------------------------------------------------------------


def prompt_up(memory: ConnectionMemory, request: v1.PromptRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)
    prompt = OpenPrompt(key, behind=session.at_work)
    session.prompts.append(prompt)

    def accept(result: v2.PromptResponse) -> Steps:
        prompt.accepted, prompt.meta = True, result.meta
        return ()

    def refuse(error: Refuse) -> Steps:
        if prompt not in session.prompts:
            return ()
        session.prompts.remove(prompt)
        return (error,)

    memory.inbound[key] = OpenRequest(accept, refuse)
    blocks = blocks_up(request.prompt)
    return (
        Ask(v2_table.SESSION_PROMPT, v2.PromptRequest(session_id=request.session_id, prompt=blocks, meta=request.meta)),
    )


def state_down(session: SessionMemory, note: UpdateSessionNotification) -> Steps:
    """A state: v1 hears only of the end of a turn, as the response of its prompt, behind all that belongs to it."""
    state: Any = note.update
    if note_work(session, state):
        return ()
    late = [Notify(v1_table.SESSION_UPDATE, update) for update in catch_up(session)]
    return [*late, *(_end_down(session, prompt, state) for prompt in _ended(session, state))]


def note_work(session: SessionMemory, state: StateUpdateEvent) -> bool:
    """Note by a state that the agent told whether it works; the same."""
    session.at_work = state.state is not SessionState.IDLE
    return session.at_work


def _ended(session: SessionMemory, state: StateUpdateEvent) -> list[OpenPrompt]:
    """The prompts that an idle state ends: all whose user message was seen.

    Of an agent that owes the user message, the oldest accepted prompt that did not come behind the work which ends
    now. Without a stop reason the state tells of no end, unless a turn has begun.
    """
    begun = [prompt for prompt in session.prompts if prompt.message_id is not None]
    if not begun and isinstance(state.stop_reason, StopReason):
        begun = [prompt for prompt in session.prompts if prompt.accepted and not prompt.behind][:1]
    for prompt in session.prompts:
        prompt.behind = False
    return begun


def _end_down(session: SessionMemory, prompt: OpenPrompt, state: StateUpdateEvent) -> Step:
    session.prompts.remove(prompt)
    reason = state.stop_reason if isinstance(state.stop_reason, StopReason) else StopReason.END_TURN
    if reason == ERROR_STOP:
        code, message, data = error_of(state.meta) or (ErrorCode.INTERNAL_ERROR, "The turn failed", UNSET)
        return Refuse(prompt.key, code, message, data)
    reason = reason if reason.known else StopReason.END_TURN
    meta = {**(prompt.meta or {}), **(state.meta or {})} or UNSET
    return Answer(prompt.key, v1.PromptResponse(stop_reason=reason, usage=state.usage, meta=meta))


def end_cancelled(session: SessionMemory, prompts: Sequence[OpenPrompt]) -> list[Step]:
    """End prompts of a session that is gone, those that are still open."""
    ended = [prompt for prompt in prompts if prompt in session.prompts]
    session.prompts = [prompt for prompt in session.prompts if prompt not in ended]
    return [Answer(prompt.key, v1.PromptResponse(stop_reason=StopReason.CANCELLED)) for prompt in ended]


# --- v2 client, v1 agent ---------------------------------------------------------------------------------------------


def prompt_down(memory: ConnectionMemory, request: v2.PromptRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)
    prompt = OpenPrompt(key, list(request.prompt))
    session.prompts.append(prompt)
    _watch(session)
    memory.outbound[key] = OpenRequest(
        lambda result: _end_up(session, prompt, result),
        lambda error: _fail_up(session, prompt, error),
        lambda: _leave(session, prompt),
    )
    blocks = blocks_down(request.prompt)
    return (
        Ask(v1_table.SESSION_PROMPT, v1.PromptRequest(session_id=request.session_id, prompt=blocks, meta=request.meta)),
    )


def accept_oldest(session: SessionMemory) -> list[Step]:
    """The agent has begun to work: accept the prompt it works on, unless that is done."""
    if not session.unaccepted:
        return []
    steps = _accept(session, session.prompts[0])
    _watch(session)
    return steps


def _accept(session: SessionMemory, prompt: OpenPrompt) -> list[Step]:
    running = any(other.accepted for other in session.prompts)
    prompt.accepted, prompt.message_id = True, session.make_id()
    session.end_message()
    message = UserMessageEvent(message_id=prompt.message_id, content=prompt.content)
    steps: list[Step] = [Answer(prompt.key, v2.PromptResponse()), _update(session, message)]
    return steps if running else [*steps, state_up(session, SessionState.RUNNING)]


def _end_up(session: SessionMemory, prompt: OpenPrompt, result: v1.PromptResponse) -> Steps:
    idle = StateUpdateEvent(
        state=SessionState.IDLE, stop_reason=result.stop_reason, usage=result.usage, meta=result.meta
    )
    return _idle(session, prompt, idle)


def _fail_up(session: SessionMemory, prompt: OpenPrompt, error: Refuse) -> Steps:
    withdrawn = error.code == ErrorCode.REQUEST_CANCELLED and (prompt.accepted or prompt.cancelled)
    if not prompt.accepted and not withdrawn:
        _leave(session, prompt)
        return (error,)
    meta: Any = UNSET if withdrawn else error_meta(error.code, error.message, error.data)
    reason = StopReason.CANCELLED if withdrawn else StopReason(ERROR_STOP)
    return _idle(session, prompt, StateUpdateEvent(state=SessionState.IDLE, stop_reason=reason, meta=meta))


def _idle(session: SessionMemory, prompt: OpenPrompt, idle: StateUpdateEvent) -> Steps:
    """End a prompt; the session is idle unless another prompt of it is at work."""
    steps = [] if prompt.accepted else _accept(session, prompt)
    _leave(session, prompt)
    if any(other.accepted for other in session.prompts):
        return steps
    session.waiting = 0
    return [*steps, _update(session, idle)]


def _leave(session: SessionMemory, prompt: OpenPrompt) -> None:
    if prompt in session.prompts:
        session.prompts.remove(prompt)
    session.end_message()
    _watch(session)


def _watch(session: SessionMemory) -> None:
    session.unaccepted = bool(session.prompts) and not session.prompts[0].accepted
    if session.unaccepted:
        session.end_message()


def cancel_down(memory: ConnectionMemory, note: v2.CancelSessionNotification) -> Steps:
    """Every prompt that is open now is to end."""
    for prompt in memory.session(note.session_id).prompts:
        prompt.cancelled = True
    return (Notify(v1_table.SESSION_CANCEL, v1.CancelNotification(session_id=note.session_id, meta=note.meta)),)


def cancel_up(memory: ConnectionMemory, note: v1.CancelNotification) -> Steps:
    made = v2.CancelSessionNotification(session_id=note.session_id, meta=note.meta)
    return (Notify(v2_table.SESSION_CANCEL, made),)


def ask_user(session: SessionMemory) -> list[Step]:
    """The agent asks the user something: its prompt is accepted, and the session waits."""
    steps = accept_oldest(session)
    if not session.prompts:
        return steps
    session.waiting += 1
    return [*steps, state_up(session, SessionState.REQUIRES_ACTION)] if session.waiting == 1 else steps


def user_answered(session: SessionMemory) -> list[Step]:
    """The user has answered: the turn goes on when nothing else is asked."""
    if not session.waiting:
        return []
    session.waiting -= 1
    return [] if session.waiting else [state_up(session, SessionState.RUNNING)]


def state_up(session: SessionMemory, state: SessionState) -> Notify:
    return _update(session, StateUpdateEvent(state=state))


def _update(session: SessionMemory, update: Any) -> Notify:
    return Notify(v2_table.SESSION_UPDATE, note_up(session.session_id, update))


def work_up(method: Request[Any, Any]) -> Callable[[ConnectionMemory, Any, Hashable], Steps]:
    """A request that only v1 has: the same for code that speaks v2, and a sign of work on the prompt."""

    def change(memory: ConnectionMemory, request: Any, key: Hashable) -> Steps:
        return (*accept_oldest(memory.session(request.session_id)), Ask(method, request))

    return change
