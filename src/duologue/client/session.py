"""A session as the client holds it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from duologue.client.grants import Grants
from duologue.client.turn import PromptTurn
from duologue.local.workspace import Workspace
from duologue.peer import ConnectionClosed
from duologue.protocol.common.config import SessionConfigOptionCategory
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.session import CloseSessionRequest
from duologue.protocol.v2.config import (
    SelectConfigOption,
    SessionConfigOption,
    SetBooleanConfigOption,
    SetIdConfigOption,
    SetSessionConfigOptionResponse,
    offered_values,
)
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.prompt import CancelSessionNotification
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.table import SESSION_CANCEL, SESSION_CLOSE, SESSION_SET_CONFIG_OPTION
from duologue.protocol.v2.tools import ToolCallStatus, ToolCallUpdate
from duologue.protocol.v2.updates import (
    ConfigOptionUpdateEvent,
    SessionUpdate,
    StateUpdateEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session import ToolCallState, Transcript
from duologue.transports.base import Closed

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.terminal import Terminal

T = TypeVar("T")

log = logging.getLogger("duologue.client")


#: Tool calls of one session that requests may tell of before any update does.
FORETOLD = 256

_USER_MESSAGES = (UserMessageEvent, UserMessageChunk)


class Session:
    """One conversation with an agent. `transcript` is live: it holds all that was read of it.

    `cwd` and `additional_directories` are those it was last opened with. `transcript` is another one after a replay.
    """

    def __init__(
        self,
        connection: ClientConnection,
        session_id: str,
        cwd: Path,
        additional_directories: Sequence[Path] = (),
    ) -> None:
        self.connection = connection
        self.id = session_id
        #: Terminals that the client runs for the agent, and what it was allowed to do and has not done yet.
        self.terminals: dict[str, Terminal] = {}
        self.grants = Grants()
        # What permission requests told of tool calls that no update has named yet.
        self._foretold: dict[str, ToolCallUpdate] = {}
        self._workspace: Workspace | None
        self._move(cwd, additional_directories)
        self.transcript = self.connection.client.transcript()
        self._replaying = False
        self._waiting: deque[PromptTurn] = deque()
        self._active: list[PromptTurn] = []
        # Turns that are sent when those before them have ended.
        self._held: deque[PromptTurn] = deque()
        self._user_message: str | None = None
        # Open questions, in the order they were asked.
        self._questions: dict[asyncio.Task[object], None] = {}
        # Called with every update; None when the client does not care.
        self._listener = connection._listener
        self._current: PromptTurn | None = None

    @property
    def workspace(self) -> Workspace:
        """The folders of the session as places on this machine. Raises `ValueError` when they are not there."""
        if self._workspace is None:
            self._workspace = Workspace([self.cwd, *self.additional_directories])
        return self._workspace

    @property
    def config_options(self) -> Sequence[SessionConfigOption]:
        """The config options with their present values, as the agent last told them."""
        return self.transcript.config_options

    # --- what the client does ---------------------------------------------------------------------------------------

    def prompt(
        self, prompt: str | Sequence[ContentBlock], *, while_running: Literal["queue", "steer"] = "queue"
    ) -> PromptTurn:
        """A turn for a prompt; iterate it: ``async for event in session.prompt("...")``.

        While another turn runs, "queue" lets the agent work on the prompt afterwards: one of version 2 gets it at once,
        one of version 1 when the other turn has ended, since some refuse a prompt while they are at work. "steer"
        cancels the running turn and what is queued behind it, and sends the prompt when they have ended.
        """
        blocks = [TextBlock(text=prompt)] if isinstance(prompt, str) else prompt
        return PromptTurn(self, blocks, while_running)

    async def cancel(self) -> None:
        """Cancel the running turn and what is queued behind it."""
        self._drop_held()
        if any(not turn._cancel_sent for turn in (*self._active, *self._waiting)):
            self._send_cancel()

    async def _stop_all(self) -> None:
        """Cancel what runs and what is queued, and wait for its end."""
        open_turns = [*self._active, *self._waiting, *self._held]
        await self.cancel()
        for turn in open_turns:
            await turn.over.wait()

    async def set_config_option(self, config_id: str, value: str | bool) -> Sequence[SessionConfigOption]:
        """Change a config option; all options as they are then. Raises `NotOffered`, `RpcError`."""
        self.connection.need(SESSION_SET_CONFIG_OPTION)
        request: SetBooleanConfigOption | SetIdConfigOption
        if isinstance(value, bool):
            request = SetBooleanConfigOption(session_id=self.id, config_id=config_id, value=value)
        else:
            request = SetIdConfigOption(session_id=self.id, config_id=config_id, value=value)

        def applied(response: SetSessionConfigOptionResponse) -> None:
            self._take_options(response.config_options)

        await self.connection.peer.request(SESSION_SET_CONFIG_OPTION, request, applied=applied)
        return self.config_options

    async def set_mode(self, mode: str) -> None:
        """Change the option of category `mode`. Raises `ValueError` when the agent has no such mode, `RpcError`."""
        for option in self.config_options:
            if isinstance(option, SelectConfigOption) and option.category == SessionConfigOptionCategory.MODE:
                offered = [value.value for value in offered_values(option)]
                if mode not in offered:
                    raise ValueError(f"this agent has no mode {mode!r}; it has {', '.join(offered)}")
                await self.set_config_option(option.config_id, mode)
                return
        raise ValueError("this agent offers no modes")

    async def fork(self) -> Session:
        """Begin a session with a copy of this one's conversation, in its folders. Raises `NotOffered`, `RpcError`."""
        folders = self.additional_directories
        return await self.connection.fork_session(self.id, self.cwd, additional_directories=folders)

    async def close(self) -> None:
        """Close the session on the agent; turns that are open end as cancelled, and so do its terminals.

        An agent that cannot close a session is told to cancel its work. Raises `RpcError`.
        """
        await self.connection.peer.request(SESSION_CLOSE, CloseSessionRequest(session_id=self.id))
        if self.connection.sessions.get(self.id) is self:
            del self.connection.sessions[self.id]
        await self._over()

    def _told_by_request(self, call: ToolCallUpdate) -> None:
        """What a request tells of a tool call counts like an update of it, once an update has named the call: an agent
        of version 1 may name one for the request alone."""
        if call.tool_call_id in self.transcript.tool_calls:
            self.transcript.apply(ToolCallUpdateEvent(**asdict(call)))
        elif len(self._foretold) < FORETOLD:
            self._foretold[call.tool_call_id] = call

    # --- cancelling -------------------------------------------------------------------------------------------------

    def _send_cancel(self) -> None:
        """Send one `session/cancel`, answer the open permission requests with `cancelled`, and show what the turns
        have not finished as cancelled."""
        self._drop_held()
        for turn in (*self._active, *self._waiting):
            turn._note_cancel()
        self.connection.peer.notify(SESSION_CANCEL, CancelSessionNotification(session_id=self.id))
        for question in list(self._questions):
            question.cancel()
        self._cancel_calls()

    def _cancel_calls(self) -> None:
        """Mark the unfinished tool calls of the running turns; what the agent still tells of them counts."""
        if not self._active:
            return
        first = min(turn._first_entry(self.transcript) for turn in self._active)
        for entry in self.transcript.entries[max(0, first - self.transcript.let_go) :]:
            if isinstance(entry, ToolCallState) and not entry.ended:
                self._receive(ToolCallUpdateEvent(tool_call_id=entry.id, status=ToolCallStatus.CANCELLED))

    @property
    def _cancelling(self) -> bool:
        """Whether the work that the agent does now was cancelled and has not ended: it gets no more answers."""
        now = self._active or list(self._waiting)[:1]
        return bool(now) and all(turn._cancel_sent for turn in now)

    async def _ask(self, answering: Coroutine[Any, Any, T], cancelled: T) -> T:
        """Await an answer of the user; `cancelled` in its place once the turn is cancelled or it is withdrawn."""
        question = asyncio.get_running_loop().create_task(answering, name="question")
        self._questions[question] = None
        try:
            return await question
        except asyncio.CancelledError:
            question.cancel()
            return cancelled
        finally:
            del self._questions[question]

    # --- what is opened anew ----------------------------------------------------------------------------------------

    def _move(self, cwd: Path, additional_directories: Sequence[Path]) -> None:
        """The session was opened in these folders."""
        self.cwd = cwd
        self.additional_directories = tuple(additional_directories)
        self._workspace = None

    def _begin_replay(self) -> None:
        """The history is about to come, from its start. The state is no part of it."""
        self._replaying = True
        state = self.transcript.state
        self.transcript = self.connection.client.transcript()
        self.transcript.state = state

    def _end_replay(self, transcript: Transcript) -> None:
        self._replaying = False
        self.transcript = transcript

    def _take_options(self, options: Sequence[SessionConfigOption] | UnsetType | None) -> None:
        """An answer tells the options, unless it leaves them out."""
        if options is not UNSET and options is not None:
            self.transcript.apply(ConfigOptionUpdateEvent(config_options=list(options)))

    # --- what comes in ----------------------------------------------------------------------------------------------

    def _receive(self, update: SessionUpdate) -> None:
        """Apply an update: to the transcript first, then to the turn that it belongs to."""
        if self._foretold and isinstance(update, ToolCallUpdateEvent):
            foretold = self._foretold.pop(update.tool_call_id, None)
            if foretold is not None:
                self._receive(ToolCallUpdateEvent(**asdict(foretold)))
        self.transcript.apply(update)
        if self._listener is not None:
            try:
                self._listener(self, update)
            except Exception:
                # It must cost neither the connection nor the updates behind this one.
                log.exception("on_update of the client failed")
        if not self._replaying:
            if isinstance(update, _USER_MESSAGES):
                self._begin(update.message_id)
            turn = self._current
            if turn is not None:
                turn._put(update)
        if isinstance(update, StateUpdateEvent):
            self._state(update)

    def _begin(self, message_id: str) -> None:
        """The n-th prompt owns the n-th new live user message."""
        if message_id == self._user_message:
            return
        self._user_message = message_id
        if self._waiting:
            turn = self._waiting.popleft()
            turn._begun_in, turn._begun_at = self.transcript, self.transcript.let_go + len(self.transcript.entries)
            self._active.append(turn)
            self._point()

    def _state(self, update: StateUpdateEvent) -> None:
        if update.state is not SessionState.IDLE:
            return
        if not self._active and self._waiting:
            self._idle_without_message(self._waiting[0], update)
        for turn in list(self._active):
            turn._end(update)
        # What was allowed for the work that is over is not allowed for other work.
        self.grants.clear()
        self._foretold.clear()

    def _works_for_itself(self, turn: PromptTurn) -> bool:
        """Whether the agent is at work that no prompt before `turn` asked for."""
        alone = not self._active and bool(self._waiting) and self._waiting[0] is turn
        return alone and self.transcript.state is not SessionState.IDLE

    def _idle_without_message(self, turn: PromptTurn, update: StateUpdateEvent) -> None:
        """The session is idle before the user message of a prompt was told: the agent does not tell it, and the turn
        is over, unless the idle ends work that was going on when the prompt was accepted."""
        if turn._behind_other_work:
            turn._behind_other_work = False
        elif turn.accepted and update.stop_reason:
            self._active.append(self._waiting.popleft())

    def _send_or_hold(self, turn: PromptTurn) -> None:
        """A turn begins: now, or after those before it where the agent might take one prompt at a time."""
        busy = self._active or self._waiting or self._held
        if busy and self.connection.peer.said_in_v1 is not None:
            self._held.append(turn)
        else:
            self._send(turn)

    def _send(self, turn: PromptTurn) -> None:
        self._waiting.append(turn)
        self._point()
        turn._start()

    def _drop_held(self) -> None:
        """What was not sent yet will not be."""
        held, self._held = list(self._held), deque()
        for turn in held:
            turn._drop()

    def _leave(self, turn: PromptTurn) -> None:
        """A turn has ended."""
        if turn in self._active:
            self._active.remove(turn)
        elif turn in self._waiting:
            self._waiting.remove(turn)
        elif turn in self._held:
            self._held.remove(turn)
        self._point()
        if self._held and not self._active and not self._waiting:
            self._send(self._held.popleft())

    def _point(self) -> None:
        if self._active:
            self._current = self._active[-1]
        else:
            self._current = self._waiting[0] if self._waiting else None

    async def _over(self) -> None:
        """The session is closed: open turns end as cancelled, and what runs for them ends."""
        self._drop_held()
        for turn in (*self._active, *self._waiting):
            turn._drop()
        await self._end_terminals()

    def _closed(self, reason: Closed) -> asyncio.Future[Any]:
        """The connection is closed: open turns end with it. Done when what ran for them has ended."""
        held, self._held = list(self._held), deque()
        for turn in (*self._active, *self._waiting, *held):
            turn._finish(ConnectionClosed(reason))
        return asyncio.get_running_loop().create_task(self._end_terminals())

    async def _end_terminals(self) -> None:
        terminals, self.terminals = list(self.terminals.values()), {}
        await asyncio.gather(*(terminal.kill() for terminal in terminals))
