"""What stands in a transcript shows itself in a line: enough to tell it by, and nothing that no log should hold."""

from __future__ import annotations

from base64 import b64encode

import pytest

from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import AgentMessageChunk, TerminalUpdateEvent, ToolCallUpdateEvent
from duologue.session import Transcript


def test_a_message() -> None:
    transcript = Transcript()
    for piece in ("Hello, ", "world\n"):
        transcript.apply(AgentMessageChunk(message_id="m1", content=TextBlock(text=piece)))
    assert repr(transcript.messages) == r"[Message(agent, 'm1', 'Hello, world\n')]"


def test_a_tool_call() -> None:
    transcript = Transcript()
    transcript.apply(ToolCallUpdateEvent(tool_call_id="c1", title="Look"))
    assert repr(transcript.tool_calls["c1"]) == "ToolCallState('c1', title='Look', kind=UNSET, status=UNSET, 0 items)"
    text = ToolContent(content=TextBlock(text="a secret"))
    update = ToolCallUpdateEvent(
        tool_call_id="c1",
        kind=ToolKind.READ,
        status=ToolCallStatus.COMPLETED,
        content=[text],
        raw_input={"key": "a secret"},
        raw_output="a secret",
    )
    transcript.apply(update)
    assert repr(transcript.tool_calls["c1"]) == (
        "ToolCallState('c1', title='Look', kind='read', status='completed', 1 items)"
    )


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (None, "running"),
        (TerminalExitStatus(exit_code=0), "exit code 0"),
        (TerminalExitStatus(signal="SIGTERM"), "signal 'SIGTERM'"),
        (TerminalExitStatus(), "signal None"),
    ],
)
def test_a_terminal(status: TerminalExitStatus | None, end: str) -> None:
    transcript = Transcript()
    output = TerminalOutput(data=b64encode(b"secret").decode())
    update = TerminalUpdateEvent(terminal_id="t1", command="echo secret", output=output, exit_status=status)
    transcript.apply(update)
    assert repr(transcript.terminals["t1"]) == f"TerminalState('t1', 6 bytes, {end})"


def test_none_is_long() -> None:
    transcript, long = Transcript(), "\x1b" * 100_000
    transcript.apply(AgentMessageChunk(message_id=long, content=TextBlock(text=long)))
    transcript.apply(ToolCallUpdateEvent(tool_call_id=long, title=long))
    transcript.apply(TerminalUpdateEvent(terminal_id=long, exit_status=TerminalExitStatus(signal=long)))
    for shown in (*transcript.entries, *transcript.terminals.values()):
        assert len(repr(shown)) < 600
        assert "\x1b" not in repr(shown)
