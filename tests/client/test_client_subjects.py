"""What a permission request is really about, whatever its title says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duologue.agent import file_diff
from duologue.client.subjects import Matter, deciding, matter_of, may_reject
from duologue.local.rules import Rule, Run, Subject, Use, Write, parse_rule
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.permission import PermissionOption, PermissionOptionKind
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.v2.diff import CopyChange, DeleteChange, ModifyChange, MoveChange
from duologue.protocol.v2.permission import CommandSubject, RequestPermissionRequest, ToolCallSubject
from duologue.protocol.v2.tools import ToolCallUpdate, ToolContent, ToolDiff
from duologue.protocol.v2.updates import ToolCallUpdateEvent
from duologue.session.entries import ToolCallState

OPTIONS = [PermissionOption(option_id="y", name="Allow", kind=PermissionOptionKind.ALLOW_ONCE)]


def request(subject: Any) -> RequestPermissionRequest:
    return RequestPermissionRequest(
        session_id="s", title="read-only check of src/a.py", options=OPTIONS, subject=subject
    )


def of_call(root: Path, told: dict[str, Any] | None = None, **members: Any) -> tuple[Subject, ...]:
    """The subjects of a request about a tool call; `told` is what was known of it before."""
    return matter(root, told, **members).subjects


def matter(root: Path, told: dict[str, Any] | None = None, **members: Any) -> Matter:
    """What a request about a tool call is about."""
    call = None
    if told is not None:
        call = ToolCallState("c")
        call.patch(ToolCallUpdateEvent(tool_call_id="c", **told))
    subject = ToolCallSubject(tool_call=ToolCallUpdate(tool_call_id="c", **members))
    return matter_of(request(subject), call, root)


def test_a_command_is_its_line_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    asked = request(CommandSubject(command="make test", cwd=str(tmp_path / "link")))
    matter = matter_of(asked, None, tmp_path)
    assert (matter.subjects, matter.certain) == ((Run("make test", tmp_path / "real"),), True)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ({"command": "rm -rf /"}, "rm -rf /"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
    ],
)
def test_field_bug_67_raw_input_tells_a_command_whatever_the_kind(
    tmp_path: Path, raw: dict[str, Any], line: str
) -> None:
    """The title says "read-only", the kind says "read"; the raw input runs something."""
    assert of_call(tmp_path, kind=ToolKind.EXECUTE, raw_input=raw, name="check") == (Run(line, tmp_path),)
    for kind in (ToolKind.READ, ToolKind.OTHER):
        assert of_call(tmp_path, kind=kind, raw_input=raw) == (Run(line, tmp_path),)
        assert of_call(tmp_path, kind=kind, raw_input=raw, name="check") == (Run(line, tmp_path), Use("check"))
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
    found = matter(tmp_path, **members)
    rules = [parse_rule(text) for text in ("edit:**", "run:*", "use:*", "delete:**")]
    assert not found.subjects and not found.certain and deciding(rules, found, tmp_path) is None


def rules(*texts: str) -> list[Rule]:
    return [parse_rule(text) for text in texts]


def test_all_of_a_request_must_be_allowed_and_any_of_it_may_be_denied(tmp_path: Path) -> None:
    both = Matter((Run("make", tmp_path), Write((tmp_path / "a.py",))), certain=True)
    assert deciding(rules("run:make"), both, tmp_path) is None
    assert deciding(rules("run:make", "edit:*.py"), both, tmp_path) == parse_rule("run:make")
    assert deciding(rules("run:make", "edit:*.py", "reject edit:a.*"), both, tmp_path) == parse_rule("reject edit:a.*")
    two = Matter((Write((tmp_path / "a.py", Path("/etc/hosts"))),), certain=True)
    assert deciding(rules("edit:**"), two, tmp_path) is None


EXECUTE, EDIT = ToolKind.EXECUTE, ToolKind.EDIT


@pytest.mark.parametrize(
    ("kind", "raw", "rule", "allowed"),
    [
        (EXECUTE, {"command": "make", "description": "Build", "timeout": 5, "env": {}, "args": []}, "run:make", True),
        (EXECUTE, {"command": "make", "args": ["evil;rm"]}, "run:make", False),
        (EXECUTE, {"command": "make", "arguments": ["evil"]}, "run:make", False),
        (EXECUTE, {"command": "ls", "env": {"LD_PRELOAD": "/x"}}, "run:ls", False),
        (EXECUTE, {"command": "ls", "cmd": "rm -rf /"}, "run:*", False),
        (EXECUTE, {"command": "ls", "cmd": "ls"}, "run:ls", True),
        (EXECUTE, {"command": "ls", "shell": True}, "run:ls", False),
        (EXECUTE, {"command": "ls", "path": "/etc"}, "run:ls", False),
        (EXECUTE, {"command": "ls", "content": "stdin"}, "run:ls", False),
        (EXECUTE, {"command": "ls", "cwd": "a", "workdir": "b"}, "run:ls", False),
        (EXECUTE, {"command": "ls", "nested": {"command": "rm x"}}, "run:*", False),
        (EXECUTE, {"command": ["ls", ";", "rm"]}, "run:ls *", False),
        (EXECUTE, {"command": ["ls", "src"]}, "run:ls *", True),
        (EDIT, {"path": "src/a.py", "content": "x", "old_string": "", "replace_all": True}, "edit:src/**", True),
        (EDIT, {"path": "src/a.py", "edits": [{"old_text": "a", "new_text": "b"}]}, "edit:src/**", True),
        (EDIT, {"path": "src/a.py", "edits": [{"path": "/etc/x", "new_text": "b"}]}, "edit:src/**", False),
        (EDIT, {"path": "src/a.py", "files": ["/etc/x"]}, "edit:src/**", False),
        (EDIT, {"path": "src/a.py", "files": ["src/b.py", {"path": "src/c.py"}]}, "edit:src/**", True),
        (EDIT, {"path": "src/a.py", "file_path": "/etc/x"}, "edit:src/**", False),
        (EDIT, {"path": "src/a.py", "Destination": "/etc/x"}, "edit:src/**", False),
        (EDIT, {"path": "src/a.py", "patch": "*** Update File: /etc/x"}, "edit:src/**", False),
        (EDIT, {"path": "~/.profile"}, "edit:**", False),
        (EDIT, {"path": "$HOME/x"}, "edit:**", False),
        (EDIT, {"path": "src/a.py", "mode": "0777"}, "edit:src/**", False),
        (ToolKind.MOVE, {"source": "src/a.py", "destination": "/etc/x"}, "delete:src/**", False),
        (ToolKind.MOVE, {"old_path": "src/a.py", "new_path": "src/b.py"}, "delete:src/**", True),
        (ToolKind.MOVE, {"old_path": "src/a.py", "new_path": "b.py"}, "delete:src/**", False),
        (EDIT, "src/a.py", "edit:**", False),
    ],
)
def test_a_rule_allows_only_when_nothing_else_is_in_the_raw_input(
    tmp_path: Path, kind: ToolKind, raw: Any, rule: str, allowed: bool
) -> None:
    found = matter(tmp_path, kind=kind, raw_input=raw, locations=[ToolCallLocation(path=str(tmp_path / "src/a.py"))])
    assert (deciding(rules(rule), found, tmp_path) is not None) is allowed


@pytest.mark.parametrize(
    ("raw", "given", "answer"),
    [
        ({"command": "ls"}, ["run:ls"], None),
        ({"cmd": "ls"}, ["run:*"], None),
        ({"command": "ls"}, ["use:server__tool"], None),
        ({"command": "ls"}, ["run:ls", "use:server__*"], "run:ls"),
        ({"command": "ls"}, ["use:server__*", "run:*", "reject run:ls"], "reject run:ls"),
        ({"command": "ls", "options": {"command": "rm x"}}, ["use:server__*", "run:*"], None),
        ({"command": ["ls", ";", "rm"]}, ["use:server__*", "run:*"], None),
        ({"query": "ls", "path": "/etc/hosts"}, ["use:server__tool"], "use:server__tool"),
        ({"query": "ls"}, ["use:other__*", "run:*", "edit:**"], None),
    ],
)
def test_a_rule_for_commands_does_not_speak_for_a_tool_of_a_server(
    tmp_path: Path, raw: dict[str, Any], given: list[str], answer: str | None
) -> None:
    """What its input calls a command may be anything; where it is one, a rule must allow that too."""
    found = matter(tmp_path, kind=ToolKind.OTHER, name="server__tool", raw_input=raw)
    decided = deciding(rules(*given), found, tmp_path)
    assert (None if decided is None else str(decided)) == answer


REJECT_PUSH = "reject run:git push*"


@pytest.mark.parametrize("line", ["git push", "git  push", 'g""it push', "/usr/bin/git push", "git push -f"])
def test_a_rule_refuses_a_command_however_its_program_is_named(tmp_path: Path, line: str) -> None:
    assert deciding(rules(REJECT_PUSH), matter(tmp_path, raw_input={"command": line}), tmp_path) is not None


@pytest.mark.parametrize(
    "line",
    [
        *("git push && true", "git push;", "GIT=1 git push", "sh -c 'git push'", "env git push", "sudo git push"),
        *(
            "/bin/bash push.sh",
            "git -C sub push",
            "git --no-pager push",
            "python3 -c 'x'",
            "xargs git",
            "timeout 9 git push",
        ),
    ],
)
def test_what_a_rule_may_refuse_is_no_matter_for_yes(tmp_path: Path, line: str) -> None:
    found = matter(tmp_path, raw_input={"command": line})
    assert may_reject(rules(REJECT_PUSH), found, tmp_path) == parse_rule(REJECT_PUSH)
    assert deciding(rules(REJECT_PUSH, "run:*"), found, tmp_path) is None
    assert may_reject(rules("run:*"), found, tmp_path) is None


@pytest.mark.parametrize("line", ["make", "git status", "python3 -m pytest", "git-push-all"])
def test_what_no_rule_refuses_is_left_to_yes(tmp_path: Path, line: str) -> None:
    assert may_reject(rules(REJECT_PUSH), matter(tmp_path, raw_input={"command": line}), tmp_path) is None


@pytest.mark.parametrize(
    "members",
    [
        {"kind": EDIT, "raw_input": {"target_name": ".env"}},
        {"kind": ToolKind.OTHER, "raw_input": {"path": ".env"}},
        {"kind": ToolKind.OTHER, "name": "tool", "raw_input": {"path": ".env"}},
        {"kind": EXECUTE, "raw_input": {"command": "echo x > .env"}},
        {"kind": EXECUTE, "raw_input": {"command": "cp x .env"}},
        {"kind": EXECUTE, "raw_input": {"command": "curl --output=./.env x"}},
    ],
)
def test_a_file_that_a_rule_guards_is_guarded_from_what_is_not_told(tmp_path: Path, members: dict[str, Any]) -> None:
    assert may_reject(rules("reject edit:.env"), matter(tmp_path, **members), tmp_path) is not None


def test_a_file_that_must_not_be_edited_must_not_be_deleted(tmp_path: Path) -> None:
    gone = matter(tmp_path, kind=ToolKind.DELETE, raw_input={"path": ".env"})
    assert deciding(rules("reject edit:.env", "delete:**"), gone, tmp_path) == parse_rule("reject edit:.env")


def test_the_words_of_a_request_are_told_and_its_command_is_not_told_twice(tmp_path: Path) -> None:
    """Version 1 has the description of a request, and a command, as texts in the tool call."""
    texts = ["It runs the tests.", "```\nmake test\n```", "make test"]
    content = [ToolContent(content=TextBlock(text=text)) for text in texts]
    found = matter(tmp_path, kind=ToolKind.EXECUTE, raw_input={"command": "make test"}, content=content)
    assert found.texts == ("It runs the tests.",)
