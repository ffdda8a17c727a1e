"""Messages across the versions: whole ones become chunks, chunks without an id get one."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, chunk, client, fitting, plain, prompt, text

from duologue.protocol.changes.memory import Bounds
from duologue.protocol.changes.quick import QuickNotification
from duologue.protocol.v1 import table as v1
from duologue.protocol.v2 import table as v2

LINK = {"type": "resource_link", "name": "n", "uri": "file:///n"}
ICONS = [{"src": "data:,x", "theme": "dark"}]


def whole(kind: str, message_id: str, *words: str, **members: Any) -> Any:
    return {"sessionUpdate": kind, "messageId": message_id, "content": [text(one) for one in words], **members}


# --- Down ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["agent_message", "agent_thought", "user_message"])
def test_a_chunk_goes_out_as_the_same_object(kind: str) -> None:
    note = fitting(v2.SESSION_UPDATE.params, {"sessionId": SESSION, "update": chunk(kind, "hi", "m")})
    assert agent().edge.update_out(note) is note


def test_a_whole_message_becomes_chunks_of_what_is_new() -> None:
    line = agent()
    assert line.update_out(whole("agent_message", "m", "one", "two", _meta={"k": 1})) == [
        {**chunk("agent_message", "one", "m"), "_meta": {"k": 1}},
        chunk("agent_message", "two", "m"),
    ]
    assert line.update_out(whole("agent_message", "m", "one", "two", "three")) == [chunk("agent_message", "three", "m")]
    assert line.update_out(whole("agent_message", "m", "onetwothree", "four")) == [chunk("agent_message", "four", "m")]


def test_a_whole_message_that_says_the_chunks_again_says_nothing() -> None:
    line = agent()
    for words in ("he", "llo", ""):
        line.update_out(chunk("agent_message", words, "m"))
    assert line.update_out(whole("agent_message", "m", "hello")) == []
    assert line.update_out(whole("agent_message", "m", "hel", "lo world")) == [chunk("agent_message", " world", "m")]


def test_messages_that_take_turns_are_told_apart() -> None:
    line = agent()
    line.update_out(chunk("agent_message", "a", "m"))
    line.update_out(chunk("agent_message", "x", "n"))
    line.update_out(chunk("agent_message", "b", "m"))
    assert line.update_out(whole("agent_message", "m", "abc")) == [chunk("agent_message", "c", "m")]
    assert line.update_out(whole("agent_message", "n", "xy")) == [chunk("agent_message", "y", "n")]


def test_many_chunks_are_one_message() -> None:
    line = agent()
    for number in range(1000):
        line.update_out(chunk("agent_message", f"{number} ", "m"))
    said = "".join(f"{number} " for number in range(1000))
    assert line.update_out(whole("agent_message", "m", said + "end")) == [chunk("agent_message", "end", "m")]
    assert len(line.memory.sessions[SESSION].sent["m"].blocks) < 300


def test_a_replacement_is_shown_as_a_further_message_which_chunks_go_on_with() -> None:
    line = agent()
    line.update_out(chunk("agent_message", "wrong", "m"))
    assert line.update_out(whole("agent_message", "m", "right")) == [chunk("agent_message", "right", "m~1")]
    assert line.update_out(chunk("agent_message", "!", "m")) == [chunk("agent_message", "!", "m~1")]
    assert line.update_out(whole("agent_message", "m", "right!?")) == [chunk("agent_message", "?", "m~1")]


@pytest.mark.parametrize("content", [None, []])
def test_an_emptied_message_says_nothing_and_starts_anew(content: Any) -> None:
    line = agent()
    line.update_out(chunk("agent_message", "old", "m"))
    emptied = {"sessionUpdate": "agent_message", "messageId": "m", "content": content}
    assert line.update_out(emptied) == []
    assert line.update_out(whole("agent_message", "m", "new"))[0]["content"] == text("new")


def test_a_message_without_content_says_nothing() -> None:
    line = agent()
    assert line.update_out({"sessionUpdate": "agent_thought", "messageId": "m", "_meta": {"k": 1}}) == []


def test_other_blocks_count_as_what_they_are() -> None:
    line = agent()
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    seen = {"sessionUpdate": "agent_message", "messageId": "m", "content": [text("a"), image]}
    assert [one["content"] for one in line.update_out(seen)] == [text("a"), image]
    again = {**seen, "content": [text("a"), image, text("b")]}
    assert line.update_out(again) == [chunk("agent_message", "b", "m")]
    other = {**seen, "content": [text("a"), {**image, "data": "BB=="}]}
    assert [one["messageId"] for one in line.update_out(other)] == ["m~1", "m~1"]


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({**LINK, "icons": ICONS, "_meta": {"k": 1}}, {**LINK, "_meta": {"k": 1}}),
        ({"type": "_chart", "points": [1, 2]}, text("[_chart]")),
        (LINK, LINK),
    ],
)
def test_v1_gets_links_without_icons_and_blocks_that_it_does_not_know_as_text(block: Any, shown: Any) -> None:
    said = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": block}
    assert agent().update_out(said) == [{**said, "content": shown}]
    assert client().update_in({**said, "content": shown}) == [{**said, "content": shown}]


def test_a_block_that_no_version_knows_comes_up_as_it_is_however_it_was_read() -> None:
    said = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "_chart", "points": [1, 2]}}
    assert client().update_in(said) == [said]
    quick = fitting(QuickNotification, {"sessionId": SESSION, "update": said})
    assert plain(client().edge.update_in(quick))["update"] == said


def test_what_is_remembered_of_messages_is_bounded() -> None:
    line = agent()
    line.memory.bounds = Bounds(messages=10, sessions=3)
    for number in range(50):
        line.update_out(chunk("agent_message", "x", f"m{number}"), session_id=f"s{number % 5}")
    assert len(line.memory.sessions) == 3
    assert all(len(session.sent) <= 10 for session in line.memory.sessions.values())


def test_a_session_with_an_open_prompt_is_not_the_first_to_be_forgotten() -> None:
    line = agent()
    line.memory.bounds = Bounds(sessions=2)
    line.ask_in("session/prompt", prompt("hi", "busy"), "p")
    for number in range(5):
        line.update_out(chunk("agent_message", "x", "m"), session_id=f"s{number}")
    assert "busy" in line.memory.sessions


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-updates-04", "v2-updates-02")
def test_an_id_of_v1_is_kept() -> None:
    line = client()
    for said in (chunk("agent_message", "a", "m"), chunk("agent_message", "b", "m"), chunk("user_message", "c", "n")):
        assert line.update_in(said) == [said]


@pytest.mark.req("v1-updates-03", "v2-updates-02")
def test_chunks_without_an_id_are_joined_until_something_comes_between() -> None:
    line = client()

    def ids(*said: Any) -> list[str]:
        return [one["messageId"] for update in said for one in line.update_in(update) if "messageId" in one]

    null = {**chunk("agent_message", "b"), "messageId": None}
    tool = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}
    plan = {"sessionUpdate": "plan", "entries": []}
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    said = chunk("agent_message", "a")
    assert ids(said, null, usage, said) == ["duologue-1"] * 3
    assert ids(tool, said, plan, said) == ["duologue-2", "duologue-3"]
    assert ids(chunk("agent_thought", "a"), said) == ["duologue-4", "duologue-5"]


def test_a_turn_ends_a_message() -> None:
    line = client()
    said = chunk("agent_message", "a")
    for expected in ("duologue-2", "duologue-4"):
        line.ask_out("session/prompt", prompt(), "p")
        assert line.update_in(said)[-1]["messageId"] == expected
        line.answer_in("p", {"stopReason": "end_turn"})


def test_made_up_ids_are_the_same_in_each_run() -> None:
    said = [chunk("agent_message", "a"), chunk("agent_thought", "b"), chunk("agent_message", "c", "m")]
    first, second = client(), client()
    assert [first.update_in(one) for one in said] == [second.update_in(one) for one in said]


@pytest.mark.req("v2-updates-03")
def test_an_id_that_a_thought_and_an_answer_share_is_made_two() -> None:
    line = client()
    for _ in range(2):
        assert line.update_in(chunk("agent_thought", "hm", "m")) == [chunk("agent_thought", "hm", "m")]
        assert line.update_in(chunk("agent_message", "yes", "m")) == [chunk("agent_message", "yes", "m~agent")]


def test_updates_that_are_the_same_in_both_versions_stay_what_they_are() -> None:
    for update in (
        {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "EUR"}},
        {"sessionUpdate": "session_info_update", "title": None, "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionUpdate": "_vendor_update", "x": [1]},
    ):
        assert agent().update_out(update) == [update]
        assert client().update_in(update) == [update]


def test_the_same_way_serves_notifications_by_method() -> None:
    said = {"sessionId": SESSION, "update": chunk("agent_message", "a", "m")}
    assert agent().notify_out("session/update", said) == [["notify", "session/update", said]]
    assert client().notify_in("session/update", said) == [["notify", "session/update", said]]


def test_a_chunk_of_the_agent_costs_one_look_at_the_memory() -> None:
    line = client()
    line.update_in(chunk("agent_message", "a", "m"))
    note = fitting(v1.SESSION_UPDATE.params, {"sessionId": SESSION, "update": chunk("agent_message", "b", "m")})
    made = line.edge.update_in(note)
    assert made.update.content is note.update.content
    assert made.update.message_id is line.memory.sessions[SESSION].message_id
