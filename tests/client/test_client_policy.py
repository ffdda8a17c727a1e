"""The policy: which rule speaks, what it covers, and that what is not clear is not allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from client_kit import OPTIONS, Host

from duologue.client import Client, LocalFiles, Policy, Session
from duologue.client.policy import Answer, Decision
from duologue.client.subjects import Matter
from duologue.local.rules import Run, Subject, Use, Write
from duologue.protocol.common.permission import RequestPermissionOutcome, SelectedOutcome
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.permission import RequestPermissionRequest

ROOT = Path("/project")


def run(command: str, cwd: Path = ROOT) -> Run:
    return Run(command, cwd)


def write(*names: str) -> Write:
    return Write(tuple(ROOT / name for name in names))


def answer(subject: Subject, *rules: str, otherwise: Answer = "ask") -> str:
    return Policy(*rules, otherwise=otherwise).about(subject, ROOT).answer


# --- rules in order ---------------------------------------------------------------------------------------------------


def test_the_first_rule_that_speaks_decides() -> None:
    rules = ("allow run:git push origin", "reject run:git push *", "allow run:git *")
    assert answer(run("git push origin"), *rules) == "allow"
    assert answer(run("git push other"), *rules) == "reject"
    assert answer(run("git status"), *rules) == "allow"
    assert answer(run("make"), *rules) == "ask"
    assert answer(run("git push other"), *reversed(rules)) == "allow"
    assert Policy(*rules).about(run("git status"), ROOT) == Decision("allow", "allow run:git *")


@pytest.mark.parametrize("otherwise", ["allow", "reject", "ask"])
def test_what_no_rule_speaks_about_is_answered_as_told(otherwise: Answer) -> None:
    assert answer(run("make"), "reject run:git *", otherwise=otherwise) == otherwise
    assert Policy(otherwise=otherwise).about(write("a"), ROOT) == Decision(otherwise)


def test_a_policy_without_rules_asks() -> None:
    assert Policy().decide(Matter(), ROOT) == Decision("ask")


def test_a_rule_that_allows_covers_all_of_it_and_one_that_rejects_any_part() -> None:
    assert answer(write("src/a", "src/b"), "allow edit:src/**") == "allow"
    assert answer(write("src/a", "other"), "allow edit:src/**") == "ask"
    for word in ("reject", "ask"):
        assert answer(write("src/a", "other"), f"{word} edit:other", "allow edit:**") == word


def test_the_strictest_answer_to_all_that_is_asked_stands() -> None:
    matter = Matter((run("make"), write("a")), certain=True)
    assert Policy("allow run:make", "allow edit:a").decide(matter, ROOT).answer == "allow"
    assert Policy("allow run:make").decide(matter, ROOT).answer == "ask"
    assert Policy("allow run:make", "reject edit:a").decide(matter, ROOT).answer == "reject"


@pytest.mark.parametrize(
    "command",
    ["git status; rm x", "git status && ls", "echo $(git push)", "git status > x", "X=1 git status", "git status\nls"],
)
def test_a_line_that_is_more_than_plain_words_is_allowed_by_no_rule(command: str) -> None:
    assert answer(run(command), "allow run:*", "allow run:git *", "allow run:echo *") == "ask"


@pytest.mark.parametrize("command", ["sh -c 'git push'", "git -C x push", "env git push", "git status && git push"])
def test_what_a_rejection_may_be_about_is_asked(command: str) -> None:
    assert answer(run(command), "reject run:git push *", "allow run:*", otherwise="allow") == "ask"
    assert answer(run("ls"), "reject run:git push *", "allow run:*") == "allow"


def test_what_is_not_certain_is_never_allowed_by_a_rule() -> None:
    unsure = Matter((run("make"),), certain=False)
    assert Policy("allow run:make").decide(unsure, ROOT).answer == "ask"
    assert Policy("reject run:make").decide(unsure, ROOT).answer == "reject"
    assert Policy("reject run:other", otherwise="allow").decide(unsure, ROOT).answer == "ask"


def test_commands_elsewhere_are_other_commands() -> None:
    assert answer(run("make", Path("/elsewhere")), "allow run:make") == "ask"
    assert answer(run("make", Path("/elsewhere")), "reject run:make") == "reject"


# --- kinds, titles, tools ---------------------------------------------------------------------------------------------


def test_harmless_kinds_can_be_allowed_unless_they_name_something_that_is_not() -> None:
    policy = Policy("allow kind:read")
    assert policy.decide(Matter(kind=ToolKind.READ), ROOT).answer == "allow"
    assert policy.decide(Matter((Use("look"),), True, kind=ToolKind.READ), ROOT).answer == "allow"
    assert policy.decide(Matter(kind=ToolKind.EXECUTE), ROOT).answer == "ask"
    assert policy.decide(Matter(), ROOT).answer == "ask"
    for subject in (run("rm x"), write("a")):
        assert policy.decide(Matter((subject,), True, kind=ToolKind.READ), ROOT).answer == "ask"


def test_any_kind_can_be_rejected() -> None:
    assert answer(run("make"), "reject kind:execute", "allow run:*") == "reject"
    assert answer(write("a"), "ask kind:edit", "allow edit:**") == "ask"


def test_titles_can_only_make_it_stricter() -> None:
    policy = Policy("reject title:*deploy*", "allow kind:read")
    assert policy.decide(Matter(kind=ToolKind.READ, titles=("Look", "Deploy it")), ROOT).answer == "reject"
    assert policy.decide(Matter(kind=ToolKind.READ, titles=("Look",)), ROOT).answer == "allow"


def test_tools_are_known_by_name() -> None:
    matter = Matter((Use("web_search"),), certain=True)
    assert Policy("allow use:web_*").decide(matter, ROOT).answer == "allow"
    assert Policy("reject use:*").decide(matter, ROOT).answer == "reject"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("run:make", "begins with allow"),
        ("allow", "KIND:PATTERN"),
        ("allow fly:away", "'allow fly:away'.*KIND is edit, delete, run, use, kind or title"),
        ("allow kind:edit", "agent's word"),
        ("allow kind:execute", "agent's word"),
        ("reject kind:sparkle", "no kind"),
        ("allow title:Look*", "agent's word"),
        ("reject deny run:x", "says once"),
        ("allow run:a && b", "plain words"),
        ("allow edit:../x", r"\.\."),
    ],
)
def test_a_rule_that_means_nothing_is_refused_when_it_is_made(rule: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Policy(rule)


def test_another_word_for_otherwise_is_refused() -> None:
    with pytest.raises(ValueError, match="otherwise"):
        Policy(otherwise="maybe")  # type: ignore[arg-type]


# --- answering an agent -----------------------------------------------------------------------------------------------


class Guarded(Client):
    """A policy, and a person who says yes to all that is asked."""

    def __init__(self, *rules: str, choice: str = "yes") -> None:
        self.policy = Policy(*rules)
        self.choice = choice
        self.asked = 0

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.asked += 1
        return SelectedOutcome(option_id=self.choice)


async def outcome(
    version: int, client: Client, root: Path, about: dict[str, Any] | None = None, options: list[Any] = OPTIONS
) -> str:
    """What the client answers to a request about a tool call."""
    host = await Host.begin(version, client, cwd=root)
    call = {"toolCallId": "c", "title": "Do it", **(about or {})}
    subject = {"type": "tool_call", "toolCall": call}
    asked: dict[str, Any] = {"toolCall": call} if version == 1 else {"title": "Do it?", "subject": subject}
    reply = await host.replies("session/request_permission", options=options, **asked)
    return str(reply["result"]["outcome"].get("optionId", "cancelled"))


@pytest.mark.req("all-permissions-05")
async def test_rules_answer_in_place_of_a_person(version: int, tmp_path: Path) -> None:
    client = Guarded("allow run:make *", "reject run:rm *")
    about: dict[str, Any] = {"kind": "execute", "rawInput": {"command": "make test"}}
    assert await outcome(version, client, tmp_path, about) == "yes"
    assert await outcome(version, client, tmp_path, {**about, "rawInput": {"command": "rm x"}}) == "no"
    assert client.asked == 0
    assert await outcome(version, client, tmp_path, {**about, "rawInput": {"command": "ls"}}) == "yes"
    assert client.asked == 1


async def test_field_bug_68_a_rule_never_takes_more_than_once(version: int, tmp_path: Path) -> None:
    wide = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    about = {"kind": "execute", "rawInput": {"command": "make"}}
    assert await outcome(version, Guarded("allow run:make"), tmp_path, about, wide) == "no"


@pytest.mark.req("all-permissions-02")
async def test_a_choice_that_was_not_offered_is_not_sent(version: int, tmp_path: Path) -> None:
    assert await outcome(version, Guarded(choice="whatever"), tmp_path) == "no"


SAME = [
    {"optionId": "same", "name": "Yes", "kind": "allow_once"},
    {"optionId": "same", "name": "No", "kind": "reject_once"},
]


@pytest.mark.parametrize("rules", [(), ("allow edit:**",), ("reject edit:**",)])
async def test_an_id_that_stands_for_yes_and_for_no_is_never_sent(
    version: int, tmp_path: Path, rules: tuple[str, ...]
) -> None:
    client = Guarded(*rules, choice="same")
    about = {"kind": "edit", "locations": [{"path": str(tmp_path / "a")}], "rawInput": {"path": str(tmp_path / "a")}}
    assert await outcome(version, client, tmp_path, about, SAME) == "cancelled"


async def test_a_no_by_such_an_id_is_good_for_no_write(tmp_path: Path) -> None:
    client = Guarded(choice="same")
    client.files = LocalFiles()
    host = await Host.begin(1, client, cwd=tmp_path)
    file = str(tmp_path / "a")
    call = {
        "toolCallId": "c",
        "title": "Edit",
        "kind": "edit",
        "locations": [{"path": file}],
        "rawInput": {"path": file},
    }
    await host.replies("session/request_permission", options=SAME, toolCall=call)
    assert "error" in await host.replies("fs/write_text_file", path=file, content="x")
    assert not (tmp_path / "a").exists()


@pytest.mark.req("v2-permissions-09")
async def test_an_option_of_an_unknown_kind_can_be_chosen(version: int, tmp_path: Path) -> None:
    odd = [{"optionId": "odd", "name": "Odd", "kind": "_later"}, *OPTIONS]
    assert await outcome(version, Guarded(choice="odd"), tmp_path, None, odd) == "odd"


@pytest.mark.req("v2-permissions-06")
async def test_what_a_request_tells_of_a_known_call_is_applied_to_it(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version, Guarded(), cwd=tmp_path)
    made = {"toolCallId": "c", "title": "Edit", "kind": "edit", "status": "pending"}
    host.send(host.update({"sessionUpdate": "tool_call" if version == 1 else "tool_call_update", **made}))
    call = {"toolCallId": "c", "rawInput": {"path": "a"}}
    about: dict[str, Any] = (
        {"toolCall": call} if version == 1 else {"title": "?", "subject": {"type": "tool_call", "toolCall": call}}
    )
    await host.replies("session/request_permission", options=OPTIONS, **about)
    shown = host.session.transcript.tool_calls["c"]
    assert (shown.title, shown.raw_input) == ("Edit", {"path": "a"})
