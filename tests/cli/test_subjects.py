"""What a permission request is really about, whatever its title says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duologue.agent import file_diff
from duologue.cli.subjects import deciding, subjects_of
from duologue.coder.rules import Rule, Run, Subject, Use, Write, parse_rule
from duologue.protocol.common.permission import PermissionOption, PermissionOptionKind
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.v2.diff import CopyChange, DeleteChange, ModifyChange, MoveChange
from duologue.protocol.v2.permission import CommandSubject, RequestPermissionRequest, ToolCallSubject
from duologue.protocol.v2.tools import ToolCallUpdate, ToolDiff
from duologue.protocol.v2.updates import ToolCallUpdateEvent
from duologue.session.entries import ToolCallState

OPTIONS = [PermissionOption(option_id="y", name="Allow", kind=PermissionOptionKind.ALLOW_ONCE)]


def request(subject: Any) -> RequestPermissionRequest:
    return RequestPermissionRequest(
        session_id="s", title="read-only check of src/a.py", options=OPTIONS, subject=subject
    )


def of_call(root: Path, told: dict[str, Any] | None = None, **members: Any) -> tuple[Subject, ...]:
    """The subjects of a request about a tool call; `told` is what was known of it before."""
    call = None
    if told is not None:
        call = ToolCallState("c")
        call.patch(ToolCallUpdateEvent(tool_call_id="c", **told))
    subject = ToolCallSubject(tool_call=ToolCallUpdate(tool_call_id="c", **members))
    return tuple(subjects_of(request(subject), call, root))


def test_a_command_is_its_line_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    asked = request(CommandSubject(command="make test", cwd=str(tmp_path / "link")))
    assert tuple(subjects_of(asked, None, tmp_path)) == (Run("make test", tmp_path / "real"),)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ({"command": "rm -rf /"}, "rm -rf /"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
    ],
)
def test_raw_input_tells_a_command_whatever_the_kind(tmp_path: Path, raw: dict[str, Any], line: str) -> None:
    """Field bug 67: the title says "read-only", the kind says "read"; the raw input runs something."""
    for kind in (ToolKind.EXECUTE, ToolKind.READ, ToolKind.OTHER):
        assert of_call(tmp_path, kind=kind, raw_input=raw, name="check") == (Run(line, tmp_path),)
    assert of_call(tmp_path, raw_input={**raw, "cwd": "sub"}) == (Run(line, tmp_path / "sub"),)


def test_what_was_told_before_counts_too(tmp_path: Path) -> None:
    told = {"kind": ToolKind.EXECUTE, "raw_input": {"command": "make"}}
    assert of_call(tmp_path, told, title="Run it") == (Run("make", tmp_path),)


def test_an_edit_is_all_files_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    diffs = [file_diff(tmp_path / "a.py", "x", "y"), file_diff(tmp_path / "link" / "hosts", "x", "y")]
    places = [ToolCallLocation(path=str(tmp_path / "b.py"))]
    (subject,) = of_call(tmp_path, kind=ToolKind.EDIT, content=diffs, locations=places, raw_input={"file_path": "c.py"})
    assert subject == Write((tmp_path / "a.py", Path("/etc/hosts"), tmp_path / "b.py", tmp_path / "c.py"), "edit")


@pytest.mark.parametrize(
    ("kind", "change", "verb"),
    [
        (ToolKind.EDIT, DeleteChange(path="/p/a"), "delete"),
        (ToolKind.OTHER, MoveChange(old_path="/p/a", path="/p/b"), "delete"),
        (ToolKind.EDIT, CopyChange(old_path="/p/a", path="/p/b"), "edit"),
        (ToolKind.DELETE, None, "delete"),
        (ToolKind.MOVE, None, "delete"),
    ],
)
def test_what_takes_a_file_away_is_no_mere_edit(tmp_path: Path, kind: ToolKind, change: Any, verb: str) -> None:
    content = [] if change is None else [ToolDiff(changes=[change])]
    (subject,) = of_call(tmp_path, kind=kind, content=content, locations=[ToolCallLocation(path="/p/a")])
    assert isinstance(subject, Write) and subject.kind == verb


def test_a_patch_that_touches_more_than_it_says_is_about_all_of_it(tmp_path: Path) -> None:
    hidden = file_diff("/etc/hosts", "x", None).patch
    (subject,) = of_call(tmp_path, content=[ToolDiff(changes=[ModifyChange(path="/p/a")], patch=hidden)])
    assert subject == Write((Path("/p/a"), Path("/etc/hosts")), "delete")


def test_other_tools_are_known_by_name(tmp_path: Path) -> None:
    assert of_call(tmp_path, kind=ToolKind.FETCH, name="web_fetch") == (Use("web_fetch"),)


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"title": "edit src/a.py", "kind": ToolKind.EDIT},
        {"kind": ToolKind.EXECUTE, "name": "run_command"},
        {"kind": ToolKind.EXECUTE, "raw_input": {"command": 7}},
        {"kind": ToolKind.OTHER},
    ],
)
def test_what_is_not_certain_is_covered_by_nothing(tmp_path: Path, members: dict[str, Any]) -> None:
    subjects = of_call(tmp_path, **members)
    rules = [parse_rule(text) for text in ("edit:**", "run:*", "use:*", "delete:**")]
    assert not subjects and deciding(rules, subjects, tmp_path) is None


def rules(*texts: str) -> list[Rule]:
    return [parse_rule(text) for text in texts]


def test_all_of_a_request_must_be_allowed_and_any_of_it_may_be_denied(tmp_path: Path) -> None:
    both: list[Subject] = [Run("make", tmp_path), Write((tmp_path / "a.py",))]
    assert deciding(rules("run:make"), both, tmp_path) is None
    assert deciding(rules("run:make", "edit:*.py"), both, tmp_path) == parse_rule("run:make")
    assert deciding(rules("run:make", "edit:*.py", "deny edit:a.*"), both, tmp_path) == parse_rule("deny edit:a.*")
    assert deciding(rules("edit:**"), [Write((tmp_path / "a.py", Path("/etc/hosts")))], tmp_path) is None
