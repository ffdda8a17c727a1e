"""What `duologue agent` is tried with by acpx."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from clients import OFFLINE, SERVED, WAITING, ClientLab
from scenarios import PIXEL, Skip

#: How acpx ends a turn in which it refused something or left it open, and one that it timed out. A turn that ended as
#: cancelled is a good end for it; 130 would mean that the agent was too slow to say so.
REFUSED, TIMED_OUT = 5, 3

Words = tuple[str | Path, ...]


def command(lab: ClientLab, *words: str | Path, ttl: int = 60) -> Words:
    """acpx with the agent. A process of it that keeps a named session ends `ttl` seconds after the last prompt."""
    return (lab.client.program, "--agent", lab.agent, "--ttl", str(ttl), *words)


def acpx(lab: ClientLab, *words: str | Path, ttl: int = 60) -> subprocess.CompletedProcess[str]:
    return lab.run(command(lab, *words, ttl=ttl))


def good(result: subprocess.CompletedProcess[str]) -> str:
    """What a run that went well printed."""
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result.stdout


def text(lab: ClientLab) -> None:
    """the text of a turn arrives and the turn ends"""
    assert lab.model.answer in good(acpx(lab, "exec", lab.model.hello))
    assert lab.stop_reasons() == ["end_turn"]


def json_output(lab: ClientLab) -> None:
    """its JSON output holds the same, line by line"""
    out = good(acpx(lab, "--format", "json", "--json-strict", "exec", lab.model.hello))
    messages = [json.loads(line) for line in out.splitlines()]
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    chunks = [update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    assert lab.model.answer in "".join(chunks)
    assert messages[-1]["result"]["stopReason"] == "end_turn"


def tool_allowed(lab: ClientLab) -> None:
    """a command runs after the client's yes"""
    good(acpx(lab, "--approve-all", "exec", lab.model.run("echo duologue > made.txt")))
    assert (lab.project / "made.txt").read_text() == "duologue\n"
    assert len(lab.said("out", "session/request_permission")) == 1


def tool_rejected(lab: ClientLab) -> None:
    """a command does not run after a no"""
    result = acpx(lab, "--deny-all", "exec", lab.model.run("echo duologue > made.txt"))
    assert result.returncode == REFUSED, result
    assert not (lab.project / "made.txt").exists()
    assert lab.stop_reasons() == ["end_turn"]


def nobody_to_ask(lab: ClientLab) -> None:
    """a command does not run when the client can ask nobody"""
    result = acpx(lab, "--non-interactive-permissions", "fail", "exec", lab.model.run("echo duologue > made.txt"))
    assert result.returncode == REFUSED, result
    assert not (lab.project / "made.txt").exists()


def files_of_the_client(lab: ClientLab) -> None:
    """a file is written by the client, which offers that"""
    good(acpx(lab, "--approve-all", "exec", lab.model.write("made.txt", "duologue")))
    assert (lab.project / "made.txt").read_text().strip() == "duologue"
    assert [message["params"]["path"] for message in lab.said("out", "fs/write_text_file")] == [
        str(lab.project / "made.txt")
    ]


def files_of_the_disk(lab: ClientLab) -> None:
    """a file is written by the agent where the client does not offer it"""
    good(acpx(lab, "--no-fs", "--approve-all", "exec", lab.model.write("made.txt", "duologue")))
    assert (lab.project / "made.txt").read_text().strip() == "duologue"
    assert lab.said("out", "fs/write_text_file") == []


def named_session(lab: ClientLab) -> None:
    """two prompts of two processes go to one named session, which is closed"""
    good(acpx(lab, "sessions", "new", "--name", "work"))
    good(acpx(lab, "prompt", "-s", "work", lab.model.hello))
    assert lab.model.answer in good(acpx(lab, "prompt", "-s", "work", lab.model.hello))
    assert len({prompt["params"]["sessionId"] for prompt in lab.said("in", "session/prompt")}) == 1
    if lab.model == SERVED:
        assert json.dumps(lab.server.asked[-1]["body"]).count(lab.model.hello) == 2, "the model is told of both"
    good(acpx(lab, "sessions", "close", "work"))
    assert len(lab.said("in", "session/close")) == 1


def reopened_after_a_restart(lab: ClientLab) -> None:
    """a session goes on with a new agent process"""
    good(acpx(lab, "sessions", "new", "--name", "work"))
    good(acpx(lab, "prompt", "-s", "work", lab.model.hello, ttl=1))
    lab.until(lambda: not lab.agents(), "the client ends its agent after a second")
    again = good(acpx(lab, "prompt", "-s", "work", lab.model.hello, ttl=1))
    assert lab.model.answer in again
    asked = [*lab.said("in", "session/resume"), *lab.said("in", "session/load")]
    assert asked
    assert len(lab.said("in", "session/new")) == 1


def cancelled_while_working(lab: ClientLab) -> None:
    """a cancel ends the turn and its command, and the next turn works"""
    good(acpx(lab, "sessions", "new", "--name", "work"))
    prompting = lab.start(command(lab, "--approve-all", "prompt", "-s", "work", lab.model.run(f"sh {WAITING}")))
    lab.waits()
    good(acpx(lab, "cancel", "-s", "work"))
    lab.end(prompting)
    assert lab.stop_reasons() == ["cancelled"]
    assert lab.model.answer in good(acpx(lab, "prompt", "-s", "work", lab.model.hello))
    good(acpx(lab, "sessions", "close", "work"))


