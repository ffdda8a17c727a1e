"""A tool call as its author holds it: an async context manager that cannot be left open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from duologue.agent.sending import sent_update
from duologue.local.arguments import as_path, several
from duologue.local.entering import Entered
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.tools import ToolCallLocation, ToolKind, ToolTerminal
from duologue.protocol.patches import make_patch
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.diff import AddChange, DeleteChange, DiffChange, DiffPatch, DiffPatchFormat, ModifyChange
from duologue.protocol.v2.permission import ToolCallSubject
from duologue.protocol.v2.tools import ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolContent, ToolDiff
from duologue.protocol.v2.updates import ToolCallContentChunkEvent, ToolCallUpdateEvent
from duologue.session.blocks import sent_block
from duologue.session.entries import ToolCallState

if TYPE_CHECKING:
    from duologue.agent.elicitation import FormAnswer, UrlAnswer
    from duologue.agent.permission import Permission
    from duologue.agent.question import Question
    from duologue.agent.terminal import Terminal
    from duologue.agent.voice import Voice
    from duologue.protocol.common.elicitation_schema import ElicitationSchema
    from duologue.protocol.common.permission import PermissionOption


def file_diff(path: Path | str, old: str | None, new: str | None) -> ToolDiff:
    """The change of one whole file; None stands for a file that is not there. Raises `ValueError` unless `path` is
    absolute."""
    for text in (old, new):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"the texts of a diff are strings, or None for no file, not {type(text).__name__}")
    if not as_path(path, "the path of a diff").is_absolute():
        raise ValueError(f"the path of a diff is absolute: {str(path)!r}")
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


class ToolCall(Entered):
    """A tool call. Entering it announces it as pending; the first sign of work makes it in progress; leaving it ends
    it: completed, failed when an exception passes or `fail` was called, cancelled when the turn is. Relative paths
    start at the session's working directory."""

    _entering = "async with turn.tool_call(...) as call"

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
        self._entered = False
        # The call as all that was said of it leaves it: a question shows it so.
        self._shown = ToolCallState(tool_call_id)
        opening: Any = ToolCallUpdateEvent(
            tool_call_id=tool_call_id,
            title=title,
            kind=kind,
            name=name,
            status=ToolCallStatus.PENDING,
            locations=self._places(locations) or UNSET,
            raw_input=raw_input,
        )
        opening = sent_update(opening)
        self._opening: ToolCallUpdateEvent = opening
        self._shown.patch(self._opening)

    @property
    def status(self) -> ToolCallStatus:
        status: ToolCallStatus = self._shown.status
        return status

    async def __aenter__(self) -> ToolCall:
        self._entered = True
        await self._voice.send(self._opening)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown.ended or self._voice.over:
            return
        if error is None:
            await self.update(status=ToolCallStatus.COMPLETED)
        elif isinstance(error, asyncio.CancelledError):
            self.cancel()
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
        """Change what is given, keep the rest; `content` and `locations` replace what was there.

        Raises `TypeError` for an item of content that is none, `ValueError` for a status or kind that is neither the
        protocol's nor, beginning with an underscore, one's own.
        """
        change: Any = ToolCallUpdateEvent(
            tool_call_id=self.id,
            status=status if isinstance(status, UnsetType) else ToolCallStatus.named(status),
            title=title,
            kind=kind if isinstance(kind, UnsetType) else ToolKind.named(kind),
            locations=UNSET if isinstance(locations, UnsetType) else self._places(locations),
            content=UNSET if isinstance(content, UnsetType) else _items(content),
            raw_input=raw_input,
            raw_output=raw_output,
        )
        # As the client reads it: what is asked about the call later shows it so.
        change = sent_update(change)
        sent = self._send(change)
        self._shown.patch(change)
        return sent

    def add(self, content: ToolCallContent) -> Awaitable[None]:
        """Show one more item. Raises `TypeError` for what is none."""
        if self.status is ToolCallStatus.PENDING:
            self.start()
        return self._add(_item(content))

    def _send(self, update: Any) -> Awaitable[None]:
        self._check_entered()
        return self._voice.send(update)

    def _check_entered(self) -> None:
        """Raises `RuntimeError` when the client was not told of the call."""
        if not self._entered:
            raise RuntimeError(f"the tool call is not announced yet: {self._entering}")

    def _add(self, content: ToolCallContent) -> Awaitable[None]:
        chunk: Any = sent_update(ToolCallContentChunkEvent(tool_call_id=self.id, content=content))
        sent, content = self._send(chunk), chunk.content
        self._shown.content.append(content)
        return sent

    def text(self, text: str) -> Awaitable[None]:
        """Show a text. Raises `CodecError` for what is none."""
        return self.content(TextBlock(text=text))

    def content(self, block: ContentBlock) -> Awaitable[None]:
        """Show a content block. Raises `TypeError` for what is none, and `ValueError` for one that does not keep to the
        formats of the schema."""
        return self.add(ToolContent(content=sent_block(block)))

    def diff(self, path: Path | str, old: str | None, new: str | None) -> Awaitable[None]:
        """Show the change of a file, given both texts whole; None stands for a file that is not there."""
        return self.add(file_diff(self._voice.session.cwd / as_path(path, "the path of a diff"), old, new))

    async def terminal(self, command: str | UnsetType = UNSET, cwd: Path | str | UnsetType = UNSET) -> Terminal:
        """Show a terminal; its output and its end are told through the result."""
        self._check_entered()
        from duologue.agent.terminal import Terminal

        terminal = Terminal(self._voice, self._voice.session.next_id("terminal"))
        await terminal.open(command, cwd)
        await self.add(ToolTerminal(terminal_id=terminal.id))
        return terminal

    def _places(self, places: Sequence[ToolCallLocation | Path]) -> list[ToolCallLocation]:
        cwd = self._voice.session.cwd
        return [
            replace(place, path=str(cwd / place.path))
            if isinstance(place, ToolCallLocation)
            else ToolCallLocation(path=str(cwd / as_path(place, "a location")))
            for place in several(places, "locations")
        ]

    def raw_output(self, value: Any) -> Awaitable[None]:
        """Record what the tool returned, as any JSON value."""
        return self.update(raw_output=value)

    def fail(self, reason: str | None = None) -> Awaitable[None]:
        """End the call as failed; a reason is shown behind what it shows already."""
        if reason is not None:
            self._add(ToolContent(content=TextBlock(text=reason)))
        return self.update(status=ToolCallStatus.FAILED)

    def cancel(self) -> Awaitable[None]:
        """End the call as cancelled."""
        return self.update(status=ToolCallStatus.CANCELLED)

    def ask_permission(
        self,
        title: str | None = None,
        *,
        options: Sequence[PermissionOption] | None = None,
        description: str | UnsetType = UNSET,
        content: Sequence[ToolCallContent] = (),
    ) -> Question[Permission]:
        """Ask whether the call may go on. The question shows the call as it is now, and behind its content `content` (a
        computed diff, for example), which is shown with the question alone."""
        subject = ToolCallSubject(tool_call=as_subject(self._shown, _items(content)))
        heading = title if title is not None else str(self._shown.title)
        self._check_entered()
        return self._voice.ask_permission(heading, subject=subject, description=description, options=options)

    def ask_form(self, message: str, schema: ElicitationSchema) -> Question[FormAnswer]:
        """Ask the user to fill in a form about this call; see `Turn.ask_form`."""
        return self._voice.ask_form(message, schema, tool_call_id=self.id)

    def ask_url(self, message: str, url: str) -> Question[UrlAnswer]:
        """Ask the user to visit a page for this call; see `Turn.ask_url`."""
        return self._voice.ask_url(message, url, tool_call_id=self.id)


def as_subject(shown: ToolCallState, content: Sequence[ToolCallContent]) -> ToolCallUpdate:
    """The tool call as a permission subject carries it."""
    return ToolCallUpdate(
        tool_call_id=shown.id,
        title=shown.title,
        kind=shown.kind,
        name=shown.name,
        status=shown.status,
        locations=shown.locations,
        raw_input=shown.raw_input,
        raw_output=shown.raw_output,
        content=[*shown.content, *content] or UNSET,
    )


def _items(content: Sequence[ToolCallContent]) -> list[ToolCallContent]:
    return [_item(item) for item in several(content, "content")]


def _item(item: ToolCallContent) -> ToolCallContent:
    """The item, checked: a string is content that would only fail at the client."""
    if isinstance(item, ToolContent | ToolDiff | ToolTerminal | Unknown):
        return item
    raise TypeError(f"content of a tool call is ToolContent, ToolDiff or ToolTerminal, not {type(item).__name__}")
