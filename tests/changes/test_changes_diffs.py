"""Diffs across the versions, and the git patches between them."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from changes_kit import agent, client
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duologue.local import lines
from duologue.protocol.patches import make_patch, read_patch

LINES = st.sampled_from(
    ["a", "b", "c\n", "\n", "d\r\n", "\x0ce\n", "- x\n", "\\ No newline at end of file\n", "@@ -1 +1 @@\n", "ä\n"]
)
TEXTS = st.lists(LINES, max_size=8).map("".join)
PATHS = st.sampled_from(["/w/a.txt", "/w/with space/b", '/w/"quoted"', "/w/tab\there", "/w/back\\slash", "/w/ä"])


def shown(items: list[Any]) -> Any:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T", "content": items}


def down(item: Any) -> list[Any]:
    (told,) = agent().update_out(shown([item]))
    content: list[Any] = told["content"]
    return content


def up(item: Any) -> Any:
    (told,) = client().update_in(shown([item]))
    return told["content"][0]


def diff(path: str, old: str | None, new: str, **members: Any) -> Any:
    return {"type": "diff", "path": path, "oldText": old, "newText": new, **members}


def line(words: str) -> Any:
    return {"type": "content", "content": {"type": "text", "text": words}}


def changes(*several: Any, patch: str | None = None) -> Any:
    made = {"type": "diff", "changes": list(several)}
    return made if patch is None else {**made, "patch": {"format": "git_patch", "text": patch}}


# --- Patches ---------------------------------------------------------------------------------------------------------


@given(PATHS, st.none() | TEXTS, st.none() | TEXTS)
@settings(max_examples=150)
def test_a_patch_gives_both_texts_back(path: str, old: str | None, new: str | None) -> None:
    assume(old is not None or new is not None)
    (section,) = read_patch(make_patch(path, old, new))
    assert (section.path, section.old, section.new) == (path, old, new)
    assert section.operation == ("add" if old is None else "delete" if new is None else "modify")


@given(TEXTS, TEXTS)
@settings(max_examples=60)
def test_long_texts_are_compared_as_far_as_that_is_quick(old: str, new: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MOST_STEPS", 12)
        (section,) = read_patch(make_patch("/a", old, new))
    assert (section.old, section.new) == (old, new)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        (None, "new\n"),
        ("gone\n", None),
        ("no end", "no end\nnow\n"),
        ("", "x"),
        ("x\r\n", "x\n"),
    ],
)
def test_git_applies_the_patch(tmp_path: Path, old: str | None, new: str | None) -> None:
    file = tmp_path / "a file.txt"
    if old is not None:
        file.write_bytes(old.encode())
    made = make_patch(str(file), old, new)
    command = ["git", "apply", "-p1", "--unsafe-paths", f"--directory={tmp_path.anchor}"]
    done = subprocess.run(command, cwd=tmp_path.anchor, input=made.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (file.read_bytes().decode() if file.exists() else None) == new


def test_sections_of_git_are_read() -> None:
    text = """diff --git a/w/old name.txt b/w/new name.txt
similarity index 90%
rename from w/old name.txt
rename to w/new name.txt
index 1..2 100644
--- a/w/old name.txt
+++ b/w/new name.txt
@@ -5,2 +5,2 @@ def f():
 same
