"""Requests that change files: what is not listed is not lost, and lines are those of an editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from offline_kit import Session

from duologue.coder.models.offline.scripts.hunks import edits_between


@pytest.mark.parametrize(
    "request_", ["create file .env", "create file ./.env", "move f.txt to .env", "move f.txt to ./f.txt"]
)
async def test_a_file_that_is_not_listed_is_not_overwritten(tmp_path: Path, request_: str) -> None:
    session = Session(tmp_path, {".gitignore": ".env\n", ".env": "KEY=1\n", "f.txt": "mine\n"})
    turn = await session.say(request_)
    assert "exists already" in turn.said
    assert session.questions == []
    assert (session.read(".env"), session.read("f.txt")) == ("KEY=1\n", "mine\n")


async def test_a_text_is_added_to_a_file_that_is_ignored(tmp_path: Path) -> None:
    session = Session(tmp_path, {".gitignore": ".env\n", ".env": "KEY=1\n"})
    turn = await session.say('append "OTHER=2" to .env')
    assert "Added 1 line(s) to .env" in turn.said
    assert session.read(".env") == "KEY=1\nOTHER=2\n"


async def test_a_project_of_more_files_than_one_list_is_known_as_a_whole(tmp_path: Path) -> None:
    session = Session(tmp_path, {**{f"a/f{number:04}.txt": "" for number in range(2001)}, "z.txt": "old\n"})
    assert "2002 files" in (await session.say("list files")).said
    await session.say('append "b" to z.txt')
    assert session.read("z.txt") == "old\nb\n"
    await session.say("replace old by new in z.txt")
    assert session.read("z.txt") == "new\nb\n"


async def test_a_change_reaches_each_file_of_a_large_project(tmp_path: Path) -> None:
    files = {f"a/f{number:04}.txt": "" for number in range(1001)}
    files |= {f"b{number % 7}/f{number}.txt": "old\n" for number in range(210)}
    session = Session(tmp_path, files)
    turn = await session.say("replace old by new")
    assert "210 places changed" in turn.said
    assert not any("old" in session.read(path) for path in session.files())


async def test_a_list_that_was_cut_before_its_first_file_is_no_empty_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(*_: object) -> tuple[list[str], bool]:
        return [], True

    monkeypatch.setattr("duologue.coder.tools.listing._list", cut)
    said = (await Session(tmp_path, {"a.txt": "a\n"}).say("what does this project do?")).said
    assert "takes too long" in said


async def test_a_project_of_too_many_files_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.coder.models.offline.turn.MOST_LISTS", 1)
    session = Session(tmp_path, {f"f{number:04}.txt": "" for number in range(1001)})
    turn = await session.say("show zz.txt")
    assert "more than 1000 files" in turn.said and "no file" not in turn.said


async def test_a_refused_addition_to_a_new_file_reads_nothing_more(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.answers["edit"] = "reject_once"
    turn = await session.say('append "b" to z.txt')
    assert turn.tools == ["list_files", "write_file"]
    assert session.files() == set()


async def test_a_moved_file_keeps_what_it_is(tmp_path: Path) -> None:
    session = Session(tmp_path)
    file = tmp_path / "run.sh"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    file.chmod(0o755)
    await session.say("move run.sh to go.sh")
    moved = tmp_path / "go.sh"
    assert (moved.read_bytes(), moved.stat().st_mode & 0o777) == (b"\xef\xbb\xbfone\r\ntwo", 0o755)
    assert len(session.questions) == 1
    await session.say("undo")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"\xef\xbb\xbfone\r\ntwo", 0o755)
    assert session.files() == {"run.sh"}


@pytest.mark.parametrize("request_", ["delete /", "delete ./", "delete build/", "delete pp.io"])
async def test_no_file_is_deleted_for_what_names_a_folder_or_half_of_one(tmp_path: Path, request_: str) -> None:
    files = {".gitignore": "x\n", "build.py": "", "app/io.py": ""}
    session = Session(tmp_path, files)
    await session.say(request_)
    assert session.questions == []
    assert session.files() == set(files)


LINES = "one\n\x0c\ntwo\u2028still two\nthree\n"


async def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": LINES})
    await session.say('insert "new" after line 3 in a.txt')
    assert session.read("a.txt") == LINES.replace("three", "new\nthree")
    assert "lines 5-5 of 5" in (await session.say("show lines 5-9 of a.txt")).said
    await session.say('remove "still" from a.txt')
    assert session.read("a.txt") == LINES.replace("three", "new\nthree").replace("still", "")


@pytest.mark.parametrize(
    ("request_", "after"),
    [
        ('add "new" at the top of a.txt', "new\none\ntwo"),
        ('insert "new" after line 1 in a.txt', "one\nnew\ntwo"),
        ('insert "new" after line 2 in a.txt', "one\ntwo\nnew\n"),
        ('append "new" to a.txt', "one\ntwo\nnew\n"),
    ],
)
async def test_an_insertion_leaves_the_end_of_a_file_alone(tmp_path: Path, request_: str, after: str) -> None:
    session = Session(tmp_path, {"a.txt": "one\ntwo"})
    await session.say(request_)
    assert session.read("a.txt") == after


async def test_lines_that_overlap_themselves_are_told_apart(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "fo\nfo\nfo\nend\nfo\n"})
    await session.say('add "new" at the top of a.txt')
    assert session.read("a.txt") == "new\nfo\nfo\nfo\nend\nfo\n"


def test_many_equal_lines_are_compared_at_once() -> None:
    old = "same\n" * 20_000
    assert edits_between(old, old + "new\n") == [{"old": old, "new": old + "new\n"}]


async def test_white_space_can_be_replaced(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "a  b\n", "b.txt": "a b\n"})
    await session.say('replace "  " with "\t"')
    assert (session.read("a.txt"), session.read("b.txt")) == ("a\tb\n", "a b\n")


async def test_numbers_of_any_length_and_any_expression_are_answered(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "a\n"})
    assert "lines 1-1 of 1" in (await session.say(f"show the first {'9' * 5000} lines of a.txt")).said
    assert "there is no line" in (await session.say(f'insert "x" before line {"9" * 5000} in a.txt')).said
    assert "nowhere" in (await session.say("find regex [[]x")).said
    assert "not a regular expression" in (await session.say(f"find regex x{{{'9' * 30}}}")).said
