"""Commands and suggested edits across the versions, and what passes as it is."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, client

COMMAND = {"name": "web", "description": "Search."}
AT = {"line": 1, "character": 2}
PLACE = {"uri": "file:///a", "position": AT}


def commands(*several: Any) -> Any:
    return {"sessionUpdate": "available_commands_update", "availableCommands": list(several)}


@pytest.mark.req("v1-commands-01", "v2-commands-01", "v2-commands-02")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"input": {"hint": "q", "_meta": {"k": 1}}}, {"input": {"type": "text", "hint": "q", "_meta": {"k": 1}}}),
        ({}, {}),
        ({"input": None}, {"input": None}),
        ({"_meta": {"k": 1}}, {"_meta": {"k": 1}}),
    ],
)
def test_commands(old: Any, new: Any) -> None:
    v1, v2 = commands({**COMMAND, **old}), commands({**COMMAND, **new})
    assert agent().update_out(v2) == [v1]
    assert client().update_in(v1) == [v2]


def test_a_command_whose_input_is_no_text_takes_none_in_v1() -> None:
    assert agent().update_out(commands({**COMMAND, "input": {"type": "_form", "hint": "q"}})) == [commands(COMMAND)]


SUGGESTIONS: list[dict[str, Any]] = [
    {"kind": "edit", "uri": "file:///a", "edits": [{"range": {"start": AT, "end": AT}, "newText": "x"}]},
    {"kind": "jump", **PLACE},
    {"kind": "rename", **PLACE, "newName": "n"},
    {"kind": "searchAndReplace", "uri": "file:///a", "search": "a", "replace": "b", "isRegex": None},
]


def test_suggested_edits() -> None:
    asked = {"sessionId": SESSION, **PLACE, "version": 1, "triggerKind": "manual"}
    old = {"suggestions": [{**one, "id": str(number)} for number, one in enumerate(SUGGESTIONS)]}
    new = {"suggestions": [{**one, "suggestionId": str(number)} for number, one in enumerate(SUGGESTIONS)]}
    other = {"kind": "_dance", "suggestionId": "9"}
    line, back = agent(), client()
    assert line.ask_in("nes/suggest", asked, "s") == [["ask", "nes/suggest", asked]]
    answer = {"suggestions": [*new["suggestions"], other]}
    assert line.answer_out("s", answer) == [["answer", "s", old]]
    assert back.ask_out("nes/suggest", asked, "s") == [["ask", "nes/suggest", asked]]
    assert back.answer_in("s", {"suggestions": [*old["suggestions"], {"kind": "_dance", "id": "9"}]}) == [
        ["answer", "s", answer]
    ]


@pytest.mark.parametrize(("name", "members"), [("nes/accept", {}), ("nes/reject", {"reason": "replaced"})])
def test_what_became_of_a_suggestion(name: str, members: Any) -> None:
    old = {"sessionId": SESSION, "id": "1", **members}
    new = {"sessionId": SESSION, "suggestionId": "1", **members}
    assert agent().notify_in(name, old) == [["notify", name, new]]
    assert client().notify_out(name, new) == [["notify", name, old]]


@pytest.mark.parametrize(
    ("name", "params", "result"),
    [
        ("providers/list", {}, {"providers": []}),
        ("mcp/message", {"connectionId": "c", "method": "tools/list"}, {"tools": []}),
        ("nes/start", {}, {"sessionId": "n"}),
    ],
)
def test_methods_that_did_not_change_pass_as_they_are(name: str, params: Any, result: Any) -> None:
    line, back = agent(), client()
    assert line.ask_in(name, params, "k") == [["ask", name, params]]
    assert line.answer_out("k", result) == [["answer", "k", result]]
    assert back.ask_out(name, params, "k") == [["ask", name, params]]
    assert back.answer_in("k", result) == [["answer", "k", result]]
    assert back.refuse_in("k", -32603) == [["refuse", "k", -32603, "no"]]


@pytest.mark.parametrize("name", ["fs/write_text_file", "terminal/kill"])
def test_methods_that_only_v1_has_pass_as_they_are(name: str) -> None:
    params = {"sessionId": SESSION, "path": "/a", "content": "x", "terminalId": "x"}
    line = client()
    ((what, called, _),) = line.ask_in(name, params, "k")
    assert (what, called) == ("ask", name)
    assert line.answer_out("k", {}) == [["answer", "k", {}]]


def test_notifications_that_did_not_change_pass_as_they_are() -> None:
    closed = {"sessionId": SESSION, "uri": "file:///a"}
    assert agent().notify_in("document/didClose", closed) == [["notify", "document/didClose", closed]]
    assert client().notify_out("document/didClose", closed) == [["notify", "document/didClose", closed]]


@pytest.mark.parametrize("number", [7, "seven", None])
def test_the_id_of_a_request_is_that_of_the_wire_on_both_sides(number: Any) -> None:
    cancel = {"requestId": number}
    for line in (agent(), client()):
        assert line.notify_in("$/cancel_request", cancel) == [["notify", "$/cancel_request", cancel]]
        assert line.notify_out("$/cancel_request", cancel) == [["notify", "$/cancel_request", cancel]]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = {"mode": "form", "requestId": number, "message": "Who?", "requestedSchema": schema}
    line = client()
    line.ask_out("session/prompt", {"sessionId": SESSION, "prompt": []}, "p")
    assert line.ask_in("elicitation/create", asked, "e") == [["ask", "elicitation/create", asked]]
    assert line.answer_out("e", {"action": "cancel"}) == [["answer", "e", {"action": "cancel"}]]
    assert agent().ask_out("elicitation/create", asked, "e") == [["ask", "elicitation/create", asked]]
