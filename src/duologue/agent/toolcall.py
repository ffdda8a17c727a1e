"""A tool call as its author holds it: an async context manager that cannot be left open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from duologue.protocol.changes.patches import make_patch
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.tools import ToolCallLocation, ToolKind, ToolTerminal
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.diff import AddChange, DeleteChange, DiffChange, DiffPatch, DiffPatchFormat, ModifyChange
from duologue.protocol.v2.permission import ToolCallSubject
from duologue.protocol.v2.tools import ToolCallContent, ToolCallStatus, ToolContent, ToolDiff
from duologue.protocol.v2.updates import ToolCallContentChunkEvent, ToolCallUpdateEvent

if TYPE_CHECKING:
    from duologue.agent.permission import Permission
    from duologue.agent.terminal import Terminal
    from duologue.agent.voice import Voice
    from duologue.protocol.common.permission import PermissionOption


def file_diff(path: Path | str, old: str | None, new: str | None) -> ToolDiff:
    """The change of one whole file; None stands for a file that is not there. `path` is absolute."""
    name = str(path)
    change: DiffChange
    if old is None:
        change = AddChange(path=name)
    elif new is None:
        change = DeleteChange(path=name)
    else:
        change = ModifyChange(path=name)
    patch = DiffPatch(format=DiffPatchFormat.GIT_PATCH, text=make_patch(name, old, new))
    return ToolDiff(changes=[change], patch=patch)


class ToolCall:
    """A tool call. Entering it announces it as pending; the first sign of work makes it in progress; leaving it ends
    it: completed, failed when an exception passes or `fail` was called, cancelled when the turn is."""

    def __init__(
        self,
        voice: Voice,
        tool_call_id: str,
        title: str,
        *,
        kind: ToolKind | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        locations: Sequence[ToolCallLocation | Path] = (),
        raw_input: Any = UNSET,
    ) -> None:
        self.id = tool_call_id
        self._voice = voice
        self._status = ToolCallStatus.PENDING
        self._opening = ToolCallUpdateEvent(
            tool_call_id=tool_call_id,
            title=title,
            kind=kind,
            name=name,
            status=ToolCallStatus.PENDING,
            locations=[as_location(place) for place in locations] or UNSET,
            raw_input=raw_input,
        )

    @property
    def status(self) -> ToolCallStatus:
        return self._status

    async def __aenter__(self) -> ToolCall:
        await self._voice.update(self._opening)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status in ENDED or self._voice.over:
            return
        if error is None:
            await self._end(ToolCallStatus.COMPLETED)
        elif isinstance(error, asyncio.CancelledError):
            self._end(ToolCallStatus.CANCELLED)
        else:
            await self.fail(str(error) or type(error).__name__)

    def start(self) -> Awaitable[None]:
        """Say that the work has begun, when it shows no content yet."""
        return self.update(status=ToolCallStatus.IN_PROGRESS)

    def update(
        self,
        *,
        status: ToolCallStatus | UnsetType = UNSET,
        title: str | UnsetType = UNSET,
        kind: ToolKind | UnsetType = UNSET,
        locations: Sequence[ToolCallLocation | Path] | UnsetType = UNSET,
        content: Sequence[ToolCallContent] | UnsetType = UNSET,
        raw_input: Any = UNSET,
        raw_output: Any = UNSET,
    ) -> Awaitable[None]:
        """Change what is given, keep the rest; `content` and `locations` replace what was there."""
        if status is not UNSET:
            self._status = status
        return self._voice.update(
            ToolCallUpdateEvent(
                tool_call_id=self.id,
                status=status,
                title=title,
                kind=kind,
                locations=UNSET if isinstance(locations, UnsetType) else [as_location(place) for place in locations],
                content=UNSET if isinstance(content, UnsetType) else list(content),
                raw_input=raw_input,
                raw_output=raw_output,
            )
        )

    def add(self, content: ToolCallContent) -> Awaitable[None]:
        """Show one more item."""
        if self._status is ToolCallStatus.PENDING:
            self.start()
        return self._voice.update(ToolCallContentChunkEvent(tool_call_id=self.id, content=content))

    def text(self, text: str) -> Awaitable[None]:
        """Show a text."""
        return self.content(TextBlock(text=text))

    def content(self, block: ContentBlock) -> Awaitable[None]:
        """Show a content block."""
        return self.add(ToolContent(content=block))

    def diff(self, path: Path | str, old: str | None, new: str | None) -> Awaitable[None]:
        """Show the change of a file, given both texts whole; None stands for a file that is not there."""
        return self.add(file_diff(path, old, new))

    async def terminal(self, command: str | UnsetType = UNSET, cwd: Path | str | UnsetType = UNSET) -> Terminal:
        """Show a terminal; its output and its end are told through the result."""
        from duologue.agent.terminal import Terminal

        terminal = Terminal(self._voice, self._voice.session.next_id("terminal"))
        await terminal.open(command, cwd)
        await self.add(ToolTerminal(terminal_id=terminal.id))
        return terminal

    def raw_output(self, value: Any) -> Awaitable[None]:
        """Record what the tool returned, as any JSON value."""
        return self.update(raw_output=value)

    def fail(self, reason: str | None = None) -> Awaitable[None]:
        """End the call as failed; a reason is shown behind what it shows already."""
        if reason is not None:
            self._voice.update(
                ToolCallContentChunkEvent(tool_call_id=self.id, content=ToolContent(content=TextBlock(text=reason)))
            )
        return self._end(ToolCallStatus.FAILED)

    def cancel(self) -> Awaitable[None]:
        """End the call as cancelled."""
        return self._end(ToolCallStatus.CANCELLED)

    async def ask_permission(
        self,
        title: str | None = None,
        *,
        options: Sequence[PermissionOption] | None = None,
        description: str | UnsetType = UNSET,
        content: Sequence[ToolCallContent] = (),
    ) -> Permission:
        """Ask whether the call may go on. `content` (a computed diff, for example) is shown with the question."""
        shown: ToolCallUpdateEvent = self._opening
        call = ToolCallSubject(
            tool_call=as_update(shown, list(content) if content else UNSET),
        )
        heading = title if title is not None else str(shown.title)
        return await self._voice.ask_permission(heading, subject=call, description=description, options=options)

    def _end(self, status: ToolCallStatus) -> Awaitable[None]:
        return self.update(status=status)


ENDED = frozenset({ToolCallStatus.COMPLETED, ToolCallStatus.FAILED, ToolCallStatus.CANCELLED})


def as_location(place: ToolCallLocation | Path) -> ToolCallLocation:
    return place if isinstance(place, ToolCallLocation) else ToolCallLocation(path=str(place))


def as_update(event: ToolCallUpdateEvent, content: list[ToolCallContent] | UnsetType) -> Any:
    """The tool call of an event, without the event's tag, as a permission subject carries it."""
    from duologue.protocol.v2.tools import ToolCallUpdate

    return ToolCallUpdate(
        tool_call_id=event.tool_call_id,
        title=event.title,
        kind=event.kind,
        name=event.name,
        status=event.status,
        locations=event.locations,
        raw_input=event.raw_input,
        content=content,
    )
