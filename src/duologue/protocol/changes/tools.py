"""Tool calls: v2 patches them by id and appends content, v1 announces them once and then replaces.

Down, the first sight of an id is a `tool_call` with a title, what v1 has no word for is said as nearly as it can, and
appended content is sent whole, at a bounded pace. Up, both of v1's updates are patches.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.content import block_down, block_up, named
from duologue.protocol.changes.diffs import diff_down, diff_up, text_item
from duologue.protocol.changes.memory import SessionMemory, ToolMemory
from duologue.protocol.changes.notes import down, note_down, up
from duologue.protocol.changes.terminals import (
    announced_up,
    append_output,
    metas,
    output_up,
    patch_terminal,
    split_meta,
    terminal_of,
    terminal_text,
)
from duologue.protocol.common.content import AudioBlock, ImageBlock, TextBlock
from duologue.protocol.common.tools import ToolKind, ToolTerminal
from duologue.protocol.v1 import tools as v1
from duologue.protocol.v1.updates import SessionNotification, ToolCallEvent
from duologue.protocol.v1.updates import ToolCallUpdateEvent as ToolCallUpdateV1
from duologue.protocol.v2 import tools as v2
from duologue.protocol.v2.diff import DiffPatch
from duologue.protocol.v2.updates import ToolCallUpdateEvent as ToolCallUpdateV2
from duologue.protocol.v2.updates import UpdateSessionNotification

UNTITLED = "Tool call"
CANCELLED_TEXT = "Cancelled."
LEFT_OUT = "[earlier content left out]"

STATUSES_V1 = frozenset(status.value for status in v1.ToolCallStatus)


# --- Down ------------------------------------------------------------------------------------------------------------


def tool_update_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    """A patch of a tool call; the very same one when v1 would say it so too."""
    update: Any = note.update
    tool = session.tools.get(update.tool_call_id)
    if update.status is not UNSET and tool is not None:
        tool.ended = update.status in v2.ENDED
    if tool is None or tool.cancelled or update.tool_call_id in session.behind or not _same_in_v1(update):
        return _changed_down(session, note, tool)
    if update.title is not UNSET:
        tool.title = update.title
    return note


def _same_in_v1(update: v2.ToolCallUpdate) -> bool:
    return (
        update.content is UNSET
        and (update.status is UNSET or update.status in STATUSES_V1)
        and (update.kind is UNSET or (update.kind is not None and update.kind.known))
        and None not in (update.title, update.name, update.locations, update.raw_input, update.raw_output)
    )


def _changed_down(session: SessionMemory, note: UpdateSessionNotification, tool: ToolMemory | None) -> Any:
    update: Any = note.update
    known = tool or _remember(session, update.tool_call_id)
    shows = _take(session, known, update) or update.tool_call_id in session.behind
    change = patch_down(update)
    if shows:
        change["content"] = _items_down(session, known)
        known.sent_at = session.connection.clock()
        session.caught_up(update.tool_call_id)
    return _with_terminals(session, note, known, tool is None, change)


def _take(session: SessionMemory, tool: ToolMemory, update: v2.ToolCallUpdate) -> bool:
    """Remember what a patch says; whether it changes the content that v1 sees."""
    if isinstance(update.title, str):
        tool.title = update.title
    if update.content is not UNSET:
        tool.trimmed = False
        _set_content(session, update.tool_call_id, tool, update.content or [])
    was = tool.cancelled
    if update.status is not UNSET:
        tool.ended = update.status in v2.ENDED
        tool.cancelled = update.status == v2.ToolCallStatus.CANCELLED
    return update.content is not UNSET or tool.cancelled != was


def patch_down(update: v2.ToolCallUpdate) -> dict[str, Any]:
    """The members of v1's update, apart from the id and the content."""
    kind: Any = update.kind
    if kind is None or (kind is not UNSET and not kind.known):
        kind = ToolKind.OTHER
    status = update.status if update.status is UNSET else _status_down(update.status)
    members = {"name": update.name, "title": update.title, "raw_input": update.raw_input}
    members["raw_output"] = update.raw_output
    change = {name: value for name, value in members.items() if value is not None and value is not UNSET}
    change["locations"] = [] if update.locations is None else update.locations
    return {**change, "kind": kind, "status": status, "meta": update.meta}


def _status_down(status: v2.ToolCallStatus | None) -> v1.ToolCallStatus:
    if status is None:
        return v1.ToolCallStatus.PENDING
    if status == v2.ToolCallStatus.CANCELLED:
        return v1.ToolCallStatus.FAILED
    return v1.ToolCallStatus(status.value) if status.known else v1.ToolCallStatus.IN_PROGRESS


