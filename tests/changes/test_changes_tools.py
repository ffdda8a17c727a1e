"""Tool calls across the versions: patches and appended content in v2, announcements and replacements in v1."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, call, client, fitting, idle, item, prompt, tool

from duologue.protocol.changes.memory import Bounds, ClientExtras
from duologue.protocol.v2 import table as v2


def content_chunk(words: str, tool_call_id: str = "t") -> Any:
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": tool_call_id, "content": item(words)}


# --- Down ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-tools-01")
def test_the_first_sight_of_a_tool_call_is_announced_with_its_title() -> None:
    line = agent()
    members: dict[str, Any] = {
        "title": "Read a",
        "kind": "read",
        "status": "pending",
        "rawInput": {"path": "a"},
        "name": "read",
    }
    assert line.update_out(tool(**members)) == [call(**members)]
    assert line.update_out(tool(status="completed")) == [tool(status="completed")]


@pytest.mark.parametrize(("members", "title"), [({}, "Tool call"), ({"name": "read"}, "read")])
def test_a_tool_call_without_a_title_gets_one(members: Any, title: str) -> None:
    assert agent().update_out(tool(**members)) == [call(title=title, **members)]


def test_a_patch_that_v1_would_write_too_goes_out_as_the_same_object() -> None:
    line = agent()
    line.update_out(tool(title="T"))
    update = tool(status="in_progress", title="T2", kind="edit", locations=[{"path": "/a"}], rawOutput=3)
    note = fitting(v2.SESSION_UPDATE.params, {"sessionId": SESSION, "update": update})
    assert line.edge.update_out(note) is note


@pytest.mark.req("v1-tools-03", "v1-tools-07")
def test_nulls_become_what_v1_can_say() -> None:
    line = agent()
    line.update_out(tool(title="T"))
    nulls: dict[str, Any] = dict.fromkeys(
        ("title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput")
    )
    assert line.update_out(tool(**nulls)) == [tool(kind="other", status="pending", content=[], locations=[])]


@pytest.mark.req("v1-tools-03")
def test_values_that_v1_does_not_know_are_said_as_nearly_as_it_can() -> None:
    (told,) = agent().update_out(tool(title="T", kind="_dream", status="_asleep"))
    assert told == call(title="T", kind="other", status="in_progress")
    assert client().update_in(told) == [tool(title="T", kind="other", status="in_progress")]


def test_a_cancelled_tool_call_has_failed_and_says_why() -> None:
    line, back = agent(), client()
    line.update_out(tool(title="T", content=[item("half")]))
    (told,) = line.update_out(tool(status="cancelled"))
    assert told == tool(status="failed", content=[item("half"), item("Cancelled.")])
    assert back.update_in(told) == [told]


def test_the_words_of_a_cancelled_tool_call_stay_last_while_it_is_cancelled() -> None:
    line = agent()
    line.update_out(tool(title="T", status="cancelled"))
    line.now += 1
    assert line.update_out(content_chunk("late")) == [tool(content=[item("late"), item("Cancelled.")])]
    assert line.update_out(tool(content=[item("new")])) == [tool(content=[item("new"), item("Cancelled.")])]
    assert line.update_out(tool(status="in_progress")) == [tool(status="in_progress", content=[item("new")])]


def test_a_cancelled_tool_call_shows_the_end_of_its_terminal_too() -> None:
    line = agent()
    line.memory.client = ClientExtras(terminal_output=False)
    line.update_out(tool(title="T", content=[{"type": "terminal", "terminalId": "x"}]))
    line.update_out(tool(status="cancelled"))
    ended = {"sessionUpdate": "terminal_update", "terminalId": "x", "exitStatus": {"signal": "SIGKILL"}}
    (told,) = line.update_out(ended)
    assert told == tool(content=[item("```\n[ended by SIGKILL]\n```"), item("Cancelled.")])


@pytest.mark.req("v1-tools-06")
def test_appended_content_is_sent_whole_at_a_bounded_pace() -> None:
    line = agent()
    line.update_out(tool(title="T", content=[item("0")]))
    assert line.update_out(content_chunk("1")) == [], "just sent"
    line.now += 0.11
    assert line.update_out(content_chunk("2")) == [tool(content=[item("0"), item("1"), item("2")])]
    assert line.update_out(content_chunk("3")) == []
    assert line.edge.behind()
    assert line.edge.catch_up() == ()
    line.now += 0.11
    assert len(line.edge.catch_up()) == 1
    assert not line.edge.behind()


def test_what_v1_is_behind_with_comes_with_the_next_update_of_the_call() -> None:
    line = agent()
    line.update_out(tool(title="T"))
    line.update_out(content_chunk("1"))
    line.update_out(content_chunk("2"))
    assert line.update_out(tool(status="completed")) == [tool(status="completed", content=[item("1"), item("2")])]
    assert line.update_out(tool(title="U")) == [tool(title="U")]


def test_what_v1_is_behind_with_comes_before_the_end_of_the_turn() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    line.update_out(tool(title="T", content=[]))
    line.update_out(content_chunk("1"))
    assert line.update_out(idle()) == [tool(content=[item("1")]), ["answer", "p", {"stopReason": "end_turn"}]]


def test_a_chunk_of_an_unseen_tool_call_announces_it() -> None:
    assert agent().update_out(content_chunk("1")) == [call(title="Tool call", content=[item("1")])]


def test_content_that_grows_without_end_loses_its_beginning() -> None:
    line = agent()
    line.memory.bounds = Bounds(tool_content=25)
    line.update_out(tool(title="T"))
    for number in range(10):
        line.now += 1
        (told,) = line.update_out(content_chunk(f"{number}" * 10))
    words = [one["content"]["text"] for one in told["content"]]
    assert words == ["[earlier content left out]", "8" * 10, "9" * 10]


def test_new_content_replaces_what_was_appended() -> None:
    line = agent()
    line.update_out(tool(title="T"))
    line.update_out(content_chunk("1"))
    assert line.update_out(tool(content=[item("new")])) == [tool(content=[item("new")])]
    line.now += 1
    assert line.update_out(content_chunk("2")) == [tool(content=[item("new"), item("2")])]


def test_items_and_blocks_that_v1_does_not_know_are_text() -> None:
    chart = {"type": "_chart", "points": [1]}
    said = tool(title="T", content=[chart, item("x"), {"type": "content", "content": chart, "_meta": {"k": 1}}])
    shown = [item("[_chart]"), item("x"), {**item("[_chart]"), "_meta": {"k": 1}}]
    assert agent().update_out(said) == [call(title="T", content=shown)]


def test_a_call_that_is_forgotten_is_nothing_to_wait_for() -> None:
    line = agent()
    line.memory.bounds = Bounds(tool_calls=1)
    line.update_out(tool(title="T"))
    line.update_out(content_chunk("1"))
    line.update_out(content_chunk("2"))
    assert line.edge.behind()
    line.update_out(tool("other", title="O"))
    assert not line.edge.behind()


@pytest.mark.parametrize("end", ["close", "evict", "load", "gone"])
def test_a_session_that_is_gone_is_nothing_to_wait_for(end: str) -> None:
    line = agent()
    line.memory.bounds = Bounds(sessions=1)
    for _ in range(2):
        line.update_out(tool(title="T"))
        line.update_out(content_chunk("1"))
    line.update_out(content_chunk("2"))
    assert line.edge.behind()
    if end == "close":
        line.ask_in("session/close", {"sessionId": SESSION}, "c")
        line.answer_out("c", {})
    elif end == "evict":
        line.update_out(tool(title="T"), session_id="another")
    elif end == "load":
        line.ask_in("session/load", {"sessionId": SESSION, "cwd": "/w", "mcpServers": []}, "l")
    else:
        line.edge.close()
    assert not line.edge.behind()
    assert line.edge.catch_up() == ()


def test_tool_calls_that_have_ended_are_forgotten_first() -> None:
    line = agent()
    line.memory.bounds = Bounds(tool_calls=2)
    line.update_out(tool("long", title="Long"))
    for number in range(5):
        line.update_out(tool(f"t{number}", title="T"))
        line.update_out(tool(f"t{number}", status="completed"))
    assert line.update_out(tool("long", status="completed")) == [tool("long", status="completed")]
    assert line.update_out(tool("t0", rawOutput=1)) == [tool("t0", rawOutput=1)], "forgotten, not announced again"
    assert line.update_out(tool("new", title="N")) == [call("new", title="N")]


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-tools-01", "v2-updates-11")
def test_both_updates_of_v1_are_patches() -> None:
    line = client()
    members: dict[str, Any] = {
        "title": "Read a",
        "kind": "read",
        "status": "pending",
        "content": [],
        "locations": [{"path": "/a"}],
    }
    assert line.update_in(call(**members)) == [tool(**members)]
    assert line.update_in(tool(status="completed", rawOutput={"n": 1})) == [
        tool(status="completed", rawOutput={"n": 1})
    ]


@pytest.mark.req("v1-tools-07")
def test_null_in_v1_means_unchanged() -> None:
    nulls: dict[str, Any] = dict.fromkeys(
        ("title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput")
    )
    assert client().update_in(tool(**nulls)) == [tool()]


@pytest.mark.req("v1-tools-04")
def test_values_that_v1_does_not_define_are_read_as_its_defaults() -> None:
    (told,) = client().update_in(call(title="T", kind="sing", status="paused"))
    assert told == tool(title="T", kind="other")
    (told,) = client().update_in(tool(kind="_own", status="cancelled"))
    assert told == tool(kind="_own", status="cancelled")


@pytest.mark.req("v1-tools-08")
def test_an_update_of_an_unseen_tool_call_is_the_first_sight_of_it() -> None:
    assert client().update_in(tool("never-seen", status="completed")) == [tool("never-seen", status="completed")]


def test_tool_calls_go_down_and_up_unchanged() -> None:
    line, back = agent(), client()
    steps = [
        tool(title="T", kind="execute", status="pending", rawInput={"a": [1]}, _meta={"k": 1}),
        tool(status="in_progress", content=[item("x")], locations=[{"path": "/a", "line": 3}]),
        tool(status="completed", rawOutput="done", name="run"),
    ]
    assert [back.update_in(told) for step in steps for told in line.update_out(step)] == [[step] for step in steps]
