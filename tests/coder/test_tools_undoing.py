"""Undoing the edits of a turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from coder_kit import Bench, Person, asks, call, make_coder, names_in, outcomes, results, says, take_turn

from duologue.coder.errors import ToolError
from duologue.coder.events import (
    FileDiff,
)
from duologue.coder.journal import Change, Journal
from duologue.coder.limits import CoderLimits


async def test_the_edits_of_the_last_turn_are_undone_with_permission_and_diffs(tmp_path: Path) -> None:
    (tmp_path / "edited").write_bytes(b"\xef\xbb\xbfold\r\n")
    (tmp_path / "gone").write_text("gone\n")
    (tmp_path / "gone").chmod(0o750)
    (tmp_path / "binary").write_bytes(b"\0\1")
    person = Person()
    edits = [
        call("write_file", path="edited", text="mid\n"),
        call("edit_file", path="edited", edits=[{"old": "mid", "new": "new"}]),
        call("write_file", path="sub/created", text="c"),
        call("delete_file", path="gone"),
        call("delete_file", path="binary"),
        call("write_file", path="brief", text="b"),
        call("delete_file", path="brief"),
    ]
    coder = make_coder(
        tmp_path, asks(*edits), says(), says(), asks(call("undo_edits"), call("undo_edits")), says(), ask=person
    )
    await take_turn(coder)
    assert names_in(tmp_path) == ["edited", "sub"]
    await take_turn(coder, "nice")
    events = await take_turn(coder, "undo")
    assert outcomes(events) == ["completed", "failed"]
    assert (tmp_path / "edited").read_bytes() == b"\xef\xbb\xbfold\r\n"
    assert not (tmp_path / "sub" / "created").exists()
    assert (tmp_path / "gone").read_text() == "gone\n"
    assert (tmp_path / "gone").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "binary").read_bytes() == b"\0\1"
    assert not (tmp_path / "brief").exists()
    question = person.questions[-1]
    assert question.title == "Undo changes of 4 files"
    assert question.diffs == (
        FileDiff(tmp_path / "edited", "\ufeffnew\r\n", "\ufeffold\r\n"),
        FileDiff(tmp_path / "sub" / "created", "c", None),
        FileDiff(tmp_path / "gone", None, "gone\n"),
    )
    assert "no edits to undo" in results(coder)[-1].text


def test_a_mode_without_any_right_is_one() -> None:
    journal, path = Journal(1000), Path("/a")
    journal.record(Change(path, path, "old", None, 0))
    journal.record(Change(path, path, None, "new"))
    assert journal.last() == (Change(path, path, "old", "new", 0),)


async def test_undo_goes_back_turn_by_turn(tmp_path: Path) -> None:
    steps = []
    for text in ("one", "two"):
        steps += [asks(call("write_file", path="a", text=text)), says()]
    coder = make_coder(tmp_path, *steps, asks(call("undo_edits")), says(), asks(call("undo_edits")), says())
    for _ in range(3):
        await take_turn(coder)
    assert (tmp_path / "a").read_text() == "one"
    await take_turn(coder)
    assert not (tmp_path / "a").exists()


async def test_undo_refuses_when_any_file_has_changed_since(tmp_path: Path) -> None:
    person = Person()
    edits = asks(call("write_file", path="a", text="a"), call("write_file", path="b", text="b"))
    coder = make_coder(tmp_path, edits, says(), asks(call("undo_edits")), says(), ask=person)
    await take_turn(coder)
    (tmp_path / "b").write_text("mine")
    assert outcomes(await take_turn(coder)) == ["failed"]
    assert "b: the file has changed" in results(coder)[-1].text
    assert (tmp_path / "a").read_text() == "a"
    assert len(person.questions) == 2


async def test_a_refused_undo_can_be_asked_again(tmp_path: Path) -> None:
    person = Person("allow_once", "reject_once", "allow_once")
    steps = asks(call("write_file", path="a", text="a")), asks(call("undo_edits")), asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, *steps, ask=person)
    assert outcomes(await take_turn(coder)) == ["completed", "failed", "completed"]
    assert not (tmp_path / "a").exists()


async def test_a_write_that_failed_does_not_stand_in_the_way_of_undo(tmp_path: Path) -> None:
    (tmp_path / "ro").write_text("x")
    (tmp_path / "ro").chmod(0o444)
    edits = asks(call("write_file", path="a", text="a"), call("write_file", path="ro", text="y"))
    coder = make_coder(tmp_path, edits, says(), asks(call("undo_edits")), says())
    assert outcomes(await take_turn(coder)) == ["completed", "failed"]
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert not (tmp_path / "a").exists()


async def test_what_could_be_undone_does_not_stand_in_the_way_of_the_rest(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("old")
    edits = asks(*(call("write_file", path=name, text="new") for name in "abc"))
    undo = asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, edits, says(), *undo, *undo)
    await take_turn(coder)
    (tmp_path / "b").chmod(0o444)
    assert outcomes(await take_turn(coder)) == ["failed"]
    assert results(coder)[-1].text.endswith("b was not undone: b: the file is read-only. Undone so far: a")
    (tmp_path / "b").chmod(0o644)
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert [(tmp_path / name).read_text() for name in "abc"] == ["old"] * 3


async def test_a_move_that_cannot_be_undone_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("f")
    bench = Bench(tmp_path)
    await bench.run("move_file", path="f", to="g")

    async def refuse(path: Path, data: bytes, mode: int | None = None) -> None:
        raise PermissionError("not allowed")

    monkeypatch.setattr(bench.context.disk, "write_bytes", refuse)
    with pytest.raises(ToolError, match="f was not undone"):
        await bench.run("undo_edits")
    assert (tmp_path / "g").read_text() == "f"
    monkeypatch.undo()
    await bench.run("undo_edits")
    assert (tmp_path / "f").read_text() == "f" and names_in(tmp_path) == ["f"]


async def test_a_turn_whose_edits_came_to_nothing_is_passed_over(tmp_path: Path) -> None:
    first = asks(call("write_file", path="a", text="a"))
    nothing = asks(call("write_file", path="b", text="b"), call("delete_file", path="b"))
    coder = make_coder(tmp_path, first, says(), nothing, says(), asks(call("undo_edits")), says())
    await take_turn(coder)
    await take_turn(coder)
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert names_in(tmp_path) == []


async def test_old_turns_are_forgotten_when_they_grow_too_large(tmp_path: Path) -> None:
    steps = [step for n in range(3) for step in (asks(call("write_file", path="a", text=f"{n}" * 100)), says())]
    undo = [asks(call("undo_edits"), call("undo_edits"), call("undo_edits")), says()]
    coder = make_coder(tmp_path, *steps, *undo, limits=CoderLimits(journal=450))
    for _ in range(3):
        await take_turn(coder)
    assert outcomes(await take_turn(coder)) == ["completed", "completed", "failed"]
    assert (tmp_path / "a").read_text() == "0" * 100
