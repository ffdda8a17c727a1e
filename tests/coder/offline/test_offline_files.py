"""Looking at and changing files, through the real loop and its tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from offline_kit import Session, example

from duologue.coder.models.offline.scripts.hunks import edits_between
from duologue.coder.models.offline.scripts.renaming import rename_in

REPORT = '''"""Turns lines into a report. It is short."""

import json
from pathlib import Path

WIDTH = 80


class Report:
    """Lines with a title."""

    def add_line(self, line: str) -> None:
        """Add one line at the end."""
        self.lines.append(parse_line(line))


def parse_line(line: str) -> dict:
    """Read one line, see parse_line below."""
    return json.loads(line)  # parse_line is strict


__all__ = ["Report", "parse_line"]
'''


async def test_finds_text_and_says_where(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "x = total\n", "b/c.txt": "the Total\n"})
    turn = await session.say("find total")
    assert "`total`: 1 place in 1 file" in turn.said
    assert "a.py:1" in turn.said
    assert "b/c.txt:1" in (await session.say("find TOTAL in b")).said
    assert "occurs nowhere" in (await session.say("find nothing_like_it")).said


async def test_finds_definitions_and_files(tmp_path: Path) -> None:
    session = Session(tmp_path, {"report.py": REPORT, "use.py": "from report import parse_line\nparse_line('1')\n"})
    turn = await session.say("where is parse_line defined?")
    assert "report.py:17" in turn.said
    assert "use.py" not in turn.said
    assert "- use.py" in (await session.say("find python files")).said


async def test_a_search_is_summed_up(tmp_path: Path) -> None:
    session = Session(tmp_path, {f"f{n}.py": "x = total\n" for n in range(9)})
    turn = await session.say("find total")
    assert "`total`: 9 places in 9 files" in turn.said
    assert turn.said.count("x = total") == 5
    assert "… and 4 more" in turn.said


async def test_outlines_a_package(tmp_path: Path) -> None:
    session = Session(
        tmp_path, {"shop/__init__.py": '"""All of it."""\n', "shop/report.py": REPORT, "shop/bad.py": "x = (\n"}
    )
    for text in ("outline shop", "explain shop/", "what is in the package shop?"):
        said = (await session.say(text)).said
        assert "3 Python modules" in said
        assert "- shop/__init__.py: All of it.\n" in said
        assert "- shop/report.py: Turns lines into a report. It is short. — `Report`, `parse_line`\n" in said
        assert "- shop/bad.py: does not parse" in said


async def test_outlines_python(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"src/report.py": REPORT}).say("explain report.py")
    for piece in (
        "22 lines",
        "Turns lines into a report",
        "`json`, `pathlib`",
        "class Report",
        "Lines with a title",
        "add_line",
        "WIDTH",
    ):
        assert piece in turn.said
    assert "def parse_line(line: str) -> dict" in turn.said


async def test_outlines_other_files(tmp_path: Path) -> None:
    files = {
        "guide.md": "# Guide\n\ntext\n\n## Start\n\n```\n# no heading\n```\n",
        "a.json": '{"name": 1, "size": 2}',
        "x.go": "func Total(a int) int {\n}\n",
    }
    session = Session(tmp_path, files)
    guide = (await session.say("outline guide.md")).said
    assert "- Guide" in guide
    assert "  - Start" in guide
    assert "no heading" not in guide
    assert "`name`, `size`" in (await session.say("outline a.json")).said
    assert "func Total(a int) int" in (await session.say("outline x.go")).said


async def test_explains_a_function(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"report.py": REPORT}).say("what does parse_line do?")
    assert "report.py:17: `def parse_line(line: str) -> dict`" in turn.said
    assert "Read one line" in turn.said
    assert "`json.loads`" in turn.said


async def test_explains_a_constant_by_its_place(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"report.py": REPORT}).say("what is WIDTH?")
    assert "- report.py:6: `WIDTH = 80`" in turn.said


async def test_says_when_a_file_is_not_there_and_what_is_near(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"report.py": REPORT}).say("outline reprot.py")
    assert "no file `reprot.py`" in turn.said
    assert "Did you mean `report.py`?" in turn.said


async def test_shows_lines(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "".join(f"line {n}\n" for n in range(1, 301))})
    assert "line 7\nline 8\n```" in (await session.say("show lines 7-8 of a.txt")).said
    assert "180 more lines" in (await session.say("show a.txt")).said


async def test_a_fence_is_longer_than_those_in_the_text(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.md": "# A\n\nText:\n\n```sh\n$ a\n$ b\n```\n\n````\nx\n````\n"})
    said = (await session.say("show lines 1-12 of a.md")).said
    assert said.count("\n`````\n") == 2
    assert "\n```" not in (await session.say("run `echo hello`")).said.replace("\n```\n", "", 2)


async def test_code_is_not_merged_into_prose(tmp_path: Path) -> None:
    module = '"""Use it.\n\n```\na = 1\nb = 2\n```\n"""\n'
    session = Session(tmp_path, {"README.md": "# A\n\nRun it:\n\n```sh\n$ a\n$ b\n```\n\nThen stop.\n", "a.py": module})
    for text in ("what does this project do?", "explain a.py", "outline README.md"):
        said = (await session.say(text)).said
        assert "```" not in said
        assert "$ a" not in said
        assert "b = 2" not in said


async def test_says_what_the_project_does(tmp_path: Path) -> None:
    turn = await Session(example(tmp_path)).say("what does this project do?")
    for piece in (
        "**invoicer**",
        "list of order lines",
        "A Python project named `invoicer`",
        "tests/ (4 files)",
        "invoicer/money.py:",
    ):
        assert piece in turn.said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", "[]"),
        ("package.json", '{"scripts": null}'),
        ("package.json", "[\n" * 100_000),
        ("pyproject.toml", "project = 1"),
        ("pyproject.toml", '[project]\ndependencies = "a"\nscripts = ["b"]'),
        ("pyproject.toml", "a = " + "[\n" * 2_000),
        ("Cargo.toml", "package = []"),
    ],
)
async def test_metadata_of_another_shape_is_none(tmp_path: Path, name: str, text: str) -> None:
    turn = await Session(tmp_path, {name: text}).say("what does this project do?")
    assert turn.ended == "end_turn" and f"1 file:\n\n- {name}" in turn.said


async def test_a_module_that_the_parser_does_not_take_is_told(tmp_path: Path) -> None:
    text = "LIMIT = 6\nlong = (\n" + "1 +\n" * 20_000 + "1)\n"
    session = Session(tmp_path, {"pkg/a.py": text, "pkg/b.py": "LIMIT = 1\n"})
    for request in ("outline a.py", "explain pkg/"):
        assert "not parse as Python" in (await session.say(request)).said
    assert "pkg/a.py" not in (await session.say("what does this project do?")).said
    await session.say("set LIMIT to 7")
    assert session.read("pkg/b.py") == "LIMIT = 7\n" and session.read("pkg/a.py") == text


async def test_a_long_chain_of_calls_is_outlined(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "def f(a):\n    return a" + ".b()" * 600 + "\n"})
    assert "`def f(a)`" in (await session.say("outline a.py")).said
    assert "It calls `...`" in (await session.say("explain f")).said


async def test_renames_an_identifier_everywhere_by_edits(tmp_path: Path) -> None:
    session = Session(
        tmp_path,
        {
            "report.py": REPORT,
            "use.py": "import report\nprint(report.parse_line, 'parse lines')\n",
            "notes.md": "Call `parse_line`.\n",
        },
    )
    turn = await session.say("rename parse_line to read_line")
    assert "read_line" not in REPORT
    assert session.read("report.py") == REPORT.replace("parse_line", "read_line")
    assert session.read("use.py") == "import report\nprint(report.read_line, 'parse lines')\n"
    assert session.read("notes.md") == "Call `read_line`.\n"
    assert turn.tools.count("edit_file") == 3
    assert "Rename `parse_line` to `read_line`: 7 places in 3 files" in turn.said
    await session.say("undo")
    assert session.read("report.py") == REPORT


async def test_a_rename_does_not_mix_two_meanings(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\ntwo = one\n"})
    turn = await session.say("rename one to two")
    assert "already used in a.py" in turn.said
    assert session.read("a.py") == "one = 1\ntwo = one\n"
    assert "not an identifier" in (await session.say("rename one to class")).said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 1  # the total\n", "amount = 1  # the total\n"),
        ("print('total', total)\n", "print('total', amount)\n"),
        ("subtotal = total + total_1\n", "subtotal = amount + total_1\n"),
        ("print(f'{total:>{width}} total')\n", "print(f'{amount:>{width}} total')\n"),
        ("x = ö; total = 'ö'; total\n", "x = ö; amount = 'ö'; amount\n"),
        ("patch('app.total')\n", "patch('app.amount')\n"),
    ],
)
def test_a_rename_knows_code_from_prose(old: str, new: str) -> None:
    assert rename_in("a.py", old, "total", "amount").text == new


async def test_replaces_text_in_the_named_files_only(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "red red\nblue\n", "b.txt": "red\n"})
    turn = await session.say('replace "red" with "green" in a.txt')
    assert session.read("a.txt") == "green green\nblue\n"
    assert session.read("b.txt") == "red\n"
    assert "2 places in 1 file" in turn.said
    await session.say('remove "blue" from a.txt')
    assert session.read("a.txt") == "green green\n"


async def test_replaces_in_more_files_than_one_step_or_one_search_holds(tmp_path: Path) -> None:
    files = {f"part{n % 5}/f{n}.txt": "old one\nold two\nold three\n" for n in range(120)}
    session = Session(tmp_path, files)
    turn = await session.say("replace old with new everywhere")
    assert "360 places in 120 files" in turn.said
    assert all(session.read(path) == "new one\nnew two\nnew three\n" for path in files)
    assert turn.ended == "end_turn"


CONFIG = """\
NAME = "é"; LIMIT: int = 5  # of all
RATES = {"a": 1}
SUM = LIMIT + 1


