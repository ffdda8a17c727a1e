"""A session as the client holds it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from duologue.client.grants import Grants
from duologue.client.prompts import Prompts
from duologue.client.questions import Questions
from duologue.client.turn import PromptTurn
from duologue.local.arguments import several
from duologue.local.workspace import Workspace
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
    AgentMessageChunk,
    ConfigOptionUpdateEvent,
    SessionUpdate,
    StateUpdateEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session import ToolCallState, Transcript
from duologue.session.blocks import sent_block
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
        self.move(cwd, additional_directories)
        self.transcript = self._new_transcript()
        self._replaying = False
        #: Its turns, and the questions of the agent that are open.
        self.prompts = Prompts(self)
        self.questions = Questions()
        # Called with every update; None when the client does not care.
        self._listener = connection.listener

    @property
    def workspace(self) -> Workspace:
        """The folders of the session as places on this machine. Raises `ValueError` when they are not there."""
        if self._workspace is None:
            self._workspace = Workspace([self.cwd, *self.additional_directories])
        return self._workspace

    @property
    def is_open(self) -> bool:
        """Whether it is what the agent means by its id: it was not closed, and the id not given to another one."""
        return self.connection.sessions.get(self.id) is self

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
        cancels the running turn and what is queued behind it, and sends the prompt when they have ended. Raises
        `TypeError`, `CodecError` and `ValueError` for a block that must not leave.
        """
        if while_running not in ("queue", "steer"):
            raise ValueError(f"while_running is 'queue' or 'steer', not {while_running!r}")
        blocks = [TextBlock(text=prompt)] if isinstance(prompt, str) else _sent_blocks(prompt)
        return PromptTurn(self, blocks, while_running)

    async def cancel(self) -> None:
        """Cancel the running turn and what is queued behind it."""
        self.prompts.drop_held()
        if any(not turn.cancel_sent for turn in self.prompts.sent()):
            self.send_cancel()

    async def stop_all(self) -> None:
        """Cancel what runs and what is queued, and wait for its end."""
        open_turns = self.prompts.open()
        await self.cancel()
        for turn in open_turns:
            await turn.wait_ended()

    async def set_config_option(self, config_id: str, value: str | bool) -> Sequence[SessionConfigOption]:
        """Change a config option; all options as they are then. Raises `NotOffered`, `RpcError`."""
        self.connection.need(SESSION_SET_CONFIG_OPTION)
        request: SetBooleanConfigOption | SetIdConfigOption
        if isinstance(value, bool):
            request = SetBooleanConfigOption(session_id=self.id, config_id=config_id, value=value)
        else:
            request = SetIdConfigOption(session_id=self.id, config_id=config_id, value=value)

        def applied(response: SetSessionConfigOptionResponse) -> None:
            self.take_options(response.config_options)

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
        """Close the session on the agent; turns and questions that are open end as cancelled, and so do its terminals.

        An agent that cannot close a session is told to cancel its work. Raises `RpcError`.
        """
        await self.connection.peer.request(SESSION_CLOSE, CloseSessionRequest(session_id=self.id))
        if self.connection.sessions.get(self.id) is self:
            del self.connection.sessions[self.id]
        await self.end()

    def told_by_request(self, call: ToolCallUpdate) -> None:
        """What a request tells of a tool call counts like an update of it, once an update has named the call: an agent
        of version 1 may name one for the request alone."""
        if call.tool_call_id in self.transcript.tool_calls:
            self.transcript.apply(ToolCallUpdateEvent(**asdict(call)))
        elif len(self._foretold) < FORETOLD:
            self._foretold[call.tool_call_id] = call

    # --- cancelling -------------------------------------------------------------------------------------------------

    def send_cancel(self) -> None:
        """Send one `session/cancel`, answer the open permission requests with `cancelled`, and show what the turns
        have not finished as cancelled."""
        self.prompts.drop_held()
        for turn in self.prompts.sent():
            turn.cancel_sent = True
        self.connection.peer.notify(SESSION_CANCEL, CancelSessionNotification(session_id=self.id))
        self.questions.cancel()
        self._cancel_calls()

    def _cancel_calls(self) -> None:
        """Mark the unfinished tool calls of the running turns; what the agent still tells of them counts."""
        if not self.prompts.active:
            return
        first = min(turn.first_entry(self.transcript) for turn in self.prompts.active)
        for entry in self.transcript.entries[max(0, first - self.transcript.let_go) :]:
            if isinstance(entry, ToolCallState) and not entry.ended:
                self.receive(ToolCallUpdateEvent(tool_call_id=entry.id, status=ToolCallStatus.CANCELLED))

    # --- what is opened anew ----------------------------------------------------------------------------------------

    def move(self, cwd: Path, additional_directories: Sequence[Path]) -> None:
        """The session was opened in these folders."""
        self.cwd = cwd
        self.additional_directories = tuple(additional_directories)
        self._workspace = None

    def begin_replay(self) -> None:
        """The history is about to come, from its start. The state is no part of it."""
        self._replaying = True
        state = self.transcript.state
        self.transcript = self._new_transcript()
        self.transcript.state = state

    def _new_transcript(self) -> Transcript:
        made = self.connection.client.transcript()
        if not isinstance(made, Transcript):
            raise TypeError(
                f"{type(self.connection.client).__name__}.transcript must return a Transcript, not {made!r:.60}"
            )
        return made

    def end_replay(self, transcript: Transcript) -> None:
        """The history has come, or could not: go on with this transcript."""
        self._replaying = False
        self.transcript = transcript

    def take_options(self, options: Sequence[SessionConfigOption] | UnsetType | None) -> None:
        """An answer tells the options, unless it leaves them out."""
        if options is not UNSET and options is not None:
            self.transcript.apply(ConfigOptionUpdateEvent(config_options=list(options)))

    # --- what comes in ----------------------------------------------------------------------------------------------

    def receive(self, update: SessionUpdate) -> None:
        """Apply an update: to the transcript first, then to the turn that it belongs to."""
        # By far the most frequent kind. For a struct, an `isinstance` that fails costs 20 times a look at its class.
        is_text = update.__class__ is AgentMessageChunk
        if self._foretold and isinstance(update, ToolCallUpdateEvent):
            foretold = self._foretold.pop(update.tool_call_id, None)
            if foretold is not None:
                self.receive(ToolCallUpdateEvent(**asdict(foretold)))
        self.transcript.apply(update)
        if self._listener is not None:
            try:
                self._listener(self, update)
            except Exception:
                # It must cost neither the connection nor the updates behind this one.
                log.exception("on_update of the client failed")
        if not self._replaying:
            if not is_text and isinstance(update, _USER_MESSAGES):
                self.prompts.begin(update.message_id)
            turn = self.prompts.current
            if turn is not None:
                turn.put(update)
        if not is_text and isinstance(update, StateUpdateEvent):
            self._state(update)

    def _state(self, update: StateUpdateEvent) -> None:
        if update.state is not SessionState.IDLE:
            return
        self.prompts.idle(update)
        # What was allowed for the work that is over is not allowed for other work.
        self.grants.clear()
        self._foretold.clear()

    def end(self) -> asyncio.Future[None]:
        """The session is over: open turns end as cancelled, and open questions too. Done when what ran for it has
        ended."""
        self.prompts.drop()
        # Nobody should be asked any more, and a late yes is none.
        self.questions.cancel()
        return asyncio.get_running_loop().create_task(self._end_terminals())

    def closed(self, reason: Closed) -> asyncio.Future[Any]:
        """The connection is closed: open turns end with it. Done when what ran for them has ended."""
        self.prompts.fail(reason)
        return asyncio.get_running_loop().create_task(self._end_terminals())

    async def _end_terminals(self) -> None:
        terminals, self.terminals = list(self.terminals.values()), {}
        await asyncio.gather(*(terminal.kill() for terminal in terminals))


def _sent_blocks(prompt: Sequence[ContentBlock]) -> list[ContentBlock]:
    return [sent_block(block) for block in several(prompt, "a prompt that is no text")]
