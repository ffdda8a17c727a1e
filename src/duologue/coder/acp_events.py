"""What the coder does, as session updates: the one table from its events to the protocol, live and in replay."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from duologue.agent import Terminal, Turn, Voice, file_diff, plan_entry
from duologue.codec import decode
from duologue.coder.events import (
    Event,
    FileDiff,
    Location,
    PermissionQuestion,
    PlanChanged,
    Text,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolOutput,
    ToolRunning,
    ToolStarted,
    TurnEnded,
    TurnUsage,
    UsageChanged,
)
from duologue.coder.naming import is_of_server
from duologue.local.errors import PathRefused
from duologue.local.workspace import Workspace
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import Usage
from duologue.protocol.common.tools import ToolCallLocation, ToolKind, ToolTerminal
from duologue.protocol.markdown import fenced
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.permission import CommandSubject, ToolCallSubject
from duologue.protocol.v2.tools import ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolContent, ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)

#: Arguments of tools that hold a path; a client gets them absolute.
PATH_ARGUMENTS = ("path", "to", "after", "cwd")

#: Results of these kinds are code or listings, where a client would otherwise see Markdown.
VERBATIM = frozenset(("read", "search"))

STATUSES: Mapping[str, ToolCallStatus] = {
    "completed": ToolCallStatus.COMPLETED,
    "failed": ToolCallStatus.FAILED,
    "cancelled": ToolCallStatus.CANCELLED,
}


class Stage:
    """Shows events through a voice: each is sent when `show` is called; awaiting the result takes part in
    back-pressure."""

    def __init__(self, voice: Voice, workspace: Workspace) -> None:
        self.voice = voice
        self.workspace = workspace
        # Tool calls that have not ended, and those of them that show a terminal.
        self._calls: dict[str, ToolStarted] = {}
        self._terminals: dict[str, Terminal] = {}

    def show(self, event: Event) -> Awaitable[None] | None:
        """Send what an event means; None when it is not told to a client by itself."""
        return _TABLE[event.__class__](self, event)

    def knows(self, call: str) -> bool:
        """Whether a tool call has been told and has not ended."""
        return call in self._calls

    def subject(self, question: PermissionQuestion) -> ToolCallSubject | CommandSubject:
        """What a permission is asked for: the command, or the tool call with the diffs that will be written."""
        if question.command is not None and question.cwd is not None:
            return CommandSubject(command=question.command, cwd=str(question.cwd), tool_call_id=question.call)
        members = self._members(self._calls[question.call])
        content: list[ToolCallContent] = [*diffs_of(question.diffs)]
        return ToolCallSubject(tool_call=ToolCallUpdate(**{**members, "content": content or UNSET}))

    # --- one function an event --------------------------------------------------------------------------------------

    def _text(self, event: Text) -> Awaitable[None]:
        return self.voice.update(AgentMessageChunk(message_id=event.message, content=TextBlock(text=event.text)))

    def _thought(self, event: Thought) -> Awaitable[None]:
        return self.voice.update(AgentThoughtChunk(message_id=event.message, content=TextBlock(text=event.text)))

    def _started(self, event: ToolStarted) -> Awaitable[None]:
        self._calls[event.call] = event
        return self.voice.update(ToolCallUpdateEvent(**self._members(event)))

    def _members(self, event: ToolStarted) -> dict[str, Any]:
        return {
            "tool_call_id": event.call,
            "title": event.title,
            "kind": ToolKind(event.kind),
            "name": event.tool,
            "status": ToolCallStatus.PENDING,
            "locations": locations_of(event.locations) or UNSET,
            "raw_input": absolute_arguments(event, self.workspace),
            "content": diffs_of(event.diffs) or UNSET,
        }

    def _running(self, event: ToolRunning) -> Awaitable[None]:
        sent = self._patch(event.call, status=ToolCallStatus.IN_PROGRESS)
        if event.rule is not None:
            sent = self._add(event.call, text_content(f"Allowed without asking by the rule `{event.rule}`"))
        if event.command is None:
            return sent
        terminal = self._terminals[event.call] = Terminal(self.voice, f"terminal-{event.call}")
        terminal.open(event.command, UNSET if event.cwd is None else event.cwd)
        return self._add(event.call, ToolTerminal(terminal_id=terminal.id))

    def _output(self, event: ToolOutput) -> Awaitable[None]:
        return self._terminals[event.call].write(event.data)

    def _finished(self, event: ToolFinished) -> Awaitable[None]:
        started = self._calls.pop(event.call)
        terminal = self._terminals.pop(event.call, None)
        exited = event.exit_code is not None or event.signal is not None
        if terminal is not None:
            terminal.exited(event.exit_code, event.signal)
        shown = (event.outcome == "completed" and started.diffs) or (terminal is not None and exited)
        for block in event.blocks:
            self._add(event.call, ToolContent(content=decode(ContentBlock, msgspec.json.encode(block))))
        if event.text and not shown and not event.blocks and event.outcome != "cancelled":
            self._add(event.call, _result(event.text, started.kind, event.outcome))
        raw = UNSET if event.raw is None else event.raw
        return self._patch(event.call, status=STATUSES[event.outcome], raw_output=raw)

    def _patch(self, call: str, **members: Any) -> Awaitable[None]:
        return self.voice.update(ToolCallUpdateEvent(tool_call_id=call, **members))

    def _add(self, call: str, content: ToolCallContent) -> Awaitable[None]:
        return self.voice.update(ToolCallContentChunkEvent(tool_call_id=call, content=content))

    def _plan(self, event: PlanChanged) -> Awaitable[None]:
        return self.voice.plan([plan_entry(item.content, item.status, item.priority) for item in event.items])

    def _title(self, event: TitleChanged) -> Awaitable[None]:
        return self.voice.set_title(event.title)

    def _usage(self, event: UsageChanged) -> Awaitable[None]:
        return self.voice.usage(event.used, event.size, cost=event.cost, currency=event.currency)

    def _ended(self, event: TurnEnded) -> None:
        if isinstance(self.voice, Turn) and event.usage is not None:
            self.voice.tokens = tokens_of(event.usage)


_TABLE: Mapping[type[Any], Callable[[Stage, Any], Awaitable[None] | None]] = {
    Text: Stage._text,
    Thought: Stage._thought,
    ToolStarted: Stage._started,
    ToolRunning: Stage._running,
    ToolOutput: Stage._output,
    ToolFinished: Stage._finished,
    PlanChanged: Stage._plan,
    TitleChanged: Stage._title,
    UsageChanged: Stage._usage,
    TurnEnded: Stage._ended,
}


def diffs_of(diffs: Sequence[FileDiff]) -> list[ToolDiff]:
    return [file_diff(diff.path, diff.old, diff.new) for diff in diffs]


def locations_of(places: Sequence[Location]) -> list[ToolCallLocation]:
    return [
        ToolCallLocation(path=str(place.path), line=UNSET if place.line is None else place.line) for place in places
    ]


def absolute_arguments(event: ToolStarted, workspace: Workspace) -> dict[str, Any]:
    """A tool's arguments with their paths absolute, from the session's working folder. What a tool of an MCP server
    means by its arguments is not known."""
    arguments = event.arguments
    if is_of_server(event.tool):
        return arguments
    paths = {
        name: absolute(value, workspace) for name in PATH_ARGUMENTS if isinstance(value := arguments.get(name), str)
    }
    return {**arguments, **paths}


def absolute(path: str, workspace: Workspace) -> str:
    """The place that a path means. One that leads outside is refused later: it is shown as it was given."""
    try:
        return str(workspace.resolve(path).shown)
    except PathRefused:
        return os.path.join(workspace.cwd, path)  # noqa: PTH118 (a path may hold anything, NUL included)


def tokens_of(usage: TurnUsage) -> Usage:
    """The tokens of a turn. Thoughts are part of the output, cached tokens part of the input."""
    return Usage(
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thought_tokens=usage.thought_tokens or UNSET,
        cached_read_tokens=usage.cached_read_tokens or UNSET,
        cached_write_tokens=usage.cached_write_tokens or UNSET,
    )


def _result(text: str, kind: str, outcome: str) -> ToolCallContent:
    return text_content(fenced(text) if kind in VERBATIM and outcome == "completed" else text)


def text_content(text: str) -> ToolCallContent:
    return ToolContent(content=TextBlock(text=text))