def _with_terminals(
    session: SessionMemory, note: UpdateSessionNotification, tool: ToolMemory, first: bool, change: dict[str, Any]
) -> Any:
    """The update itself, then what its terminals have to tell."""
    update: Any = note.update
    told = _terminal_metas(session, tool) if session.connection.client.terminal_output else []
    if told:
        change["meta"] = {**(change["meta"] or {}), **told[0]}
    if first and (tool.title is not None or not session.forgot_tools):
        change.setdefault("title", update.name or UNTITLED)
        made: Any = ToolCallEvent(tool_call_id=update.tool_call_id, **change)
    else:
        made = ToolCallUpdateV1(tool_call_id=update.tool_call_id, **change)
    head = SessionNotification(session_id=note.session_id, update=made, meta=note.meta)
    return down([head, *_meta_notes(session, update.tool_call_id, told[1:])])


def _terminal_metas(session: SessionMemory, tool: ToolMemory) -> list[dict[str, Any]]:
    shown = [item.terminal_id for item in tool.content if isinstance(item, ToolTerminal)]
    ours = [terminal_id for terminal_id in shown if terminal_id not in session.client_terminals]
    return [meta for terminal_id in ours for meta in metas(terminal_of(session, terminal_id))]


def _meta_notes(session: SessionMemory, tool_call_id: str, told: list[dict[str, Any]]) -> list[Any]:
    return [note_down(session.session_id, ToolCallUpdateV1(tool_call_id=tool_call_id, meta=meta)) for meta in told]


def _remember(session: SessionMemory, tool_call_id: str) -> ToolMemory:
    tools = session.tools
    while len(tools) >= session.connection.bounds.tool_calls:
        ended = next((name for name, tool in tools.items() if tool.ended), None)
        gone = ended if ended is not None else next(iter(tools))
        del tools[gone]
        session.caught_up(gone)
        session.forgot_tools = True
    made = tools[tool_call_id] = ToolMemory()
    return made


def _set_content(session: SessionMemory, tool_call_id: str, tool: ToolMemory, content: list[Any]) -> None:
    tool.content = content
    for item in content:
        if isinstance(item, ToolTerminal) and item.terminal_id not in session.client_terminals:
            terminal_of(session, item.terminal_id).owner = tool_call_id


def content_chunk_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    """One more item: v1 gets all of them again, at the pace of `Bounds.resends_per_second`."""
    update: Any = note.update
    tool = session.tools.get(update.tool_call_id)
    first = tool is None
    tool = tool or _remember(session, update.tool_call_id)
    _set_content(session, update.tool_call_id, tool, _bounded(session, tool, update.content))
    if isinstance(update.content, ToolTerminal) and update.content.terminal_id in session.client_terminals:
        # The client has to see it before it is told to free the terminal.
        return down(_resent(session, update.tool_call_id, tool, session.connection.clock(), first))
    return _grown(session, update.tool_call_id, tool, first)


def _bounded(session: SessionMemory, tool: ToolMemory, item: Any) -> list[Any]:
    """The content with one more item, without its beginning if it is too long to be sent again and again."""
    content = [*tool.content, item]
    size = sum(map(_size, content))
    while size > session.connection.bounds.tool_content and len(content) > 1:
        size -= _size(content.pop(0))
        tool.trimmed = True
    return content


def _size(item: Any) -> int:
    """About how long an item is on the wire."""
    match item:
        case v2.ToolContent(content=TextBlock(text=text)) | v2.ToolDiff(patch=DiffPatch(text=text)):
            return len(text)
        case v2.ToolContent(content=ImageBlock(data=data) | AudioBlock(data=data)):
            return len(data)
    return 1024


def _grown(session: SessionMemory, tool_call_id: str, tool: ToolMemory, first: bool = False) -> Any:
    """Send the content again now, or remember that v1 is behind."""
    now = session.connection.clock()
    if not first and now - tool.sent_at < session.connection.bounds.resend_seconds:
        session.fall_behind(tool_call_id)
        return ()
    return down(_resent(session, tool_call_id, tool, now, first))


def _resent(session: SessionMemory, tool_call_id: str, tool: ToolMemory, now: float, first: bool = False) -> list[Any]:
    tool.sent_at = now
    session.caught_up(tool_call_id)
    items = _items_down(session, tool)
    update: Any = ToolCallUpdateV1(tool_call_id=tool_call_id, content=items)
    if first:
        update = ToolCallEvent(tool_call_id=tool_call_id, title=UNTITLED, content=items)
    return [note_down(session.session_id, update)]


