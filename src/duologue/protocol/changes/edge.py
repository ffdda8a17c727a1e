"""The edge: stands between code that speaks v2 and a wire that speaks v1.

It holds the memory of one connection and looks up, for each message, the function that changes it. The functions are
pure apart from that memory; a bridge between two wires uses the same ones.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import UNSET

from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, SessionMemory
from duologue.protocol.changes.messages import in_v1s_words, tell_on
from duologue.protocol.changes.notes import as_steps
from duologue.protocol.changes.prompt import accept_oldest, note_work
from duologue.protocol.changes.steps import (
    CHANGED,
    NOTHING,
    SAME,
    Answer,
    Ask,
    Fate,
    Notify,
    Refuse,
    Steps,
    Unspeakable,
)
from duologue.protocol.changes.table import (
    NOTIFICATIONS_DOWN,
    NOTIFICATIONS_UP,
    REQUESTS_DOWN,
    REQUESTS_UP,
    SIGNS_OF_WORK,
    UPDATES_DOWN,
    UPDATES_UP,
    RequestChange,
    UpdateChange,
)
from duologue.protocol.changes.tools import catch_up
from duologue.protocol.common.content import TextBlock
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1.updates import AgentMessageChunk, SessionNotification
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.updates import AgentMessageChunk as AgentMessageChunkV2
from duologue.protocol.v2.updates import StateUpdateEvent, UpdateSessionNotification


class Edge:
    """One connection whose local side speaks v2 and whose wire speaks v1; `side` is the local side.

    `..._out` takes what the local side says, `..._in` what came from the wire. Keys stand for requests and differ
    between all requests of the connection, whichever side asks. What `memory.client` or `memory.agent` says of the
    local side (what only v1 has words for) is to be set before `initialize`.
    """

    def __init__(self, side: Side, memory: ConnectionMemory | None = None) -> None:
        self.side = side
        self.memory = memory if memory is not None else ConnectionMemory()
        self._sessions = self.memory.sessions

    # --- local to wire ----------------------------------------------------------------------------------------------

    def notification_out(self, method: Notification[Any], params: Any) -> Steps:
        """A notification of the local side, in v1's words."""
        if method is v2.SESSION_UPDATE:
            return as_steps(v1.SESSION_UPDATE, self.update_out(params))
        change = NOTIFICATIONS_DOWN.get(method)
        return (Notify(method, params),) if change is None else change(self.memory, params)

    def request_out(self, method: Request[Any, Any], params: Any, key: Hashable) -> Steps:
        """A request of the local side, in v1's words; it may be answered at once."""
        return self._request(REQUESTS_DOWN[method], method, params, key)

    def result_out(self, key: Hashable, result: Any) -> Steps:
        """The local side's result for the wire's request `key`; nothing when v1's answer is not due yet."""
        opened = self.memory.inbound.pop(key, None)
        return (Answer(key, result),) if opened is None else opened.answer(result)

    def error_out(self, key: Hashable, code: int, message: str, data: Any = UNSET) -> Steps:
        """The local side's error for the wire's request `key`."""
        return _refused(self.memory.inbound.pop(key, None), Refuse(key, code, message, data))

    def update_out(self, note: UpdateSessionNotification) -> Any:
        """A session update: the object to encode as v1's params (the very same when its JSON is), or steps."""
        change = UPDATES_DOWN.get(note.update.__class__)
        if change is None:
            return note
        session = self._sessions.get(note.session_id)
        return change(session if session is not None else self.memory.session(note.session_id), note)

    def fate_out(self, session_id: str, update: Any) -> Fate:
        """What becomes of an update on its way out, if easily told; unless that is `CHANGED`, it counts as sent."""
        kind = update.__class__
        if kind is AgentMessageChunkV2:
            session = self._sessions.get(session_id)
            if session is not None and update.content.__class__ is TextBlock and tell_on(session, update):
                return SAME
        elif kind is StateUpdateEvent:
            session = self._sessions.get(session_id)
            if session is not None and note_work(session, update):
                return NOTHING
        return CHANGED

    # --- wire to local ----------------------------------------------------------------------------------------------

    def notification_in(self, method: Notification[Any], params: Any) -> Steps:
        """A notification of the wire, in v2's words."""
        if method is v1.SESSION_UPDATE:
            return as_steps(v2.SESSION_UPDATE, self.update_in(params))
        change = NOTIFICATIONS_UP.get(method)
        return (Notify(method, params),) if change is None else change(self.memory, params)

    def request_in(self, method: Request[Any, Any], params: Any, key: Hashable) -> Steps:
        """A request of the wire, in v2's words; it may be answered at once."""
        return self._request(REQUESTS_UP[method], method, params, key)

    def result_in(self, key: Hashable, result: Any, raw: Any = None) -> Steps:
        """The wire's result for the local request `key`. `raw`: its JSON, for members that no type holds."""
        opened = self.memory.outbound.pop(key, None)
        if opened is None:
            return (Answer(key, result),)
        return opened.answer(result, raw) if opened.takes_raw else opened.answer(result)

    def error_in(self, key: Hashable, code: int, message: str, data: Any = UNSET) -> Steps:
        """The wire's error for the local request `key`."""
        return _refused(self.memory.outbound.pop(key, None), Refuse(key, code, message, data))

    def update_in(self, note: Any) -> Any:
        """A session update of the wire (a v1 notification, or a `quick` one): v2's notification, or steps."""
        update: Any = note.update
        session = self._sessions.get(note.session_id)
        if update.__class__ is AgentMessageChunkV2:
            if (
                session is not None
                and session.chunk_type is AgentMessageChunk
                and update.message_id == session.message_id == session.chunk_id
                and update.content.__class__ is TextBlock
            ):
                return note
            note = in_v1s_words(note)
            update = note.update
        if session is None:
            session = self.memory.session(note.session_id)
        elif (  # The hot path: text that goes on with the agent's message. Nothing is to be watched for then.
            update.__class__ is AgentMessageChunk is session.chunk_type
            and update.message_id == session.chunk_id
            and update.content.__class__ is TextBlock
        ):
            chunk = AgentMessageChunkV2(message_id=session.message_id, content=update.content, meta=update.meta)
            return UpdateSessionNotification(session_id=note.session_id, update=chunk, meta=note.meta)
        change = UPDATES_UP.get(update.__class__)
        if session.unaccepted or session.muted:
            return self._watched(session, note, change)
        if change is None:
            return _same_up(note)
        return change(session, note)

    # --- life -------------------------------------------------------------------------------------------------------

    def behind(self) -> bool:
        """Whether growing content waits to be resent; `catch_up` does it, the end of its turn at the latest."""
        return bool(self.memory.behind)

    def catch_up(self) -> Steps:
        """Resend growing content that is due; for a timer that runs while `behind`."""
        due = self.memory.clock() - self.memory.bounds.resend_seconds
        late = [note for session in list(self.memory.behind.values()) for note in catch_up(session, due)]
        return tuple(Notify(v1.SESSION_UPDATE, note) for note in late)

    def forget(self, key: Hashable) -> None:
        """Nobody waits for the answer to `key` any more, and none will be passed on."""
        opened = self.memory.inbound.pop(key, None) or self.memory.outbound.pop(key, None)
        if opened is not None and opened.forget is not None:
            opened.forget()

    def close(self) -> None:
        """Free the memory; the connection is gone."""
        self.memory.close()

    def _request(self, change: RequestChange | None, method: Request[Any, Any], params: Any, key: Hashable) -> Steps:
        if change is None:
            return (Ask(method, params),)
        try:
            return change(self.memory, params, key)
        except Unspeakable as error:
            return (Refuse(key, error.code, error.message, error.data),)

    def _watched(self, session: SessionMemory, note: SessionNotification, change: UpdateChange | None) -> Steps:
        """An update that is not to be shown, or perhaps the first sign of work on a prompt."""
        if session.muted:
            return ()
        accepted = accept_oldest(session) if note.update.__class__ in SIGNS_OF_WORK else []
        made = _same_up(note) if change is None else change(session, note)
        return (*accepted, *as_steps(v2.SESSION_UPDATE, made))


def _same_up(note: SessionNotification) -> UpdateSessionNotification:
    """An update that is the same in both versions, or that neither knows."""
    update: Any = note.update
    return UpdateSessionNotification(session_id=note.session_id, update=update, meta=note.meta)


def _refused(opened: OpenRequest | None, error: Refuse) -> Steps:
    return (error,) if opened is None or opened.refuse is None else opened.refuse(error)
