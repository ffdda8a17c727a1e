"""Deleting and moving: a file goes as it is, and comes back as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from coder_kit import Bench, asks, call, make_coder, names_in, outcomes, says, take_turn

from duologue.coder.errors import Stale, ToolError
from duologue.coder.events import FileDiff, Location
from duologue.local.errors import LocalError
from duologue.local.rules import Write


def put(root: Path, data: bytes, name: str = "f.txt") -> Path:
    (root / name).write_bytes(data)
    return root / name


async def test_delete_shows_what_goes_and_deletes_only_that(tmp_path: Path) -> None:
    file = put(tmp_path, b"bye\n")
    plan = await Bench(tmp_path).plan("delete_file", path="f.txt")
    assert plan.diffs == (FileDiff(file, "bye\n", None),)
    assert plan.subject == Write((file,), "delete")
    await plan.perform("c1")
    assert not file.exists()


async def test_delete_refuses_links_folders_and_changed_files(tmp_path: Path) -> None:
    put(tmp_path, b"x")
    (tmp_path / "link").symlink_to("f.txt")
    bench = Bench(tmp_path)
    for path, reason in (("link", "a link to f.txt"), ("none", "no such file"), (".", "a folder")):
        with pytest.raises((ToolError, LocalError), match=reason):
            await bench.plan("delete_file", path=path)
    plan = await bench.plan("delete_file", path="f.txt")
    put(tmp_path, b"y")
    with pytest.raises(Stale):
        await plan.perform("c1")
    assert (tmp_path / "f.txt").exists()


async def test_a_binary_file_is_deleted_without_a_diff(tmp_path: Path) -> None:
    file = put(tmp_path, b"\0\1")
    plan = await Bench(tmp_path).plan("delete_file", path="f.txt")
    assert not plan.diffs
    assert plan.locations == (Location(file),)
    await plan.perform("c1")
    assert not file.exists()


# --- Moving ----------------------------------------------------------------------------------------------------------

CONTENTS = [b"#!/bin/sh\necho\n", b"\xef\xbb\xbfone\r\ntwo\n\x0cthree", b"\0\1\xff", b"caf\xe9\n", b""]


@pytest.mark.parametrize("data", CONTENTS)
async def test_a_moved_file_keeps_its_bytes_and_its_mode_and_comes_back(tmp_path: Path, data: bytes) -> None:
    put(tmp_path, data, "run.sh").chmod(0o751)
    steps = asks(call("move_file", path="run.sh", to="sub/go.sh")), says(), asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, *steps)
    assert outcomes(await take_turn(coder)) == ["completed"]
    moved = tmp_path / "sub" / "go.sh"
    assert (moved.read_bytes(), moved.stat().st_mode & 0o777) == (data, 0o751)
    assert not (tmp_path / "run.sh").exists()
    assert outcomes(await take_turn(coder)) == ["completed"]
    back = tmp_path / "run.sh"
    assert (back.read_bytes(), back.stat().st_mode & 0o777) == (data, 0o751)
    assert not moved.exists()


async def test_a_move_is_shown_as_both_of_its_changes(tmp_path: Path) -> None:
    file = put(tmp_path, b"a\n")
    plan = await Bench(tmp_path).plan("move_file", path="f.txt", to="g.txt")
    assert plan.title == "Move f.txt to g.txt"
    assert plan.subject == Write((tmp_path / "g.txt", file), "delete")
    assert plan.diffs == (FileDiff(tmp_path / "g.txt", None, "a\n"), FileDiff(file, "a\n", None))


@pytest.mark.parametrize("to", ["g.txt", "./f.txt", "sub/../f.txt", "sub", "link", "pipe", "../out.txt", "f.txt/x"])
async def test_nothing_is_overwritten_by_a_move(tmp_path: Path, to: str) -> None:
    put(tmp_path, b"mine\n"), put(tmp_path, b"other\n", "g.txt")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("g.txt")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((ToolError, LocalError)):
        await Bench(tmp_path).plan("move_file", path="f.txt", to=to)
    assert (tmp_path / "f.txt").read_bytes() == b"mine\n"
    assert (tmp_path / "g.txt").read_bytes() == b"other\n"


async def test_a_move_is_not_made_once_its_target_or_its_file_has_changed(tmp_path: Path) -> None:
    put(tmp_path, b"a\n")
    bench = Bench(tmp_path)
    plan = await bench.plan("move_file", path="f.txt", to="g.txt")
    put(tmp_path, b"came\n", "g.txt")
    with pytest.raises(Stale):
        await plan.perform("c1")
    (tmp_path / "g.txt").unlink()
    put(tmp_path, b"changed\n")
    with pytest.raises(Stale):
        await plan.perform("c2")
    assert names_in(tmp_path) == ["f.txt"]


async def test_a_file_that_cannot_be_removed_is_not_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, b"a\n")
    bench = Bench(tmp_path)
    delete = bench.context.disk.delete

    async def refuse(path: Path) -> None:
        if path.name == "f.txt":
            raise PermissionError("not allowed")
        await delete(path)

    monkeypatch.setattr(bench.context.disk, "delete", refuse)
    with pytest.raises(PermissionError):
        await bench.run("move_file", path="f.txt", to="g.txt")
    assert names_in(tmp_path) == ["f.txt"]
    assert bench.context.journal.last() == ()


# --- Taking back -----------------------------------------------------------------------------------------------------


async def test_a_file_that_was_deleted_and_made_anew_gets_its_mode_back(tmp_path: Path) -> None:
    put(tmp_path, b"old\n").chmod(0o750)
    edits = asks(call("delete_file", path="f.txt"), call("write_file", path="f.txt", text="new\n"))
    coder = make_coder(tmp_path, edits, says(), asks(call("undo_edits")), says())
    assert outcomes(await take_turn(coder)) == ["completed", "completed"]
    assert outcomes(await take_turn(coder)) == ["completed"]
    file = tmp_path / "f.txt"
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"old\n", 0o750)


class HidingMarks:
    """An editor that shows no byte order mark, and has text that was not saved."""

    async def read_text(self, path: Path) -> str:
        return "unsaved\n"

    async def write_text(self, path: Path, text: str) -> None:
        raise AssertionError("a file that goes or comes is a matter of the disk")


async def test_what_is_deleted_is_the_file_on_the_disk_whatever_an_editor_shows(tmp_path: Path) -> None:
    file = put(tmp_path, b"\xef\xbb\xbfsaved\r\n")
    files = HidingMarks()
    steps = asks(call("delete_file", path="f.txt")), says(), asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, *steps, files=files)
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert not file.exists()
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert file.read_bytes() == b"\xef\xbb\xbfsaved\r\n"
