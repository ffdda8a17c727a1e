"""Clients and agents of different implementations understand each other: one conversation of each sort."""

from pathlib import Path

import pytest
from sdk_peers import Pair, pairs

every_pair = pytest.mark.parametrize("pair", pairs(1, 2))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("old text\n", encoding="utf-8")
    return tmp_path


@every_pair
def test_text_plan_and_questions(pair: Pair, folder: Path) -> None:
    prompts = ["--prompt", "hello", "--prompt", "plan", "--prompt", "ask"]
    seen = pair.run(folder, "--config", "effort=high", *prompts)
    assert seen["protocol"] == pair.client.version
    assert seen["config"]["effort"] == "high"
    hello, plan, ask = seen["turns"]
    assert [turn["stop"] for turn in seen["turns"]] == ["end_turn"] * 3
    assert (hello["text"], hello["thought"]) == ("Hello", "hm")
    assert plan["plan"] == [["look", "completed"], ["leap", "completed"]]
    assert ask["asked"] == [["Who are you?", "form"]]
    assert ask["text"] == "Hello Ada"


@every_pair
def test_an_allowed_edit(pair: Pair, folder: Path) -> None:
    (turn,) = pair.run(folder, "--prompt", "edit a.txt")["turns"]
    assert turn["stop"] == "end_turn"
    assert turn["asked"] == [["Edit a.txt", ["allow_once", "reject_once"]]]
    (call,) = turn["tools"].values()
    assert (call["title"], call["kind"], call["status"]) == ("Edit a.txt", "edit", "completed")
    assert (call["content"], call["paths"]) == (["diff"], [str(folder / "a.txt")])
    assert turn["text"] == "edited"
    assert (folder / "a.txt").read_text(encoding="utf-8") == "new text\n"


@every_pair
@pytest.mark.parametrize(("answer", "stop"), [("reject", "end_turn"), ("cancel", "cancelled")])
def test_a_refused_edit(pair: Pair, folder: Path, answer: str, stop: str) -> None:
    (turn,) = pair.run(folder, "--answer", answer, "--prompt", "edit a.txt")["turns"]
    assert turn["stop"] == stop
    (call,) = turn["tools"].values()
    assert call["status"] in {"failed", "cancelled"}
    # A cancelled question may end the turn at once, before the agent says anything.
    assert turn["text"] == "refused" or (answer, turn["text"]) == ("cancel", "")
    assert (folder / "a.txt").read_text(encoding="utf-8") == "old text\n"


@every_pair
def test_a_cancelled_turn(pair: Pair, folder: Path) -> None:
    (turn,) = pair.run(folder, "--cancel", "--prompt", "wait")["turns"]
    assert (turn["stop"], turn["text"]) == ("cancelled", "waiting")


@pytest.mark.parametrize("pair", pairs(1))
def test_the_modes_of_version_1(pair: Pair, folder: Path) -> None:
    seen = pair.run(folder, "--mode", "code", "--prompt", "hello")
    assert seen["modes"] == ["ask", "code"]
    assert seen["turns"][0]["text"] == "Hello"


@pytest.mark.parametrize("pair", pairs(1))
def test_the_files_and_terminals_of_version_1(pair: Pair, folder: Path) -> None:
    seen = pair.run(folder, "--prompt", "read a.txt", "--prompt", "run echo hi")
    read, run = seen["turns"]
    assert read["text"] == "old text\n"
    assert run["text"] == "0: hi\n"
    (call,) = run["tools"].values()
    assert (call["kind"], call["status"], call["content"]) == ("execute", "completed", ["terminal"])
