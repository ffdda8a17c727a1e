"""Editing and writing: exact, all or nothing, and nothing else in the file changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from coder_kit import Bench, diff_bytes
from hypothesis import given
from hypothesis import strategies as st

from duologue.coder import texts
from duologue.coder.errors import BadArguments, Stale, ToolError
from duologue.coder.events import FileDiff, Location
from duologue.coder.limits import CoderLimits
from duologue.local.errors import LocalError, NotText, TooLarge
from duologue.local.rules import Write

BOM = b"\xef\xbb\xbf"


def put(root: Path, data: bytes, name: str = "f.txt") -> Path:
    (root / name).write_bytes(data)
    return root / name


def edit(old: str, new: str, **more: bool) -> dict[str, object]:
    return {"old": old, "new": new, **more}


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (BOM + b"a\r\nb\r\n", "b", "c", BOM + b"a\r\nc\r\n"),
        (b"a\r\nb\r\nc", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\r\nc"),
        (b"a\r\nb\r\nc", "a\r\nb\r\n", "z\r\n", b"z\r\nc"),
        (b"a\nb\r\nc\nd\r\n", "b", "B", b"a\nB\r\nc\nd\r\n"),
        (b"a\nb\r\nc\nd\r\n", "b\nc\n", "b\nnew\nc\n", b"a\nb\r\nnew\nc\nd\r\n"),
        (b"}\nA\r\n}\r\n", "}\nA\n", "", b"}\r\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb", "b", "b\n", b"a\nb\n"),
        ("é→😀\r\nx".encode(), "x", "y", "é→😀\r\ny".encode()),
    ],
)
async def test_an_edit_changes_what_was_named_and_no_other_byte(
    tmp_path: Path, data: bytes, old: str, new: str, result: bytes
) -> None:
    file = put(tmp_path, data)
    bench = Bench(tmp_path)
    plan = await bench.plan("edit_file", path="f.txt", edits=[edit(old, new)])
    assert file.read_bytes() == data
    await plan.perform("c1")
    assert file.read_bytes() == result == diff_bytes(plan.diffs[0])


@pytest.mark.parametrize(
    ("original", "new", "result"),
    [
        ("a\r\nb\nc", "A\nB\nC", "A\r\nB\nC"),
        ("a\r\nb\nc\r\nd\n", "a\nB\nC\nd\n", "a\r\nB\nC\r\nd\n"),
        ("a\nb\r\nc\nd\n", "b\nX\nd\n", "b\r\nX\nd\n"),
    ],
)
def test_a_line_that_was_changed_in_its_place_keeps_its_ending(original: str, new: str, result: str) -> None:
    assert texts.restyle(original, new) == result


async def test_an_edit_is_planned_with_absolute_paths_the_line_and_the_diff(tmp_path: Path) -> None:
    file = put(tmp_path, b"a\nb\nc\n")
    plan = await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("c", "C")])
    assert plan.title == "Edit f.txt"
    assert plan.locations == (Location(file, 3),)
    assert plan.diffs == (FileDiff(file, "a\nb\nc\n", "a\nb\nC\n"),)
    assert plan.subject == Write((file,))


async def test_an_ambiguous_text_is_refused_with_count_and_lines(tmp_path: Path) -> None:
    put(tmp_path, b"x\nfoo\ny\nfoo\n")
    with pytest.raises(ToolError, match=r"occurs 2 times, on lines 2, 4"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("foo", "bar")])


async def test_overlapping_places_count_as_several(tmp_path: Path) -> None:
    put(tmp_path, b"aaa")
    with pytest.raises(ToolError, match="occurs 2 times"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("aa", "b")])


async def test_a_text_that_occurs_everywhere_is_refused_quickly(tmp_path: Path) -> None:
    put(tmp_path, b"a" * 1_000_000)
    for everywhere in (True, False):
        with pytest.raises(ToolError, match="more than"):
            await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("a", "b", all=everywhere)])


async def test_all_replaces_each_place(tmp_path: Path) -> None:
    file = put(tmp_path, b"foo\r\nfoo foo\r\n")
    outcome = await Bench(tmp_path).run("edit_file", path="f.txt", edits=[edit("foo", "ba", all=True)])
    assert outcome.data == {"path": "f.txt", "replacements": 3}
    assert file.read_bytes() == b"ba\r\nba ba\r\n"


async def test_a_text_that_is_not_there_is_refused_with_the_nearest_lines(tmp_path: Path) -> None:
    put(tmp_path, b"import os\ndef hello(name):\n    return name\n")
    with pytest.raises(ToolError, match=r"does not occur.*line 2: 'def hello\(name\):'"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("def helo(name):", "x")])


async def test_edits_are_all_made_or_none(tmp_path: Path) -> None:
    file = put(tmp_path, b"one\ntwo\n")
    with pytest.raises(ToolError, match="edit 2 of 2"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("one", "1"), edit("three", "3")])
    assert file.read_bytes() == b"one\ntwo\n"


async def test_later_edits_see_what_earlier_ones_wrote(tmp_path: Path) -> None:
    file = put(tmp_path, b"one\n")
    await Bench(tmp_path).run("edit_file", path="f.txt", edits=[edit("one", "two"), edit("two", "three")])
    assert file.read_bytes() == b"three\n"


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([], "length >= 1"),
        ([{"old": "", "new": "x"}], "length >= 1"),
        ([{"old": "a"}], "missing required field `new`"),
        ([{"old": 1, "new": "x"}], r"Expected `str`, got `int` - at `\$.edits\[0\].old`"),
        ([{"old": "a", "new": "b", "extra": 1}], "unknown field `extra`"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_with_the_place(
    tmp_path: Path, edits: list[object], reason: str
) -> None:
    put(tmp_path, b"a")
    with pytest.raises(BadArguments, match=reason):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=edits)


async def test_an_edit_without_effect_is_refused(tmp_path: Path) -> None:
    put(tmp_path, b"a\nb\n")
    with pytest.raises(ToolError, match="the same"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("a", "a")])
    with pytest.raises(ToolError, match="change nothing"):
        await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("a", "c"), edit("c", "a")])


async def test_files_that_are_missing_or_no_text_are_not_edited(tmp_path: Path) -> None:
    put(tmp_path, b"a\0b", "bin")
    with pytest.raises(ToolError, match="no such file"):
        await Bench(tmp_path).plan("edit_file", path="none", edits=[edit("a", "b")])
    with pytest.raises(NotText):
        await Bench(tmp_path).plan("edit_file", path="bin", edits=[edit("a", "b")])
    with pytest.raises(NotText):
        await Bench(tmp_path).plan("write_file", path="bin", text="x")


async def test_a_file_that_changed_since_the_diff_is_not_written(tmp_path: Path) -> None:
    file = put(tmp_path, b"a\n")
    plan = await Bench(tmp_path).plan("edit_file", path="f.txt", edits=[edit("a", "b")])
    file.write_bytes(b"a\nmine\n")
    with pytest.raises(Stale, match="has changed"):
        await plan.perform("c1")
    assert file.read_bytes() == b"a\nmine\n"


async def test_a_file_that_appeared_or_went_since_the_diff_is_not_written(tmp_path: Path) -> None:
    plan = await Bench(tmp_path).plan("write_file", path="new.txt", text="x")
    put(tmp_path, b"mine", "new.txt")
    with pytest.raises(Stale):
        await plan.perform("c1")
    plan = await Bench(tmp_path).plan("edit_file", path="new.txt", edits=[edit("mine", "yours")])
    (tmp_path / "new.txt").unlink()
    with pytest.raises(Stale):
        await plan.perform("c1")
    assert not (tmp_path / "new.txt").exists()


async def test_a_file_swapped_for_a_link_since_the_diff_is_not_written(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    root.mkdir()
    out.mkdir()
    file = put(root, b"same\n")
    put(root, b"same\n", "other.txt")
    target = put(out, b"same\n")
    for destination in (target, root / "other.txt"):
        plan = await Bench(root).plan("edit_file", path="f.txt", edits=[edit("same", "bad")])
        file.unlink()
        file.symlink_to(destination)
        with pytest.raises((ToolError, LocalError)):
            await plan.perform("c1")
        assert destination.read_bytes() == b"same\n"
        file.unlink()
        put(root, b"same\n")


@pytest.mark.parametrize(
    ("data", "text", "result"),
    [
        (BOM + b"a\r\nb\r\n", "a\nc\n", BOM + b"a\r\nc\r\n"),
        (BOM + b"a\r\nb\r\n", "\ufeffa\r\nc", BOM + b"a\r\nc\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nx\nc\n", b"a\nb\r\nx\nc\n"),
        (b"a\nb", "a\nc\n", b"a\nc"),
        (b"a\nb\n", "a\nc", b"a\nc\n"),
        (b"", "a\r\nb", b"a\r\nb"),
        (b"a\n", "", b""),
    ],
)
async def test_a_whole_write_keeps_mark_newlines_and_last_newline(
    tmp_path: Path, data: bytes, text: str, result: bytes
) -> None:
    file = put(tmp_path, data)
    plan = await Bench(tmp_path).plan("write_file", path="f.txt", text=text)
    assert diff_bytes(plan.diffs[0]) == result
    await plan.perform("c1")
    assert file.read_bytes() == result


LINES = st.lists(st.tuples(st.text("ab }", max_size=3), st.sampled_from(["\n", "\r\n"])), max_size=12)


@given(lines=LINES, last=st.text("ab", max_size=2), mark=st.sampled_from(["", "\ufeff"]))
def test_writing_back_what_was_read_changes_nothing(lines: list[tuple[str, str]], last: str, mark: str) -> None:
    original = mark + "".join(text + end for text, end in lines) + last
    assert texts.restyle(original, texts.plain(original)) == original


@given(lines=LINES, new=st.text("ab }\n", max_size=20))
def test_a_whole_write_gives_the_text_that_was_asked_for(lines: list[tuple[str, str]], new: str) -> None:
    original = "".join(text + end for text, end in lines)
    written = texts.plain(texts.restyle(original, new))
    assert written.removesuffix("\n") == new.removesuffix("\n")


@given(lines=LINES, start=st.integers(0, 30), size=st.integers(0, 10))
def test_each_character_of_the_flat_text_knows_its_place(lines: list[tuple[str, str]], start: int, size: int) -> None:
    original = "".join(text + end for text, end in lines)
    flat = texts.Flat(original)
    start = min(start, len(flat.text))
    end = min(start + size, len(flat.text))
    piece = original[flat.place(start) : flat.place(end)]
    assert piece.replace("\r\n", "\n") == flat.text[start:end]


async def test_a_new_file_is_created_with_its_folders_as_it_was_given(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    plan = await bench.plan("write_file", path="src/new.txt", text="a\r\nb\n")
    assert plan.diffs == (FileDiff(tmp_path / "src" / "new.txt", None, "a\r\nb\n"),)
    assert not (tmp_path / "src").exists()
    outcome = await plan.perform("c1")
    assert outcome.data == {"path": "src/new.txt", "created": True}
    assert (tmp_path / "src" / "new.txt").read_bytes() == b"a\r\nb\n"


async def test_writing_the_same_text_needs_no_permission(tmp_path: Path) -> None:
    put(tmp_path, b"a\r\n")
    plan = await Bench(tmp_path).plan("write_file", path="f.txt", text="a\n")
    assert plan.subject is None
    assert not plan.diffs


async def test_too_much_text_is_refused_before_anyone_is_asked(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="10 bytes"):
        await Bench(tmp_path, limits=CoderLimits(file=10)).plan("write_file", path="f", text="é" * 6)


class Buffers:
    """An editor that serves reads from its buffers; it may or may not show a byte order mark."""

    def __init__(self, text: str, shows_mark: bool) -> None:
        self.disk = text
        self.shows_mark = shows_mark

    async def read_text(self, path: Path) -> str:
        return self.disk if self.shows_mark else self.disk.removeprefix("\ufeff")

    async def write_text(self, path: Path, text: str) -> None:
        kept = "" if self.shows_mark else "\ufeff"
        self.disk = kept + text


@pytest.mark.parametrize("shows_mark", [True, False])
@pytest.mark.parametrize("name", ["edit_file", "write_file"])
async def test_an_editors_file_has_one_mark_afterwards_whoever_keeps_it(
    tmp_path: Path, shows_mark: bool, name: str
) -> None:
    editor = Buffers("\ufeffa\r\nb\r\n", shows_mark)
    bench = Bench(tmp_path, files=editor)
    more = {"text": "a\nc\n"} if name == "write_file" else {"edits": [edit("b", "c")]}
    await bench.run(name, path="f.txt", **more)
    assert editor.disk == "\ufeffa\r\nc\r\n"


async def test_of_two_sessions_that_change_a_file_at_once_one_is_told_that_it_has_changed(tmp_path: Path) -> None:
    put(tmp_path, b"a\n" * 50_000)
    plans = [await Bench(tmp_path).plan("write_file", path="f.txt", text=f"{number}\n") for number in range(8)]
    ended = await asyncio.gather(*(plan.perform("c1") for plan in plans), return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["Outcome", *["Stale"] * 7]


async def test_a_session_whose_editor_does_not_answer_holds_up_no_other_file(tmp_path: Path) -> None:
    class Hanging:
        async def read_text(self, path: Path) -> str:
            return "old\n"

        async def write_text(self, path: Path, text: str) -> None:
            await asyncio.Event().wait()

    hanging = asyncio.create_task(Bench(tmp_path, files=Hanging()).run("write_file", path="f.txt", text="new\n"))
    await asyncio.sleep(0)
    assert (await Bench(tmp_path).run("write_file", path="g.txt", text="g\n")).ok
    hanging.cancel()
