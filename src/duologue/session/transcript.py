"""The transcript: everything a session's updates say, folded at constant cost per update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.updates import (
    PlanRemovedEvent,
    SessionInfoUpdateEvent,
    UsageUpdateEvent,
)
from duologue.protocol.v2.commands import AvailableCommand
from duologue.protocol.v2.config import SessionConfigOption
from duologue.protocol.v2.plan import PlanUpdateContent
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    AgentThoughtEvent,
    AvailableCommandsUpdateEvent,
    ConfigOptionUpdateEvent,
    PlanUpdateEvent,
    SessionUpdate,
    StateUpdateEvent,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session.entries import Message, Role, ToolCallState
from duologue.session.terminal import TerminalState

Entry = Message | ToolCallState | Unknown


class Transcript:
    """A conversation. `entries` holds messages, tool calls and unknown updates in the order they first appeared; the
    rest is the latest state of its kind. Nothing is copied when it is read: take what you need before the next update.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        #: Entries that stood before the first of these and are kept no more.
        self.let_go = 0
        self.tool_calls: dict[str, ToolCallState] = {}
        self.terminals: dict[str, TerminalState] = {}
        self.plans: dict[str, PlanUpdateContent] = {}
        self.commands: Sequence[AvailableCommand] = ()
        self.config_options: Sequence[SessionConfigOption] = ()
        self.usage: UsageUpdateEvent | None = None
        self.title: str | None = None
        self.updated_at: str | None = None
        self.state = SessionState.IDLE
        self.stop_reason: StopReason | None = None
        # By who speaks: agents are known to use one id for what they think and what they say.
        self._messages: dict[Role, dict[str, Message]] = {role: {} for role in Role}
        self._said = self._messages[Role.AGENT]

    @property
    def messages(self) -> list[Message]:
        """The messages alone, in order."""
        return [entry for entry in self.entries if entry.__class__ is Message]

    def apply(self, update: SessionUpdate) -> None:
        """Fold one update. An update of an unknown kind is kept as it is."""
        if update.__class__ is AgentMessageChunk:
            # By far the most frequent kind: spared the look-up.
            message = self._said.get(update.message_id)
            if message is None:
                message = self._message(Role.AGENT, update.message_id)
            message.add(update.content)
            return
        _FOLDS.get(update.__class__, Transcript._unknown)(self, update)

    def updates(self) -> Iterator[SessionUpdate]:
        """Updates that lead from an empty transcript to this one, but for the state of the session."""
        for terminal in self.terminals.values():
            yield from terminal.updates()
        for entry in self.entries:
            if isinstance(entry, Unknown):
                yield entry
            else:
                yield from entry.updates()
        for plan in self.plans.values():
            yield PlanUpdateEvent(plan=plan)
        if self.commands:
            yield AvailableCommandsUpdateEvent(available_commands=list(self.commands))
        if self.config_options:
            yield ConfigOptionUpdateEvent(config_options=list(self.config_options))
        if self.title is not None or self.updated_at is not None:
            yield SessionInfoUpdateEvent(title=self.title or UNSET, updated_at=self.updated_at or UNSET)
        if self.usage is not None:
            yield self.usage

    # --- one function a kind ----------------------------------------------------------------------------------------

    def _message(self, role: Role, message_id: str) -> Message:
        messages = self._messages[role]
        message = messages.get(message_id)
        if message is None:
            message = messages[message_id] = Message(role, message_id)
            self.entries.append(message)
        return message

    def _tool_call(self, tool_call_id: str) -> ToolCallState:
        call = self.tool_calls.get(tool_call_id)
        if call is None:
            call = self.tool_calls[tool_call_id] = ToolCallState(tool_call_id)
            self.entries.append(call)
        return call

    def _terminal(self, terminal_id: str) -> TerminalState:
        terminal = self.terminals.get(terminal_id)
        if terminal is None:
            terminal = self.terminals[terminal_id] = TerminalState(terminal_id)
        return terminal

    def _chunk(self, update: UserMessageChunk | AgentThoughtChunk) -> None:
        role = Role.USER if isinstance(update, UserMessageChunk) else Role.THOUGHT
        self._message(role, update.message_id).add(update.content)

    def _whole(self, update: UserMessageEvent | AgentMessageEvent | AgentThoughtEvent) -> None:
        message = self._message(_ROLES[update.__class__], update.message_id)
        if update.content is not UNSET:
            message.replace(update.content or [])
        if update.meta is not UNSET:
            message.meta = update.meta

    def _tool_update(self, update: ToolCallUpdateEvent) -> None:
        self._tool_call(update.tool_call_id).patch(update)

    def _tool_chunk(self, update: ToolCallContentChunkEvent) -> None:
        self._tool_call(update.tool_call_id).content.append(update.content)

    def _terminal_update(self, update: TerminalUpdateEvent) -> None:
        self._terminal(update.terminal_id).patch(update)

    def _terminal_output(self, update: TerminalOutputChunkEvent) -> None:
        self._terminal(update.terminal_id).write(update.data)

    def _plan(self, update: PlanUpdateEvent) -> None:
        plan = update.plan
        plan_id = plan.raw.get("planId") if isinstance(plan, Unknown) else plan.plan_id
        self.plans[str(plan_id)] = plan

    def _plan_removed(self, update: PlanRemovedEvent) -> None:
        self.plans.pop(update.plan_id, None)

    def _commands(self, update: AvailableCommandsUpdateEvent) -> None:
        self.commands = update.available_commands

    def _config(self, update: ConfigOptionUpdateEvent) -> None:
        self.config_options = update.config_options

    def _info(self, update: SessionInfoUpdateEvent) -> None:
        if update.title is not UNSET:
            self.title = update.title or None
        if update.updated_at is not UNSET:
            self.updated_at = update.updated_at or None

    def _usage(self, update: UsageUpdateEvent) -> None:
        self.usage = update

    def _state(self, update: StateUpdateEvent) -> None:
        self.state = update.state
        if update.state is SessionState.IDLE:
            self.stop_reason = update.stop_reason or None

    def _unknown(self, update: Unknown) -> None:
        self.entries.append(update)


_ROLES: dict[type[Any], Role] = {
    UserMessageEvent: Role.USER,
    AgentMessageEvent: Role.AGENT,
    AgentThoughtEvent: Role.THOUGHT,
}

_FOLDS: dict[type[Any], Callable[[Transcript, Any], None]] = {
    UserMessageChunk: Transcript._chunk,
    AgentThoughtChunk: Transcript._chunk,
    UserMessageEvent: Transcript._whole,
    AgentMessageEvent: Transcript._whole,
    AgentThoughtEvent: Transcript._whole,
    ToolCallUpdateEvent: Transcript._tool_update,
    ToolCallContentChunkEvent: Transcript._tool_chunk,
    TerminalUpdateEvent: Transcript._terminal_update,
    TerminalOutputChunkEvent: Transcript._terminal_output,
    PlanUpdateEvent: Transcript._plan,
    PlanRemovedEvent: Transcript._plan_removed,
    AvailableCommandsUpdateEvent: Transcript._commands,
    ConfigOptionUpdateEvent: Transcript._config,
    SessionInfoUpdateEvent: Transcript._info,
    UsageUpdateEvent: Transcript._usage,
    StateUpdateEvent: Transcript._state,
}