def catch_up(session: SessionMemory, due: float | None = None) -> list[Any]:
    """Notifications for all content that v1 is behind with; with `due`, of what was sent before that time."""
    late = [(name, session.tools[name]) for name in session.behind]
    now = session.connection.clock()
    return [
        note for name, tool in late if due is None or tool.sent_at <= due for note in _resent(session, name, tool, now)
    ]


def terminal_update_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    update: Any = note.update
    return _terminal_down(session, patch_terminal(session, update), at_once=update.exit_status is not UNSET)


def terminal_chunk_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    update: Any = note.update
    return _terminal_down(session, append_output(session, update), at_once=False)


def _terminal_down(session: SessionMemory, terminal: Any, at_once: bool) -> Any:
    """Tell v1 through the tool call that shows the terminal; one that none shows waits for its tool call."""
    tool = session.tools.get(terminal.owner) if terminal.owner else None
    if tool is None:
        terminal.announced = False
        return ()
    if session.connection.client.terminal_output:
        return down(_meta_notes(session, terminal.owner, list(metas(terminal))))
    if at_once:
        return down(_resent(session, terminal.owner, tool, session.connection.clock()))
    return _grown(session, terminal.owner, tool)


def _items_down(session: SessionMemory, tool: ToolMemory) -> list[Any]:
    head = [text_item(LEFT_OUT)] if tool.trimmed else []
    tail = [text_item(CANCELLED_TEXT)] if tool.cancelled else []
    return [*head, *items_down(session, tool.content), *tail]


def items_down(session: SessionMemory, content: Iterable[Any]) -> list[Any]:
    """The content of a tool call for v1."""
    return [made for item in content for made in item_down(session, item)]


def item_down(session: SessionMemory, item: Any) -> list[Any]:
    """An item of a tool call's content for v1."""
    match item:
        case v2.ToolDiff():
            return diff_down(item)
        case ToolTerminal(terminal_id=terminal_id):
            by_id = session.connection.client.terminal_output or terminal_id in session.client_terminals
            return [item] if by_id else [terminal_text(session, terminal_id)]
        case Unknown():
            return [text_item(named(item))]
    block = block_down(item.content)
    return [item if block is item.content else v1.ToolContent(content=block, meta=item.meta)]


# --- Up --------------------------------------------------------------------------------------------------------------


def tool_call_up(session: SessionMemory, note: SessionNotification) -> Any:
    """Either of v1's updates as a patch, with the display terminals that it brings in `_meta`."""
    update: Any = note.update
    session.end_message()
    meta, said = split_meta(update.meta)
    if isinstance(update.title, str):
        tool = session.tools.get(update.tool_call_id) or _remember(session, update.tool_call_id)
        tool.title = update.title
    patch = ToolCallUpdateV2(**members_up(update, meta))
    shown = [item.terminal_id for item in patch.content or () if isinstance(item, ToolTerminal)]
    raw = update.raw_input if isinstance(update.raw_input, dict) else {}
    before = announced_up(session, said, shown, raw.get("command")) if shown or said else []
    main = UpdateSessionNotification(session_id=note.session_id, update=patch, meta=note.meta)
    says = not said or patch != ToolCallUpdateV2(tool_call_id=patch.tool_call_id)
    return up([*before, *([main] if says else []), *output_up(session, said)])


def members_up(update: Any, meta: Any) -> dict[str, Any]:
    """The members of v2's patch; null in v1 means unchanged."""
    same = ("tool_call_id", "name", "title", "locations", "raw_input", "raw_output")
    members = {name: value for name in same if (value := getattr(update, name)) is not None}
    content = update.content
    if isinstance(content, list):
        members["content"] = [item_up(item) for item in content]
    return {**members, "kind": _kind_up(update.kind), "status": _status_up(update.status), "meta": meta}


def _kind_up(kind: Any) -> Any:
    if kind is None or kind is UNSET:
        return UNSET
    return kind if kind.known or kind.startswith("_") else ToolKind.OTHER


def _status_up(status: Any) -> Any:
    if status is None or status is UNSET:
        return UNSET
    known = v2.ToolCallStatus(status.value)
    return known if known.known or status.startswith("_") else UNSET


def item_up(item: Any) -> Any:
    """An item of a tool call's content for v2."""
    match item:
        case v1.ToolDiff():
            return diff_up(item)
        case v1.ToolContent(content=block, meta=meta):
            return v2.ToolContent(content=block_up(block), meta=meta)
    return item
