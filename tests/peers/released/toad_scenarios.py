"""What `duologue agent` is tried with by toad, whose program is worked in without a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from clients import WAITING, WAITING_PID, ClientLab

DRIVER = Path(__file__).parent / "programs" / "toad_driver.py"

Step = tuple[str, str]

#: The keys of its questions; it cancels a turn when Escape is pressed twice.
ALLOW: tuple[Step, ...] = (("asked", ""), ("press", "a"))
REJECT: tuple[Step, ...] = (("asked", ""), ("press", "r"))
CANCEL: tuple[Step, ...] = (("press", "escape"), ("press", "escape"))


def drive(lab: ClientLab, *steps: Step) -> str:
    """The screen after these steps, which is in a picture beside the recording, too."""
    order = {
        "agent": str(lab.agent),
        "root": str(lab.project),
        "picture": str(lab.record.with_suffix(".svg")),
        "steps": steps,
    }
    file = lab.project.parent / "order.json"
    file.write_text(json.dumps(order), encoding="utf-8")
    result = lab.run((lab.client.program, DRIVER, file))
    assert result.returncode == 0, result.stderr
    screen: str = json.loads(result.stdout)
    return screen


def hello(lab: ClientLab) -> tuple[Step, ...]:
    return (("say", lab.model.hello), ("see", lab.model.answer))


def text(lab: ClientLab) -> None:
    """the text of a turn arrives and the turn ends"""
    drive(lab, *hello(lab), *hello(lab))
    assert lab.stop_reasons() == ["end_turn", "end_turn"]


def tool_allowed(lab: ClientLab) -> None:
    """a command runs after the client's yes"""
    made = lab.project / "made.txt"
    drive(lab, ("say", lab.model.run("echo duologue > made.txt")), *ALLOW, ("file", str(made)), *hello(lab))
    assert made.read_text() == "duologue\n"
    assert len(lab.said("out", "session/request_permission")) == 1


def tool_rejected(lab: ClientLab) -> None:
    """a command does not run after a no"""
    drive(lab, ("say", lab.model.run("echo duologue > made.txt")), *REJECT, *hello(lab))
    assert len(lab.said("out", "session/request_permission")) == 1
    assert not (lab.project / "made.txt").exists()
    assert lab.stop_reasons() == ["end_turn", "end_turn"]


def files_of_the_client(lab: ClientLab) -> None:
    """a file is written by the client, which offers that"""
    made = lab.project / "made.txt"
    drive(lab, ("say", lab.model.write("made.txt", "duologue")), *ALLOW, ("file", str(made)), *hello(lab))
    assert made.read_text().strip() == "duologue"
    assert len(lab.said("out", "fs/write_text_file")) == 1


def cancelled_while_working(lab: ClientLab) -> None:
    """a cancel ends the turn and its command, and the next turn works"""
    waiting = ("say", lab.model.run(f"sh {WAITING}"))
    drive(lab, waiting, *ALLOW, ("file", str(lab.project / WAITING_PID)), *CANCEL, *hello(lab))
    assert lab.stop_reasons() == ["cancelled", "end_turn"]


def cancelled_while_asking(lab: ClientLab) -> None:
    """a cancel while the question is open ends the turn"""
    drive(lab, ("say", lab.model.run("echo duologue > made.txt")), ("asked", ""), *CANCEL, *hello(lab))
    assert lab.stop_reasons() == ["cancelled", "end_turn"]
    assert not (lab.project / "made.txt").exists()


SCENARIOS = (
    text,
    tool_allowed,
    tool_rejected,
    files_of_the_client,
    cancelled_while_working,
    cancelled_while_asking,
)