def cancelled_while_asking(lab: ClientLab) -> None:
    """a cancel while the question is open ends the turn"""
    person, terminal = pty.openpty()
    turn = command(lab, "exec", lab.model.run("echo duologue > made.txt"))
    process = lab.start(turn, stdin=terminal, stdout=terminal, stderr=terminal)
    try:
        lab.until(lambda: lab.said("out", "session/request_permission"), "the question")
        process.send_signal(signal.SIGINT)
        result = lab.end(process)
        assert result.returncode == REFUSED, result
    finally:
        for end in (person, terminal):
            os.close(end)
    assert lab.stop_reasons() == ["cancelled"]
    assert not (lab.project / "made.txt").exists()


def mode_changed(lab: ClientLab) -> None:
    """set-mode holds in the next turn: what changes files is refused"""
    good(acpx(lab, "sessions", "new", "--name", "work"))
    good(acpx(lab, "set-mode", "-s", "work", "read_only"))
    good(acpx(lab, "--approve-all", "prompt", "-s", "work", lab.model.run("echo duologue > made.txt")))
    assert not (lab.project / "made.txt").exists()
    good(acpx(lab, "set-mode", "-s", "work", "ask"))
    good(acpx(lab, "--approve-all", "prompt", "-s", "work", lab.model.run("echo duologue > made.txt")))
    assert (lab.project / "made.txt").exists()
    good(acpx(lab, "sessions", "close", "work"))


def model_changed(lab: ClientLab) -> None:
    """the model is another one from the next turn on"""
    good(acpx(lab, "sessions", "new", "--name", "work"))
    good(acpx(lab, "prompt", "-s", "work", lab.model.hello))
    good(acpx(lab, "set", "-s", "work", "model", OFFLINE.name))
    assert OFFLINE.answer in good(acpx(lab, "prompt", "-s", "work", OFFLINE.hello))
    good(acpx(lab, "sessions", "close", "work"))


def interrupted(lab: ClientLab) -> None:
    """Ctrl-C ends the turn as cancelled, and the agent and its command"""
    process = lab.start(command(lab, "--approve-all", "exec", lab.model.run(f"sh {WAITING}")))
    lab.waits()
    process.send_signal(signal.SIGINT)
    assert "cancelled" in good(lab.end(process))
    assert len(lab.said("in", "session/cancel")) == 1
    assert lab.stop_reasons() == ["cancelled"]


def timed_out(lab: ClientLab) -> None:
    """its --timeout ends the agent and its command"""
    lab.abrupt = True
    result = acpx(lab, "--approve-all", "--timeout", "8", "exec", lab.model.run(f"sh {WAITING}"))
    assert result.returncode == TIMED_OUT, result


def killed_while_working(lab: ClientLab) -> None:
    """the client's death ends the agent and its command"""
    lab.abrupt = True
    process = lab.start(command(lab, "--approve-all", "exec", lab.model.run(f"sh {WAITING}")))
    lab.waits()
    process.kill()
    lab.end(process)


def image(lab: ClientLab) -> None:
    """an image reaches the model"""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": lab.model.hello}]
    blocks.append({"type": "image", "mimeType": "image/png", "data": PIXEL})
    file = lab.project.parent / "prompt.json"
    file.write_text(json.dumps(blocks), encoding="utf-8")
    result = acpx(lab, "exec", "-f", file)
    if lab.model == OFFLINE:
        assert "promptCapabilities.image" in result.stderr, result
        raise Skip("the offline model takes no images, and the client sends none")
    good(result)
    assert PIXEL in json.dumps(lab.server.asked[-1]["body"])


def mcp_tool(lab: ClientLab) -> None:
    """the model is told of the tool of an MCP server that the client names"""
    script = Path(__file__).parent / "mcp_echo.py"
    server = {"name": "duologue", "type": "stdio", "command": sys.executable, "args": [str(script)], "env": []}
    file = lab.project.parent / "mcp.json"
    file.write_text(json.dumps({"mcpServers": [server]}), encoding="utf-8")
    if lab.model == OFFLINE:
        request = 'use the tool duologue_echo with {"text": "told by the server"}'
        assert "told by the server" in good(acpx(lab, "--approve-all", "--mcp-config", file, "exec", request))
        return
    assert lab.model.answer in good(acpx(lab, "--mcp-config", file, "exec", lab.model.hello))
    assert "duologue_echo" in json.dumps([asked["body"] for asked in lab.server.asked])


def failing_model(lab: ClientLab) -> None:
    """the model's failure is told, and the next turn works"""
    if lab.model == OFFLINE:
        raise Skip("the offline model does not fail")
    good(acpx(lab, "sessions", "new", "--name", "work"))
    failed = acpx(lab, "prompt", "-s", "work", "[[fail 400]]")
    assert failed.returncode == 1
    assert "scripted failure" in failed.stdout + failed.stderr
    assert lab.model.answer in good(acpx(lab, "prompt", "-s", "work", lab.model.hello))
    good(acpx(lab, "sessions", "close", "work"))


def ten_megabytes(lab: ClientLab) -> None:
    """a prompt of 10 MB does no harm"""
    file = lab.project.parent / "long.txt"
    file.write_text("x" * 10_000_000 + f"\n{lab.model.hello}\n", encoding="utf-8")
    good(acpx(lab, "exec", "-f", file))
    assert lab.stop_reasons() == ["end_turn"]


SCENARIOS = (
    text,
    json_output,
    tool_allowed,
    tool_rejected,
    nobody_to_ask,
    files_of_the_client,
    files_of_the_disk,
    named_session,
    reopened_after_a_restart,
    cancelled_while_working,
    cancelled_while_asking,
    mode_changed,
    model_changed,
    interrupted,
    timed_out,
    killed_while_working,
    image,
    mcp_tool,
    failing_model,
    ten_megabytes,
)
