"""What `duologue agent` is tried with by the clients of PyPI: acp-client, and acplint, which speaks wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from clients import WAITING, ClientLab

DRIVER = Path(__file__).parent / "programs" / "acp_client_driver.py"


def drive(lab: ClientLab, *ask: str, **told: Any) -> dict[str, Any]:
    """What the driver tells of a session with these prompts."""
    order = {"command": [str(lab.agent)], "cwd": str(lab.project), "ask": ask, **told}
    file = lab.project.parent / "order.json"
    file.write_text(json.dumps(order), encoding="utf-8")
    result = lab.run((lab.client.program, DRIVER, file))
    assert result.returncode == 0, result
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def text(lab: ClientLab) -> None:
    """the text of a turn arrives and the turn ends"""
    (reply,) = drive(lab, lab.model.hello)["replies"]
    assert lab.model.answer in reply


def tool_allowed(lab: ClientLab) -> None:
    """a command runs after the client's yes"""
    report = drive(lab, lab.model.run("echo duologue > made.txt"), permission="allow")
    assert len(report["asked"]) == 1
    assert (lab.project / "made.txt").read_text() == "duologue\n"


def tool_rejected(lab: ClientLab) -> None:
    """a command does not run after a no"""
    drive(lab, lab.model.run("echo duologue > made.txt"))
    assert len(lab.said("out", "session/request_permission")) == 1
    assert not (lab.project / "made.txt").exists()


def files_of_the_disk(lab: ClientLab) -> None:
    """a file is written by the agent where the client does not offer it"""
    drive(lab, lab.model.write("made.txt", "duologue"), permission="allow")
    assert (lab.project / "made.txt").read_text().strip() == "duologue"


def reopened_after_a_restart(lab: ClientLab) -> None:
    """a session goes on with a new agent process"""
    first = drive(lab, lab.model.hello)
    again = drive(lab, lab.model.hello, session=first["session"])
    assert lab.model.answer in again["replies"][0]
    assert len(lab.said("in", "session/load")) == 1
    assert again["session"] == first["session"]
    assert "user_message_chunk" in again["updates"]


def cancelled_while_working(lab: ClientLab) -> None:
    """a cancel ends the turn and its command, and the next turn works"""
    report = drive(lab, lab.model.run(f"sh {WAITING}"), lab.model.hello, permission="allow", cancel="working")
    assert lab.stop_reasons() == ["cancelled", "end_turn"]
    assert lab.model.answer in report["replies"][1]


def cancelled_while_asking(lab: ClientLab) -> None:
    """a cancel while the question is open ends the turn; the question is never answered"""
    report = drive(lab, lab.model.run("echo duologue > made.txt"), lab.model.hello, permission="wait", cancel="asking")
    assert lab.stop_reasons() == ["cancelled", "end_turn"]
    assert lab.model.answer in report["replies"][1]
    assert not (lab.project / "made.txt").exists()


def stopped_while_working(lab: ClientLab) -> None:
    """SIGTERM in the middle of a turn ends the agent and its command"""
    lab.abrupt = True
    report = drive(lab, lab.model.run(f"sh {WAITING}"), permission="allow", stop=True)
    assert report["error"]


def ten_megabytes(lab: ClientLab) -> None:
    """a prompt of 10 MB does no harm"""
    report = drive(lab, "x" * 10_000_000 + f"\n{lab.model.hello}", lab.model.hello)
    assert lab.model.answer in report["replies"][1]


def wrong_shapes(lab: ClientLab) -> None:
    """a client that says everything wrongly gets an error for each request, and the agent goes on"""
    words = ("--agent", lab.agent, "--cwd", lab.project, "--output", "json")
    lab.run((lab.client.program, *words))
    asked = [line["message"] for line in lab.lines() if line.get("direction") == "in" and "id" in line["message"]]
    answers = [line["message"] for line in lab.lines() if line.get("direction") == "out"]
    assert len(asked) > 40
    versions = {message["params"]["protocolVersion"] for message in lab.said("in", "initialize")}
    assert versions == {"1"}, "it says the version as text"
    codes = {message["error"]["code"] for message in answers}
    assert codes == {-32602, -32600}
    assert lab.results() == []


ACP_CLIENT_SCENARIOS = (
    text,
    tool_allowed,
    tool_rejected,
    files_of_the_disk,
    reopened_after_a_restart,
    cancelled_while_working,
    cancelled_while_asking,
    stopped_while_working,
    ten_megabytes,
)

ACPLINT_SCENARIOS = (wrong_shapes,)
