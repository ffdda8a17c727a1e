"""Updates to fold, and the whole state of a transcript as plain values that compare."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from hypothesis import strategies as st
from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.common.content import ImageBlock, TextBlock
from duologue.protocol.common.plan import PlanEntryPriority
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.common.updates import PlanRemovedEvent, SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v2.commands import AvailableCommand
from duologue.protocol.v2.plan import ItemsPlan, PlanEntry, PlanEntryStatus
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    AgentThoughtEvent,
    AvailableCommandsUpdateEvent,
    PlanUpdateEvent,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session import Message, Snapshot, ToolCallState, Transcript


def text(value: str) -> TextBlock:
    return TextBlock(text=value)


def said(value: str, id: str = "m") -> AgentMessageChunk:
    return AgentMessageChunk(message_id=id, content=text(value))


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def output(data: bytes, id: str = "t") -> TerminalOutputChunkEvent:
    return TerminalOutputChunkEvent(terminal_id=id, data=base64(data))


def state_of(transcript: Transcript | Snapshot) -> dict[str, Any]:
    """Everything a transcript says, apart from the state of the session."""
    return {
        "entries": [entry_of(entry) for entry in transcript.entries],
        "terminals": {
            id: (terminal.command, terminal.cwd, terminal.exit_status, terminal.output, terminal.text)
            for id, terminal in transcript.terminals.items()
        },
        "plans": dict(transcript.plans),
        "commands": list(transcript.commands),
        "config": list(transcript.config_options),
        "title": (transcript.title, transcript.updated_at),
        "usage": transcript.usage,
    }


def entry_of(entry: Message | ToolCallState | Unknown) -> Any:
    match entry:
        case Message():
            return entry.role, entry.id, entry.content, entry.meta
        case ToolCallState():
            members = ("name", "title", "kind", "status", "locations", "raw_input", "raw_output", "meta")
            return entry.id, list(entry.content), [getattr(entry, member) for member in members]
    return entry.raw


# --- any update -------------------------------------------------------------------------------------------------------

IDS = st.sampled_from(["a", "b"])
WORDS = st.text("xy ✓🍸", max_size=4)
META: st.SearchStrategy[Any] = st.sampled_from([UNSET, None, {"k": 1}])
BLOCKS = st.one_of(
    st.builds(TextBlock, text=WORDS),
    st.builds(TextBlock, text=WORDS, meta=st.just({"k": 1})),
    st.builds(ImageBlock, data=st.just("aGk="), mime_type=st.just("image/png")),
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Absent, null, or a value."""
    return st.sampled_from([UNSET, None]) | values


LISTS = maybe(st.lists(BLOCKS, max_size=2))
DATA = st.binary(max_size=3).map(base64) | st.sampled_from([base64("✓".encode()[:2]), base64("✓".encode()[2:]), "%%"])

UPDATES: st.SearchStrategy[Any] = st.one_of(
    *(
        st.builds(kind, message_id=IDS, content=BLOCKS)
        for kind in (UserMessageChunk, AgentMessageChunk, AgentThoughtChunk)
    ),
    *(
        st.builds(kind, message_id=IDS, content=LISTS, meta=META)
        for kind in (UserMessageEvent, AgentMessageEvent, AgentThoughtEvent)
    ),
    st.builds(
        ToolCallUpdateEvent,
        tool_call_id=IDS,
        title=maybe(WORDS),
        kind=maybe(st.just(ToolKind.EDIT)),
        status=maybe(st.sampled_from(list(ToolCallStatus))),
        locations=maybe(st.lists(st.builds(ToolCallLocation, path=st.just("/a")), max_size=1)),
        raw_input=st.sampled_from([UNSET, None, 0, {"a": [1]}]),
        raw_output=st.sampled_from([UNSET, None, "out"]),
        content=maybe(st.lists(st.builds(ToolContent, content=BLOCKS), max_size=2)),
        meta=META,
    ),
    st.builds(ToolCallContentChunkEvent, tool_call_id=IDS, content=st.builds(ToolContent, content=BLOCKS)),
    st.builds(
        TerminalUpdateEvent,
        terminal_id=IDS,
        command=maybe(WORDS),
        cwd=maybe(st.just("/c")),
        exit_status=maybe(st.builds(TerminalExitStatus, exit_code=st.integers(0, 2))),
        output=maybe(st.builds(TerminalOutput, data=DATA)),
    ),
    st.builds(TerminalOutputChunkEvent, terminal_id=IDS, data=DATA),
    st.builds(
        PlanUpdateEvent,
        plan=st.builds(
            ItemsPlan,
            plan_id=IDS,
            entries=st.lists(
                st.builds(
                    PlanEntry,
                    content=WORDS,
                    priority=st.just(PlanEntryPriority.LOW),
                    status=st.just(PlanEntryStatus.PENDING),
                ),
                max_size=1,
            ),
        )
        | IDS.map(lambda id: Unknown({"type": "tree", "planId": id})),
    ),
    st.builds(PlanRemovedEvent, plan_id=IDS),
    st.builds(
        AvailableCommandsUpdateEvent,
        available_commands=st.lists(st.builds(AvailableCommand, name=IDS, description=WORDS), max_size=2),
    ),
    st.builds(SessionInfoUpdateEvent, title=maybe(WORDS), updated_at=maybe(st.just("2026-01-01T00:00:00Z"))),
    st.builds(UsageUpdateEvent, used=st.integers(0, 9), size=st.integers(9, 99)),
    WORDS.map(lambda word: Unknown({"sessionUpdate": "_vendor", "word": word})),
)