def f():
    LIMIT = 3
    local = 1
    return LIMIT + local
"""


async def test_sets_a_name_to_another_literal(tmp_path: Path) -> None:
    session = Session(tmp_path, {"config.py": CONFIG, "use.py": "from config import LIMIT\nprint(LIMIT == 5)\n"})
    assert "Set `LIMIT` from `5` to `7` (config.py:1)" in (await session.say("change LIMIT to 7")).said
    assert session.read("config.py") == CONFIG.replace("int = 5", "int = 7")
    assert "is 7 already" in (await session.say("set LIMIT to 7")).said
    await session.say('set RATES to {"a": 2, "b": 3} in config.py')
    assert 'RATES = {"a": 2, "b": 3}\n' in session.read("config.py")
    await session.say("set local to None")
    assert "    local = None\n" in session.read("config.py")
    assert session.read("use.py") == "from config import LIMIT\nprint(LIMIT == 5)\n"


async def test_sets_nothing_when_it_is_not_clear_what(tmp_path: Path) -> None:
    session = Session(tmp_path, {"config.py": CONFIG, "other.py": "NAME = 'x'\n"})
    assert "computed in config.py:3 (`LIMIT + 1`)" in (await session.say("set SUM to 7")).said
    assert "2 places (config.py:1, other.py:1)" in (await session.say("set NAME to 'y'")).said
    assert "assigned nowhere" in (await session.say("set MISSING to 7")).said
    assert session.read("config.py") == CONFIG
    await session.say("set NAME to 'y' in other.py")
    assert session.read("other.py") == "NAME = 'y'\n"


async def test_writes_no_python_that_does_not_compile(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n", "bad.py": "x = (\n", "a.txt": "one = 1\n"})
    for text in ('replace "one" with "1"', 'append "x = (" to a.py', 'create b.py with the content "def f(:"'):
        turn = await session.say(text)
        assert "would not be valid Python" in turn.said, text
        assert session.questions == []
    assert session.files() == {"a.py", "bad.py", "a.txt"}
    assert (session.read("a.py"), session.read("a.txt")) == ("one = 1\n", "one = 1\n")
    await session.say('append "y = 2" to bad.py')
    assert session.read("bad.py") == "x = (\ny = 2\n", "what was broken before may be worked on"


async def test_writes_nothing_from_a_description(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    for text in (
        "add a docstring to a.row",
        "create b.py with a function that adds",
        "write a test to a.py",
        "create a.py",
    ):
        await session.say(text)
    assert session.files() == {"a.py"}
    assert session.read("a.py") == "one = 1\n"
    assert session.questions == []


async def test_creates_extends_moves_and_deletes_files(tmp_path: Path) -> None:
    session = Session(tmp_path, {"keep.txt": "x\n"})
    await session.say("create notes/a.md with the content: first line")
    assert session.read("notes/a.md") == "first line\n"
    await session.say('append "last line" to notes/a.md')
    await session.say('insert "second line" after line 1 in notes/a.md')
    await session.say('add "top" at the top of notes/a.md')
    await session.say('add "middle" before "last" in notes/a.md')
    assert session.read("notes/a.md") == "top\nfirst line\nsecond line\nmiddle\nlast line\n"
    await session.say("rename notes/a.md to notes/b.md")
    assert session.files() == {"keep.txt", "notes/b.md"}
    await session.say("delete notes/b.md")
    assert session.files() == {"keep.txt"}
    assert "nothing to undo" not in (await session.say("undo")).said
    assert session.files() == {"keep.txt", "notes/b.md"}


async def test_content_in_a_fence_is_taken_as_it_is(tmp_path: Path) -> None:
    session = Session(tmp_path)
    await session.say("Create run.py:\n```python\nprint('find it, then run the tests')\n\nif 1:\n    pass\n```")
    assert session.read("run.py") == "print('find it, then run the tests')\n\nif 1:\n    pass\n"


async def test_runs_a_command_and_shows_its_end(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "x"})
    assert "`ls` ended well" in (turn := await session.say("run `ls`")).said
    assert "a.txt" in turn.said
    assert "exit code 3" in (await session.say("run `echo bad; exit 3`")).said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\na\n", "a\nb\nc\n"),
        ("same\n" * 9, "same\n" * 4 + "other\n" + "same\n" * 4),
        ("x\n", "x\ny\n"),
        ("", "x\n"),
        ("one\ntwo\nthree\n", "one\nthree\n"),
        ("no newline", "no newline at all"),
    ],
)
def test_edits_between_two_texts_are_exact(old: str, new: str) -> None:
    text = old
    for edit in edits_between(old, new):
        assert text.count(edit["old"]) == 1 or not old
        text = text.replace(edit["old"], edit["new"], 1)
    assert text == new
