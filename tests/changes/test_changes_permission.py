"""Permission requests across the versions: a title and a subject in v2, a tool call in v1."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, client, item

OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
NAME = "session/request_permission"


def v2(**members: Any) -> Any:
    return {"sessionId": SESSION, "title": "Allow it?", "options": OPTIONS, **members}


def v1(**members: Any) -> Any:
    return {"sessionId": SESSION, "options": OPTIONS, "toolCall": {"toolCallId": "t", **members}}


def subject(**members: Any) -> Any:
    return {"type": "tool_call", "toolCall": {"toolCallId": "t", **members}}


def told(request: Any) -> Any:
    ((_, name, params),) = agent().ask_out(NAME, request, "k")
    assert name == NAME
    return params["toolCall"]


# --- Down ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-permissions-01", "v2-permissions-05")
def test_the_tool_call_keeps_its_title_and_shows_the_words_of_the_request() -> None:
    request = v2(description="It writes.", subject=subject(title="Edit a", content=[item("x")], kind="edit"))
    call = told(request)
    assert (call["toolCallId"], call["title"], call["kind"]) == ("t", "Edit a", "edit")
    assert call["content"] == [item("Allow it?\n\nIt writes."), item("x")]


def test_a_title_that_the_client_shows_already_is_kept_with_the_content() -> None:
    line = agent()
    shown = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit a", "content": [item("x")]}
    line.update_out(shown)
    ((_, _, params),) = line.ask_out(NAME, v2(subject=subject(status="pending")), "k")
    assert params["toolCall"]["title"] == "Edit a"
    assert params["toolCall"]["content"] == [item("Allow it?"), item("x")]


def test_a_tool_call_without_a_title_takes_the_one_of_the_request() -> None:
    call = told(v2(subject=subject()))
    assert call == {"toolCallId": "t", "title": "Allow it?"}


def test_a_command_is_a_tool_call_that_executes() -> None:
    call = told(v2(subject={"type": "command", "command": "rm x", "cwd": "/w", "toolCallId": "c"}))
    assert (call["toolCallId"], call["kind"], call["title"]) == ("c", "execute", "Allow it?")
    assert call["rawInput"] == {"command": "rm x", "cwd": "/w"}
    assert call["content"] == [item("```\nrm x\n```")]


@pytest.mark.parametrize("members", [{}, {"subject": None}, {"subject": {"type": "_visit", "url": "u"}}])
def test_a_request_without_a_tool_call_gets_one(members: Any) -> None:
    call = told(v2(description="Why.", **members))
    assert (call["title"], call["content"]) == ("Allow it?", [item("Why.")])


@pytest.mark.req("v1-permissions-02")
def test_options_of_a_kind_that_v1_does_not_know_are_left_out() -> None:
    other = {"optionId": "m", "name": "Maybe", "kind": "_maybe"}
    ((_, _, params),) = agent().ask_out(NAME, v2(options=[*OPTIONS, other]), "k")
    assert params["options"] == OPTIONS
    assert agent().ask_out(NAME, v2(options=[other]), "k") == [["answer", "k", {"outcome": {"outcome": "cancelled"}}]]


@pytest.mark.req("v2-permissions-07")
@pytest.mark.parametrize(
    ("outcome", "heard"),
    [
        ({"outcome": "selected", "optionId": "y"}, {"outcome": "selected", "optionId": "y"}),
        ({"outcome": "cancelled"}, {"outcome": "cancelled"}),
        ({"outcome": "_granted"}, {"outcome": "cancelled"}),
    ],
)
def test_an_outcome_that_is_not_known_allows_nothing_either_way(outcome: Any, heard: Any) -> None:
    line = agent()
    line.ask_out(NAME, v2(), "k")
    assert line.answer_in("k", {"outcome": outcome}) == [["answer", "k", {"outcome": outcome}]]
    line = client()
    line.ask_in(NAME, v1(title="T"), "k")
    assert line.answer_out("k", {"outcome": outcome}) == [["answer", "k", {"outcome": heard}]]


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-permissions-01", "v2-permissions-02", "v2-permissions-06")
def test_the_tool_call_of_v1_is_the_subject() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": None, "newText": "x"}
    ((_, _, params),) = client().ask_in(NAME, v1(title="Edit a", kind="edit", content=[diff]), "k")
    assert params["title"] == "Edit a"
    call = params["subject"]["toolCall"]
    assert params["subject"]["type"] == "tool_call"
    assert call["content"][0]["changes"] == [{"operation": "add", "path": "/a"}]


def test_a_tool_call_without_a_title_has_the_one_it_was_announced_with() -> None:
    line = client()
    assert line.ask_in(NAME, v1(), "k1")[0][2]["title"] == "Tool call"
    line.update_in({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Edit a"})
    assert line.ask_in(NAME, v1(), "k2")[0][2]["title"] == "Edit a"


def round_trip(request: Any) -> Any:
    ((_, _, down),) = agent().ask_out(NAME, request, "k")
    ((_, _, up),) = client().ask_in(NAME, down, "k")
    return up


@pytest.mark.parametrize(
    "request_",
    [
        v2(subject=subject(title="Allow it?", content=[item("x")], kind="edit"), _meta={"k": 1}),
        v2(subject=subject(title="Allow it?", _meta={"k": 1})),
    ],
)
def test_a_request_with_the_title_of_its_tool_call_goes_down_and_up_unchanged(request_: Any) -> None:
    assert round_trip(request_) == request_


SAID = item("Allow it?\n\nIt writes.")


@pytest.mark.parametrize(
    ("request_", "heard"),
    [
        (
            v2(description="It writes.", subject=subject(title="Edit a", content=[item("x")], kind="edit")),
            v2(title="Edit a", subject=subject(title="Edit a", content=[SAID, item("x")], kind="edit")),
        ),
        (
            v2(subject=subject(title="Edit a", content=[])),
            v2(title="Edit a", subject=subject(title="Edit a", content=[item("Allow it?")])),
        ),
        (v2(subject=subject(kind="edit")), v2(subject=subject(title="Allow it?", kind="edit"))),
        (
            v2(
                subject={"type": "command", "command": "rm x", "cwd": "/w", "toolCallId": "t", "_meta": {"k": 1}},
                description="It writes.",
            ),
            v2(
                subject=subject(
                    title="Allow it?",
                    kind="execute",
                    content=[item("It writes."), item("```\nrm x\n```")],
                    rawInput={"command": "rm x", "cwd": "/w"},
                    _meta={"k": 1},
                )
            ),
        ),
    ],
)
def test_the_words_of_a_request_stay_where_v1_shows_them(request_: Any, heard: Any) -> None:
    assert round_trip(request_) == heard


@pytest.mark.parametrize("members", [{}, {"subject": None}, {"subject": {"type": "_visit", "url": "u"}}])
def test_a_request_about_nothing_that_v1_knows_is_about_a_tool_call_of_its_own(members: Any) -> None:
    heard = round_trip(v2(description="Why not?", **members))
    call = heard["subject"]["toolCall"]
    assert heard == v2(subject={"type": "tool_call", "toolCall": call})
    assert call == {"toolCallId": call["toolCallId"], "title": "Allow it?", "content": [item("Why not?")]}


def test_a_command_of_a_known_tool_call_leaves_its_title_and_input_alone() -> None:
    line = agent()
    line.update_out({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Tidy", "content": [item("x")]})
    command = {"type": "command", "command": "rm x", "cwd": "/w", "toolCallId": "t", "_meta": {"k": 1}}
    ((_, _, params),) = line.ask_out(NAME, v2(subject=command), "k")
    shown = [item("Allow it?"), item("```\nrm x\n```"), item("x")]
    assert params["toolCall"] == {"toolCallId": "t", "title": "Tidy", "content": shown, "_meta": {"k": 1}}


@pytest.mark.parametrize("end", ["answered", "refused", "given up"])
def test_the_words_of_a_request_do_not_stay_with_a_known_tool_call(end: str) -> None:
    line = agent()
    line.update_out({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit a", "content": [item("x")]})
    line.ask_out(NAME, v2(subject=subject()), "k")
    assert not line.edge.behind(), "while the question is open its words are shown"
    match end:
        case "answered":
            line.answer_in("k", {"outcome": {"outcome": "cancelled"}})
        case "refused":
            line.refuse_in("k", -32603)
        case _:
            line.edge.forget("k")
    begun = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}
    assert line.update_out(begun) == [{**begun, "content": [item("x")]}]
    assert line.update_out(begun) == [begun]


def test_a_request_that_outlives_its_session_leaves_nothing_to_be_sent() -> None:
    line = agent()
    line.update_out({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit a"})
    line.ask_out(NAME, v2(subject=subject()), "k")
    line.ask_in("session/close", {"sessionId": SESSION}, "c")
    line.answer_out("c", {})
    line.answer_in("k", {"outcome": {"outcome": "cancelled"}})
    assert not line.edge.behind()


def test_content_that_a_request_brings_stays_until_there_is_other_content() -> None:
    line = agent()
    line.update_out({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Edit a"})
    line.ask_out(NAME, v2(subject=subject(content=[item("x")])), "k")
    line.answer_in("k", {"outcome": {"outcome": "cancelled"}})
    assert not line.edge.behind()
