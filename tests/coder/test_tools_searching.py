"""Searching, with ripgrep and with our own program."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from coder_kit import Bench, fill

from duologue.coder.errors import ToolError
from duologue.coder.limits import CoderLimits


@pytest.fixture(params=["ripgrep", "own"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each search test runs with both programs."""
    if request.param == "own":
        monkeypatch.setattr("duologue.coder.tools.searching.shutil.which", lambda *_, **__: None)
    elif shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed")
    return str(request.param)


async def test_a_search_gives_path_line_and_text(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, a_DOT_py="one\nTwo (x)\r\n", src__b_DOT_py="two (x)\n", src__c_DOT_txt="two (x)")
    bench = Bench(tmp_path)
    outcome = await bench.run("search", pattern="wo (x)")
    assert outcome.data == {
        "matches": [
            {"path": "a.py", "line": 2, "text": "Two (x)"},
            {"path": "src/b.py", "line": 1, "text": "two (x)"},
            {"path": "src/c.txt", "line": 1, "text": "two (x)"},
        ],
        "truncated": False,
    }
    assert outcome.text.startswith("a.py:2: Two (x)\n")


@pytest.mark.parametrize(
    ("pattern", "shown"), [(r"\bdef\b", r"'\bdef\b'"), ("it's", "'it's'"), ("a\n\u202eb", r"'a\n\u202eb'")]
)
async def test_the_title_has_the_pattern_as_it_is(tmp_path: Path, pattern: str, shown: str) -> None:
    assert (await Bench(tmp_path).plan("search", pattern=pattern)).title == f"Search {shown} in ."


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"pattern": "two"}, ["src/b.py", "src/c.txt"]),
        ({"pattern": "TWO", "ignore_case": True}, ["a.py", "src/b.py", "src/c.txt"]),
        ({"pattern": "^t.o$", "regex": True}, ["src/b.py", "src/c.txt"]),
        ({"pattern": "t.o"}, []),
        ({"pattern": "-two"}, []),
        ({"pattern": "two", "glob": "*.py"}, ["src/b.py"]),
        ({"pattern": "two", "glob": "src/*.txt"}, ["src/c.txt"]),
        ({"pattern": "two", "path": "src", "glob": "*.{py,txt}"}, ["src/b.py", "src/c.txt"]),
        ({"pattern": "two", "path": "src", "glob": "src/*.txt"}, []),
        ({"pattern": "two", "path": "src/b.py"}, ["src/b.py"]),
        ({"pattern": "two", "glob": "**"}, ["src/b.py", "src/c.txt"]),
        ({"pattern": "$(touch x); `touch x`"}, []),
    ],
)
async def test_a_search_is_what_was_asked_for(
    tmp_path: Path, engine: str, arguments: dict[str, object], paths: list[str]
) -> None:
    fill(
        tmp_path,
        a_DOT_py="Two\n",
        src__b_DOT_py="two\n",
        src__c_DOT_txt="two\n",
        skipped_DOT_log="two\nTwo\nTWO\n",
        _DOT_gitignore="*.log\n",
        _DOT_git__config="two\n",
        node_modules__x="two\n",
        binary="two\n\0",
    )
    outcome = await Bench(tmp_path).run("search", **arguments)
    assert [match["path"] for match in outcome.data["matches"]] == paths
    assert not (tmp_path / "x").exists()


async def test_a_search_below_keeps_to_the_ignore_file_above(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, src__a="x", src__a_DOT_log="x", _DOT_gitignore="*.log\n")
    outcome = await Bench(tmp_path).run("search", pattern="x", path="src")
    assert [match["path"] for match in outcome.data["matches"]] == ["src/a"]


async def test_a_search_has_limits(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, a="x" * 1000 + "\n" + "x\n" * 50)
    bench = Bench(tmp_path, limits=CoderLimits(match_characters=10))
    outcome = await bench.run("search", pattern="x", limit=5)
    assert [match["line"] for match in outcome.data["matches"]] == [1, 2, 3, 4, 5]
    assert outcome.data["truncated"]
    assert outcome.data["matches"][0]["text"] == "x" * 10
    exact = await bench.run("search", pattern="x", limit=51)
    assert not exact.data["truncated"]


async def test_large_files_are_passed_over(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, large="x\n" * 100, small="x\n")
    outcome = await Bench(tmp_path, limits=CoderLimits(file=50)).run("search", pattern="x")
    assert [match["path"] for match in outcome.data["matches"]] == ["small"]


async def test_a_wrong_expression_is_an_error_of_the_call(tmp_path: Path, engine: str) -> None:
    fill(tmp_path, a="x")
    with pytest.raises(ToolError, match=r"reg(ex|ular)"):
        await Bench(tmp_path).run("search", pattern="(x", regex=True)


async def test_text_that_is_not_utf8_is_told_with_replacements(tmp_path: Path, engine: str) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9 x\n")
    outcome = await Bench(tmp_path).run("search", pattern="x")
    assert outcome.data["matches"] == [{"path": "latin", "line": 1, "text": "caf� x"}]


async def test_an_expression_that_takes_for_ever_is_stopped_and_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.coder.tools.searching.shutil.which", lambda *_, **__: None)
    fill(tmp_path, a="a" * 60 + "!")
    bench = Bench(tmp_path, limits=CoderLimits(search_seconds=0.5, stop_grace=0.2))
    work = asyncio.create_task(bench.run("search", pattern="^(a+)+$", regex=True))
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.sleep(0.01)
    assert turns > 10
    with pytest.raises(ToolError, match="stopped after"):
        await work


async def test_a_module_of_the_project_does_not_run_in_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.coder.tools.searching.shutil.which", lambda *_, **__: None)
    fill(tmp_path, json_DOT_py="open('ran', 'w')\n", re_DOT_py="open('ran', 'w')\n", a="needle\n")
    outcome = await Bench(tmp_path).run("search", pattern="needle")
    assert [match["path"] for match in outcome.data["matches"]] == ["a"]
    assert not (tmp_path / "ran").exists()