-old
+new
diff --git "a/w/\\303\\244.bin" "b/w/\\303\\244.bin"
new file mode 100644
Binary files /dev/null and "b/w/\\303\\244.bin" differ
diff --git a/w/empty b/w/empty
deleted file mode 100644
"""
    moved, binary, empty = read_patch(text)
    assert (moved.operation, moved.path, moved.whole) == ("move", "/w/new name.txt", False)
    assert (moved.old, moved.new) == ("same\nold\n", "same\nnew\n")
    assert (binary.operation, binary.path, binary.binary) == ("add", "/w/ä.bin", True)
    assert (empty.operation, empty.old, empty.new) == ("delete", "", None)


@pytest.mark.parametrize(
    "text",
    [
        *("", "no patch", "diff --git ", "diff --git a\n@@ x @@\n+y", "diff --git a b\n@@ -1,9 +1,9 @@\n x"),
        f"diff --git a b\n@@ -{'9' * 5000},² +1,{'9' * 5000} @@\n-x\n+y",
        *('diff --git "a/\\9xy" "b/\\7"', 'diff --git "a/\\²xy" "b/\\777"', 'diff --git "a\\" "b\\"'),
    ],
)
def test_what_is_no_patch_breaks_nothing(text: str) -> None:
    assert all(section.path for section in read_patch(text))


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-tools-10", "v2-tools-11", "v2-tools-13", "v2-tools-14", "v2-tools-15")
def test_the_texts_of_v1_become_a_change_and_a_patch() -> None:
    assert up(diff("/w/a", "one\ntwo\n", "one\n2\n", _meta={"k": 1})) == {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/w/a"}],
        "patch": {
            "format": "git_patch",
            "text": "diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        },
        "_meta": {"k": 1},
    }


@pytest.mark.req("v1-tools-10")
def test_a_diff_without_an_old_text_adds_the_file() -> None:
    absent = {"type": "diff", "path": "/w/a", "newText": "x"}
    for item in (absent, diff("/w/a", None, "x")):
        assert up(item)["changes"] == [{"operation": "add", "path": "/w/a"}]


@given(PATHS, st.none() | TEXTS, TEXTS)
@settings(max_examples=80)
def test_diffs_of_v1_go_up_and_down_unchanged(path: str, old: str | None, new: str) -> None:
    item = diff(path, old, new)
    assert [{"oldText": None, **told} for told in down(up(item))] == [item]


# --- Down ------------------------------------------------------------------------------------------------------------


def test_a_diff_of_several_files_is_several_items() -> None:
    patch = make_patch("/w/a", None, "new\n") + make_patch("/w/b", "old\n", None) + make_patch("/w/c", "1\n", "2\n")
    said = changes(
        {"operation": "add", "path": "/w/a"},
        {"operation": "delete", "path": "/w/b"},
        {"operation": "modify", "path": "/w/c"},
        patch=patch,
    )
    deleted = diff("/w/b", "old\n", "")
    assert down(said) == [diff("/w/a", None, "new\n"), line("Delete /w/b"), deleted, diff("/w/c", "1\n", "2\n")]
    assert up(deleted)["changes"] == [{"operation": "modify", "path": "/w/b"}]


def test_the_deletion_of_an_empty_file_is_a_line_of_text_alone() -> None:
    said = changes({"operation": "delete", "path": "/w/a"}, patch=make_patch("/w/a", "", None))
    assert down(said) == [line("Delete /w/a")]


@pytest.mark.req("v2-tools-16", "v2-tools-17")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"operation": "modify", "path": "/w/a"}, "Modify /w/a"),
        ({"operation": "move", "oldPath": "/w/a", "path": "/w/b"}, "Move /w/a to /w/b"),
        ({"operation": "copy", "oldPath": "/w/a", "path": "/w/b"}, "Copy /w/a to /w/b"),
        ({"operation": "add", "path": "/w/i.png", "fileType": "binary"}, "Add /w/i.png"),
        ({"operation": "_chmod", "path": "/w/a"}, "_chmod: /w/a"),
    ],
)
def test_a_change_without_a_text_form_is_a_line_of_text(change: Any, words: str) -> None:
    assert down(changes(change)) == [line(words)]


def test_a_move_with_new_contents_shows_them_under_the_new_path() -> None:
    patch = (
        "diff --git /w/a /w/b\nsimilarity index 50%\nrename from /w/a\nrename to /w/b\n"
        "--- /w/a\n+++ /w/b\n@@ -1 +1 @@\n-1\n+2\n"
    )
    said = changes({"operation": "move", "oldPath": "/w/a", "path": "/w/b"}, patch=patch)
    assert down(said) == [line("Move /w/a to /w/b"), diff("/w/b", "1\n", "2\n")]


def test_a_patch_without_changes_is_shown_as_it_is() -> None:
    patch = make_patch("/w/a", "1\n", "2\n")
    (item,) = down(changes(patch=patch))
    assert item["content"]["text"] == f"```diff\n{patch}```"


def test_a_patch_in_another_format_is_left_aside() -> None:
    said = changes({"operation": "modify", "path": "/w/a"})
    said["patch"] = {"format": "_other", "text": "?"}
    assert down(said)[0]["content"]["text"] == "Modify /w/a"


@pytest.mark.parametrize("lines_of_one", [["same\n"] * 4_000, ["\n", "a paragraph\n"] * 1_500])
def test_changes_of_a_file_of_many_equal_lines_are_found_at_once(lines_of_one: list[str]) -> None:
    """Compared as a whole, these lines would take many seconds, in which nothing else is served."""
    old = "old\n" + "".join(lines_of_one) + "old\n"
    new = "new\nmore\n" + "".join(lines_of_one).replace("paragraph", "changed one") + "new\n"
    began = time.perf_counter()
    (section,) = read_patch(make_patch("/a", old, new))
    assert time.perf_counter() - began < 2
    assert (section.old, section.new) == (old, new)
