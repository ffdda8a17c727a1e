"""The transcript: everything a session's updates say, folded at constant cost per update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
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
from duologue.session.shelf import Shelf
from duologue.session.terminal import TerminalState

Entry = Message | ToolCallState | Unknown


class Conversation:
    """What a transcript tells. `entries` holds messages, tool calls and unknown updates in the order they first
    appeared; the rest is the latest state of its kind."""

    entries: Sequence[Entry]
    tool_calls: Mapping[str, ToolCallState]
    terminals: Mapping[str, TerminalState]
    plans: Mapping[str, PlanUpdateContent]
    commands: Sequence[AvailableCommand]
    config_options: Sequence[SessionConfigOption]
    usage: UsageUpdateEvent | None
    title: str | None
    updated_at: str | None
    state: SessionState
    stop_reason: StopReason | None

    @property
    def messages(self) -> list[Message]:
        """The messages alone, in order."""
        return [entry for entry in self.entries if isinstance(entry, Message)]

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


class Snapshot(Conversation):
    """A transcript as it was. It shares with the transcript, and with other snapshots, what has not changed since."""

    def __init__(self, of: Transcript) -> None:
        self.entries = of._entries.snapshot()
        self.plans = of.plans.copy()
        self._terminals = of._terminals.snapshot()
        for name in ("commands", "config_options", "usage", "title", "updated_at", "state", "stop_reason"):
            setattr(self, name, getattr(of, name))

    @cached_property
    def tool_calls(self) -> Mapping[str, ToolCallState]:  # type: ignore[override]
        """By id; found when first asked for."""
        return {entry.id: entry for entry in self.entries if isinstance(entry, ToolCallState)}

    @cached_property
    def terminals(self) -> Mapping[str, TerminalState]:  # type: ignore[override]
        """By id; found when first asked for."""
        return {terminal.id: terminal for terminal in self._terminals}


class Transcript(Conversation):
    """A conversation, as its updates make it. What is read of it is live: take a `snapshot` of what is to stay."""

    tool_calls: dict[str, ToolCallState]
    terminals: dict[str, TerminalState]
    plans: dict[str, PlanUpdateContent]

    def __init__(self) -> None:
        self._entries: Shelf[Entry] = Shelf()
        self.entries: list[Entry] = self._entries.items
        #: Entries that stood before the first of these and are kept no more.
        self.let_go = 0
        self.tool_calls = {}
        self._terminals: Shelf[TerminalState] = Shelf()
        self.terminals = {}
        self.plans = {}
        self.commands = ()
        self.config_options = ()
        self.usage = None
        self.title = None
        self.updated_at = None
        self.state = SessionState.IDLE
        self.stop_reason = None
        # By who speaks: agents are known to use one id for what they think and what they say.
        self._messages: dict[Role, dict[str, Message]] = {role: {} for role in Role}
        self._said = self._messages[Role.AGENT]

    def apply(self, update: SessionUpdate) -> None:
        """Fold one update, at a cost that does not grow. An update of an unknown kind is kept as it is."""
        if update.__class__ is AgentMessageChunk:
            # By far the most frequent kind: spared the look-up.
            message = self._said.get(update.message_id)
            if message is None:
                message = self._message(Role.AGENT, update.message_id)
            elif message.frozen is not None:
                self._entries.touch(message)
            message.add(update.content)
            return
        _FOLDS.get(update.__class__, Transcript._unknown)(self, update)

    def snapshot(self) -> Snapshot:
        """All of it as it is now, at the cost of what has changed since the last one."""
        return Snapshot(self)

    # --- one function a kind ----------------------------------------------------------------------------------------

    def _message(self, role: Role, message_id: str) -> Message:
        messages = self._messages[role]
        message = messages.get(message_id)
        if message is None:
            message = messages[message_id] = Message(role, message_id)
            self._entries.put(message)
        elif message.frozen is not None:
            self._entries.touch(message)
        return message

    def _tool_call(self, tool_call_id: str) -> ToolCallState:
        call = self.tool_calls.get(tool_call_id)
        if call is None:
            call = self.tool_calls[tool_call_id] = ToolCallState(tool_call_id)
            self._entries.put(call)
        elif call.frozen is not None:
            self._entries.touch(call)
        return call

    def _terminal(self, terminal_id: str) -> TerminalState:
        terminal = self.terminals.get(terminal_id)
        if terminal is None:
            terminal = self.terminals[terminal_id] = TerminalState(terminal_id)
            self._terminals.put(terminal)
        elif terminal.frozen is not None:
            self._terminals.touch(terminal)
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
        self._entries.put(update)


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
