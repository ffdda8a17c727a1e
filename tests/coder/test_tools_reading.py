"""Reading and listing: windows, ignored files, limits, and nothing from outside."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from coder_kit import TOOLS, Bench, fill

from duologue.coder import ignore
from duologue.coder.errors import BadArguments, ToolError
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import ToolSpec
from duologue.coder.walk import walk
from duologue.local import globs
from duologue.local.errors import LocalError, PathRefused

# --- Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "text", "truncated"),
    [
        ({}, "a\nb\nc", False),
        ({"line": 2}, "b\nc", False),
        ({"limit": 1}, "a\n", True),
        ({"line": 2, "limit": 1}, "b\n", True),
        ({"line": 4}, "", False),
        ({"line": 400}, "", False),
        ({"line": 1, "limit": 0}, "", True),
        ({"line": None, "limit": None}, "a\nb\nc", False),
        ({"limit": 10**9}, "a\nb\nc", False),
    ],
)
async def test_a_window_of_lines_is_read(tmp_path: Path, window: dict[str, int], text: str, truncated: bool) -> None:
    (tmp_path / "f").write_bytes(b"a\r\nb\nc")
    outcome = await Bench(tmp_path).run("read_file", path="f", **window)
    assert outcome.data == {
        "path": "f",
        "text": text,
        "line": window.get("line") or 1,
        "total_lines": 3,
        "truncated": truncated,
    }


@pytest.mark.parametrize("window", [{"line": 0}, {"line": -1}, {"line": 1.5}, {"line": "2"}, {"limit": True}])
async def test_windows_that_are_none_are_refused_before_the_file_is_touched(
    tmp_path: Path, window: dict[str, object]
) -> None:
    with pytest.raises(BadArguments, match=next(iter(window))):
        await Bench(tmp_path).plan("read_file", path="none", **window)


async def test_a_model_sees_no_mark_and_only_line_feeds(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\x0cb\r\nc\x1c\r\n")
    outcome = await Bench(tmp_path).run("read_file", path="f")
    assert outcome.data["text"] == "a\x0cb\nc\x1c\n"
    assert outcome.data["total_lines"] == 2


async def test_long_files_say_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"{i}\n" for i in range(1, 11)))
    bench = Bench(tmp_path, limits=CoderLimits(read_lines=4))
    outcome = await bench.run("read_file", path="f", line=3)
    assert outcome.text == "3\n4\n5\n6\n\n[lines 3 to 6 of 10; go on with line=7]"
    assert outcome.shown == "3\n4\n5\n6\n"


async def test_long_lines_are_cut_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("é" * 100)
    outcome = await Bench(tmp_path, limits=CoderLimits(read_characters=10)).run("read_file", path="f")
    assert outcome.data["text"] == "é" * 10
    assert outcome.data["truncated"]
    assert "too many characters" in outcome.text


async def test_what_is_not_there_or_outside_is_refused(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    fill(out, secret="secret")
    root.mkdir()
    (root / "link").symlink_to(out / "secret")
    bench = Bench(root)
    with pytest.raises(ToolError, match="no such file"):
        await bench.run("read_file", path="none")
    for path in ("../out/secret", "link", str(out / "secret")):
        with pytest.raises(PathRefused):
            await bench.plan("read_file", path=path)


async def test_a_file_swapped_for_a_link_between_plan_and_read_is_not_read(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    fill(out, secret="secret")
    fill(root, f="mine")
    plan = await Bench(root).plan("read_file", path="f")
    (root / "f").unlink()
    (root / "f").symlink_to(out / "secret")
    with pytest.raises(PathRefused):
        await plan.perform("c1")


# --- Ignored files ---------------------------------------------------------------------------------------------------

GITIGNORE = """
# a comment
*.log
!keep.log
build/
/top
docs/*.tmp
deep/**/x
a\\#b
trailing\\ \x20
**/any
[z-a]
foo[0-9].py
"""

DECISIONS = [
    ("a.log", True),
    ("sub/a.log", True),
    ("keep.log", False),
    ("sub/keep.log", False),
    ("build/", True),
    ("sub/build/", True),
    ("build", None),
    ("top", True),
    ("sub/top", None),
    ("docs/a.tmp", True),
    ("docs/sub/a.tmp", None),
    ("deep/x", True),
    ("deep/a/b/x", True),
    ("a#b", True),
    ("trailing ", True),
    ("p/q/any", True),
    ("foo1.py", True),
    ("foox.py", None),
    ("a.py", None),
]


def deciders() -> list[Callable[[list[str]], ignore.Decide | None]]:
    return [ignore.own_decide, ignore.pathspec_decide]


@pytest.mark.parametrize("make", deciders())
@pytest.mark.parametrize(("path", "expected"), DECISIONS)
def test_ignore_files_mean_what_git_means(
    make: Callable[[list[str]], ignore.Decide | None], path: str, expected: bool | None
) -> None:
    odd = () if make is ignore.own_decide else ("trailing", "[z-a]")
    lines = [line for line in GITIGNORE.splitlines() if not line.startswith(odd)]
    if path.startswith(odd):
        pytest.skip("the library stumbles over this line")
    decide = make(lines)
    if decide is None:
        pytest.skip("pathspec is not installed")
    assert decide(path) is expected


def test_a_pattern_that_means_nothing_is_passed_over() -> None:
    assert ignore.Ignore(["[z-a]", "a\\  ", "*.log"]).decide("a.log") is True


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the measure here")
def test_the_own_reading_of_ignore_files_agrees_with_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(GITIGNORE)
    for path, expected in DECISIONS:
        if path == "build":
            continue
        if path.endswith("/"):
            (tmp_path / path).mkdir(parents=True, exist_ok=True)
        result = subprocess.run(["git", "check-ignore", "-q", path], cwd=tmp_path, check=False)
        assert (result.returncode == 0) is bool(expected), path


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("src/**", "src", False),
        ("*.{py,pyi}", "a.pyi", True),
        ("\\{a,b\\}", "{a,b}", True),
        ("\\{a,b\\}", "a", False),
        ("a[!b]c", "abc", False),
        ("a[!b]c", "adc", True),
        ("a[!b]c", "a/c", False),
        ("a[]]c", "a]c", True),
        ("a?c", "a/c", False),
        ("[", "[", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "axb", False),
    ],
)
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert globs.matches(pattern, path) is fits


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a*a*a*a*a*a*a*a*b", "a" * 250),
        ("**/" * 12 + "z", "a/" * 400 + "x"),
        ("**/a/" * 8 + "*a*a*a*a*b", "a/" * 400 + "a" * 250),
    ],
)
def test_no_glob_takes_long(pattern: str, path: str) -> None:
    assert globs.matches(pattern, path) is False
    assert globs.matches(pattern.removesuffix("b").removesuffix("z") + "*", path) is True
    assert not ignore.Ignore([pattern]).decide(path)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("a*b*c", "abbcbc", True),
        ("*ab*ab", "aabab", True),
        ("*ab*ab", "ab", False),
        ("**/a/**/b", "a/x/a/b", True),
        ("**/a/**/a/b", "a/b", False),
        ("**/*a*b/**/c*d", "xab/ab/ccdd", True),
        ("**/a/**", "x/a/", False),
    ],
)
def test_several_wildcards(pattern: str, path: str, fits: bool) -> None:
    assert globs.matches(pattern, path) is fits


# --- Listing ---------------------------------------------------------------------------------------------------------


async def test_a_list_leaves_out_what_nobody_wrote(tmp_path: Path) -> None:
    fill(
        tmp_path,
        a="",
        src__b="",
        src__c_DOT_log="",
        _DOT_github__ci="",
        _DOT_git__HEAD="",
        node_modules__m__index="",
        mine__pyvenv_DOT_cfg="",
        mine__lib="",
        cached__CACHEDIR_DOT_TAG="",
        build__out="",
        _DOT_gitignore="*.log\n/build\n",
        src___DOT_gitignore="!c.log\n",
    )
    (tmp_path / "src" / "__pycache__").mkdir()
    (tmp_path / "src" / "__pycache__" / "x.pyc").write_text("")
    outcome = await Bench(tmp_path).run("list_files")
    assert outcome.data["files"] == [".github/ci", ".gitignore", "a", "src/.gitignore", "src/b", "src/c.log"]


async def test_a_list_takes_a_folder_a_pattern_and_a_limit(tmp_path: Path) -> None:
    fill(tmp_path, a_DOT_py="", src__b_DOT_py="", src__deep__c_DOT_py="", src__d_DOT_txt="")
    bench = Bench(tmp_path)
    assert (await bench.run("list_files", pattern="*.py")).data["files"] == ["a.py", "src/b.py", "src/deep/c.py"]
    assert (await bench.run("list_files", path="src", pattern="*.py")).data["files"] == ["src/b.py", "src/deep/c.py"]
    assert (await bench.run("list_files", pattern="src/*.py")).data["files"] == ["src/b.py"]
    outcome = await bench.run("list_files", limit=2)
    assert outcome.data == {"files": ["a.py", "src/b.py"], "truncated": True}
    exact = await bench.run("list_files", limit=4)
    assert not exact.data["truncated"]


async def test_a_list_has_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, **{f"f{n:03}": "" for n in range(200)})
    fits = globs.matches_anywhere

    def slow(pattern: str, path: str) -> bool:
        time.sleep(0.01)
        return fits(pattern, path)

    monkeypatch.setattr(globs, "matches_anywhere", slow)
    outcome = await Bench(tmp_path, limits=CoderLimits(search_seconds=0.2)).run("list_files", pattern="f*")
    assert outcome.data["truncated"]
    assert 0 < len(outcome.data["files"]) < 200


async def test_an_ignored_folder_is_listed_when_it_is_asked_for(tmp_path: Path) -> None:
    fill(tmp_path, build__a="", build__b_DOT_log="", _DOT_gitignore="build/\n*.log\n")
    assert (await Bench(tmp_path).run("list_files")).data["files"] == [".gitignore"]
    assert "build/a" in (await Bench(tmp_path).run("list_files", path="build")).data["files"]


async def test_links_are_named_and_not_entered(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    fill(out, secret="find me")
    fill(root, a="x")
    (root / "link").symlink_to(out)
    bench = Bench(root)
    assert (await bench.run("list_files")).data["files"] == ["a", "link"]
    assert (await bench.run("search", pattern="find me")).data["matches"] == []
    for name, arguments in (("list_files", {}), ("search", {"pattern": "x"})):
        with pytest.raises(PathRefused):
            await bench.plan(name, path="link", **arguments)


def test_a_folder_swapped_for_a_link_during_the_walk_is_not_entered(tmp_path: Path) -> None:
    root, out = tmp_path / "root", tmp_path / "out"
    fill(out, secret="")
    fill(root, a="", z__b="")
    found = []
    for file in walk(root, ()):
        found.append(file.path)
        if file.path == "a":
            shutil.rmtree(root / "z")
            (root / "z").symlink_to(out)
    assert found == ["a"]


async def test_names_in_another_root_are_absolute(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    fill(one, a="needle")
    fill(two, sub__b="needle")
    bench = Bench(one, two)
    assert (await bench.run("list_files", path=str(two))).data["files"] == [f"{two}/sub/b"]
    assert (await bench.run("search", pattern="needle", path=str(two))).data["matches"][0]["path"] == f"{two}/sub/b"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_names_that_are_no_text_can_be_told(tmp_path: Path) -> None:
    os.mknod(os.fsencode(tmp_path) + b"/bad\xff")
    outcome = await Bench(tmp_path).run("list_files")
    assert outcome.data["files"] == ["bad�"]
    json.dumps(outcome.data).encode()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_files", {"path": "none"}),
        ("list_files", {"path": "a"}),
        ("list_files", {"pattern": "!x"}),
        ("list_files", {"pattern": "[z-a]"}),
        ("list_files", {"limit": 0}),
        ("search", {"pattern": ""}),
        ("search", {"pattern": "x", "path": "none"}),
        ("search", {"pattern": "x", "glob": "{a,b}" * 9}),
    ],
)
async def test_lists_and_searches_that_cannot_be_meant_are_refused(
    tmp_path: Path, name: str, arguments: dict[str, object]
) -> None:
    fill(tmp_path, a="")
    with pytest.raises((ToolError, LocalError)):
        await Bench(tmp_path).plan(name, **arguments)


async def test_a_list_goes_on_behind_its_last_file(tmp_path: Path) -> None:
    fill(tmp_path, a__b__x="", a__b_DOT_txt="", a__c="", b="", b_DOT_py="", c__x="", z="")
    with suppress(OSError):  # macOS knows no such name
        (tmp_path / os.fsdecode(b"bad\xff")).write_text("")
    bench = Bench(tmp_path)
    whole = (await bench.run("list_files")).data["files"]
    assert len(whole) >= 7
    for limit in (1, 2, 3, 7):
        files: list[str] = []
        truncated = True
        while truncated:
            after = {"after": files[-1]} if files else {}
            data = (await bench.run("list_files", limit=limit, **after)).data
            files, truncated = [*files, *data["files"]], data["truncated"]
        assert files == whole
    assert (await bench.run("list_files", path="a", after="a/b.txt")).data["files"] == ["a/c"]
    assert (await bench.run("list_files", after="zz")).data["files"] == []


async def test_a_tree_that_is_too_deep_hides_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.coder.walk.DEEPEST", 3)
    fill(tmp_path, a__b__c__file="above", a__b__c__d__file="below", z="text")
    assert (await Bench(tmp_path).run("list_files")).data["files"] == ["a/b/c/file", "z"]


# --- What a model is shown -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [tool.spec for tool in TOOLS.values()], ids=lambda spec: spec.name)
def test_each_tool_has_a_plain_schema(spec: ToolSpec) -> None:
    text = json.dumps(spec.parameters)
    assert "$ref" not in text
    assert "null" not in text
    assert spec.parameters["type"] == "object"
    assert spec.parameters["additionalProperties"] is False
    assert spec.description.endswith(".")


def test_the_tools_and_their_arguments_are_these() -> None:
    shapes = {
        name: (sorted(tool.spec.parameters["properties"]), tool.spec.parameters.get("required", []))
        for name, tool in TOOLS.items()
    }
    assert shapes == {
        "list_files": (["after", "limit", "path", "pattern"], []),
        "read_file": (["limit", "line", "path"], ["path"]),
        "search": (["glob", "ignore_case", "limit", "path", "pattern", "regex"], ["pattern"]),
        "write_file": (["create", "path", "text"], ["path", "text"]),
        "edit_file": (["edits", "path"], ["path", "edits"]),
        "delete_file": (["path"], ["path"]),
        "move_file": (["path", "to"], ["path", "to"]),
        "run_command": (["command", "cwd", "description", "timeout", "title"], ["command"]),
        "undo_edits": ([], []),
        "update_plan": (["items"], ["items"]),
        "set_title": (["title"], ["title"]),
    }
