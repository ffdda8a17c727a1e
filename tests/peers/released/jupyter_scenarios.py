"""What `duologue agent` is tried with by JupyterLab: a chat in headless Chromium, worked in as a user would."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from clients import PATIENCE, WAITING, WAITING_PID, ClientLab

DRIVER = Path(__file__).parent / "programs" / "jupyter_driver.py"

#: What the buttons of our agent's questions say.
ALLOW, REJECT = "Allow", "Reject"

Step = tuple[str, str]


def drive(lab: ClientLab, *steps: Step) -> str:
    """The text of the chat after these steps, of which the last is in a picture beside the recording."""
    order = {
        "home": str(lab.project.parent / "home"),
        "root": str(lab.project),
        "agent": str(lab.agent),
        "chromium": [shutil.which("chromium"), shutil.which("chromedriver")],
        "picture": str(lab.record.with_suffix(".png")),
        "steps": steps,
    }
    file = lab.project.parent / "order.json"
    file.write_text(json.dumps(order), encoding="utf-8")
    # A server and a browser begin and end, too.
    result = lab.run((lab.client.program, DRIVER, file), 3 * PATIENCE)
    assert result.returncode == 0, result.stderr
    chat: str = json.loads(result.stdout)
    return chat


def hello(lab: ClientLab) -> tuple[Step, ...]:
    """A turn of text alone."""
    return (("say", lab.model.hello), ("see", lab.model.answer), ("idle", ""))


def text(lab: ClientLab) -> None:
    """the text of a turn arrives and the turn ends"""
    drive(lab, *hello(lab))
    assert lab.stop_reasons() == ["end_turn"]


def tool_allowed(lab: ClientLab) -> None:
    """a command runs after the client's yes"""
    run = lab.model.run("echo duologue > made.txt")
    drive(lab, ("say", run), ("choose", ALLOW), ("file", str(lab.project / "made.txt")), ("idle", ""))
    assert (lab.project / "made.txt").read_text() == "duologue\n"
    assert len(lab.said("out", "session/request_permission")) == 1


def tool_rejected(lab: ClientLab) -> None:
    """a command does not run after a no"""
    drive(lab, ("say", lab.model.run("echo duologue > made.txt")), ("choose", REJECT), ("idle", ""))
    assert len(lab.said("out", "session/request_permission")) == 1
    assert not (lab.project / "made.txt").exists()
    assert lab.stop_reasons() == ["end_turn"]


def files_of_the_client(lab: ClientLab) -> None:
    """a file is written by the client, which offers that"""
    made = lab.project / "made.txt"
    drive(lab, ("say", lab.model.write("made.txt", "duologue")), ("choose", ALLOW), ("file", str(made)), ("idle", ""))
    assert made.read_text().strip() == "duologue"
    assert [message["params"]["path"] for message in lab.said("out", "fs/write_text_file")] == [str(made)]


def reopened_after_a_restart(lab: ClientLab) -> None:
    """a session goes on with a new agent process"""
    drive(lab, *hello(lab))
    drive(lab, ("see", lab.model.answer), ("say", "[[say and on it goes]]"), ("see", "and on it goes"), ("idle", ""))
    assert len(lab.said("in", "session/load")) == 1
    assert len(lab.said("in", "session/new")) == 1


def cancelled_while_working(lab: ClientLab) -> None:
    """a cancel ends the turn and its command, and the next turn works"""
    waiting = ("say", lab.model.run(f"sh {WAITING}"))
    drive(lab, waiting, ("choose", ALLOW), ("file", str(lab.project / WAITING_PID)), ("stop", ""), *hello(lab))
    assert lab.stop_reasons() == ["cancelled", "end_turn"]


def cancelled_while_asking(lab: ClientLab) -> None:
    """a cancel while the question is open ends the turn"""
    run = lab.model.run("echo duologue > made.txt")
    drive(lab, ("say", run), ("asked", ALLOW), ("stop", ""), *hello(lab))
    assert lab.stop_reasons() == ["cancelled", "end_turn"]
    assert not (lab.project / "made.txt").exists()


def mcp_tool(lab: ClientLab) -> None:
    """the model is told of the tool of an MCP server that the client names"""
    script = Path(__file__).parent / "mcp_echo.py"
    server = {"name": "duologue", "command": sys.executable, "args": [str(script)], "env": []}
    settings = lab.project / ".jupyter" / "mcp_settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"mcp_servers": [server]}), encoding="utf-8")
    drive(lab, *hello(lab))
    assert [len(new["params"]["mcpServers"]) for new in lab.said("in", "session/new")] == [1]
    assert "duologue_echo" in json.dumps([asked["body"] for asked in lab.server.asked])


SCENARIOS = (
    text,
    tool_allowed,
    tool_rejected,
    files_of_the_client,
    reopened_after_a_restart,
    cancelled_while_working,
    cancelled_while_asking,
    mcp_tool,
)
