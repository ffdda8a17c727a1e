"""Turns across the versions: one long request in v1, an accepted prompt and states in v2."""

from __future__ import annotations

import pytest
from changes_kit import (
    REQUIRES_ACTION,
    RUNNING,
    SESSION,
    agent,
    chunk,
    client,
    idle,
    prompt,
    text,
    updates,
    user_message,
)

from duologue.protocol.failed_turns import ERROR_STOP, error_meta

FAILED = {"sessionUpdate": "state_update", "state": "idle", "stopReason": ERROR_STOP}
TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look"}
PERMISSION = {
    "sessionId": SESSION,
    "toolCall": {"toolCallId": "t", "title": "Edit"},
    "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
}


# --- A v2 agent serves a v1 client -----------------------------------------------------------------------------------


@pytest.mark.req("v1-prompt-03", "v1-prompt-05")
def test_the_answer_of_a_v1_prompt_is_the_idle_state_behind_all_updates() -> None:
    line = agent()
    assert line.ask_in("session/prompt", prompt(), "p") == [["ask", "session/prompt", prompt()]]
    assert line.answer_out("p", {}) == []
    assert line.update_out(user_message("u")) == []
    assert line.update_out(RUNNING) == []
    assert line.update_out(chunk("agent_message", "yes", "a")) == [chunk("agent_message", "yes", "a")]
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    assert line.update_out(idle("max_tokens", usage=usage, _meta={"k": 1})) == [
        ["answer", "p", {"stopReason": "max_tokens", "usage": usage, "_meta": {"k": 1}}]
    ]


def test_states_without_an_open_prompt_say_nothing_to_v1() -> None:
    line = agent()
    assert line.update_out(idle(None)) == []
    assert line.update_out(RUNNING) == []
    assert line.update_out(REQUIRES_ACTION) == []
    assert line.update_out(idle("end_turn")) == []


def test_the_user_message_may_come_before_the_acceptance() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    assert line.update_out(user_message("u")) == []
    assert line.answer_out("p", {}) == []
    assert line.update_out(idle()) == [["answer", "p", {"stopReason": "end_turn"}]]


def test_the_users_words_are_not_sent_back_also_in_chunks_but_others_are() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(chunk("user_message", "h", "u")) == []
    assert line.update_out(chunk("user_message", "i", "u")) == []
    assert line.update_out(chunk("user_message", "from elsewhere", "w")) == [
        chunk("user_message", "from elsewhere", "w")
    ]
    line.update_out(idle())
    assert line.update_out(user_message("u")) == [], "the same message again, after the turn"
    assert line.update_out(user_message("x")) == [chunk("user_message", "hi", "x")]


def test_queued_prompts_are_answered_in_order_each_at_its_own_idle() -> None:
    line = agent()
    for key in ("p1", "p2"):
        line.ask_in("session/prompt", prompt(key), key)
        assert line.answer_out(key, {}) == []
    assert line.update_out(user_message("u1")) == []
    assert line.update_out(idle()) == [["answer", "p1", {"stopReason": "end_turn"}]]
    assert line.update_out(user_message("u2")) == []
    assert line.update_out(idle("refusal")) == [["answer", "p2", {"stopReason": "refusal"}]]


def test_prompts_taken_into_one_turn_end_with_it() -> None:
    line = agent()
    for key in ("p1", "p2"):
        line.ask_in("session/prompt", prompt(key), key)
        line.answer_out(key, {})
        line.update_out(user_message(f"u-{key}"))
    assert [step[1] for step in line.update_out(idle())] == ["p1", "p2"]


@pytest.mark.req("v1-cancellation-01", "v1-cancellation-03")
def test_a_cancel_ends_the_running_prompt_and_the_queued_ones() -> None:
    line = agent()
    for key in ("p1", "p2"):
        line.ask_in("session/prompt", prompt(key), key)
        line.answer_out(key, {})
    line.update_out(user_message("u1"))
    cancel = {"sessionId": SESSION, "_meta": {"why": "key"}}
    assert line.notify_in("session/cancel", cancel) == [["notify", "session/cancel", cancel]]
    assert line.update_out(chunk("agent_message", "late", "a")) == [chunk("agent_message", "late", "a")]
    assert line.update_out(idle("cancelled")) == [["answer", "p1", {"stopReason": "cancelled"}]]
    assert line.update_out(user_message("u2")) == []
    assert line.update_out(idle("cancelled")) == [["answer", "p2", {"stopReason": "cancelled"}]]


def test_a_refused_prompt_is_an_error_in_both() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    assert line.refuse_out("p", -32602, "bad block") == [["refuse", "p", -32602, "bad block"]]
    assert line.update_out(idle()) == []


def test_a_failed_turn_is_the_error_of_its_prompt() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    failed = {**FAILED, "_meta": error_meta(-32603, "the model is away")}
    assert line.update_out(failed) == [["refuse", "p", -32603, "the model is away"]]


def test_a_failed_turn_without_its_error_is_still_an_error() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(FAILED) == [["refuse", "p", -32603, "The turn failed"]]


@pytest.mark.req("v1-prompt-04")
@pytest.mark.parametrize("reason", ["_paused", "out_of_coffee"])
def test_v1_never_hears_a_stop_reason_that_it_does_not_know(reason: str) -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(idle(reason)) == [["answer", "p", {"stopReason": "end_turn"}]]


def test_an_idle_without_a_reason_ends_only_a_turn_that_has_begun() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(idle(None)) == []
    line.update_out(user_message("u"))
    assert line.update_out(idle(None)) == [["answer", "p", {"stopReason": "end_turn"}]]


def test_an_idle_of_other_work_does_not_end_a_prompt_that_is_not_accepted() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    assert line.update_out(idle()) == []
    line.answer_out("p", {})
    line.update_out(user_message("u"))
    assert line.update_out(idle()) == [["answer", "p", {"stopReason": "end_turn"}]]


def test_the_end_of_other_work_does_not_end_a_prompt_that_came_behind_it() -> None:
    line = agent()
    line.update_out(RUNNING)
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(idle()) == []
    line.update_out(user_message("u"))
    assert line.update_out(idle("refusal")) == [["answer", "p", {"stopReason": "refusal"}]]


def test_prompts_of_an_agent_that_owes_its_user_messages_end_in_order() -> None:
    line = agent()
    for key in ("p1", "p2"):
        line.ask_in("session/prompt", prompt(key), key)
        line.answer_out(key, {})
        line.update_out(RUNNING)
    line.ask_in("session/prompt", prompt("refused"), "p3")
    line.ask_in("session/prompt", prompt("behind"), "p4")
    line.answer_out("p4", {})
    for key in ("p1", "p2", "p4"):
        assert line.update_out(idle()) == [["answer", key, {"stopReason": "end_turn"}]]


@pytest.mark.req("all-prompt-04")
def test_turns_of_different_sessions_do_not_touch_each_other() -> None:
    line = agent()
    for session in ("one", "two"):
        line.ask_in("session/prompt", prompt("hi", session), session)
        line.answer_out(session, {})
        line.update_out(user_message("u"), session)
    assert line.update_out(idle(), "two") == [["answer", "two", {"stopReason": "end_turn"}]]
    assert line.update_out(idle(), "one") == [["answer", "one", {"stopReason": "end_turn"}]]


@pytest.mark.req("all-session-08")
@pytest.mark.parametrize("name", ["session/close", "session/delete"])
def test_a_session_that_is_gone_ends_its_open_prompts(name: str) -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    line.ask_in(name, {"sessionId": SESSION}, "c")
    assert line.answer_out("c", {}) == [["answer", "p", {"stopReason": "cancelled"}], ["answer", "c", {}]]


# --- A v2 client drives a v1 agent -----------------------------------------------------------------------------------


def accepted(key: str, message_id: str, words: str = "hi") -> list[object]:
    return [["answer", key, {}], user_message(message_id, words), RUNNING]


@pytest.mark.req("v2-prompt-03", "v2-prompt-04", "v2-prompt-06")
def test_the_first_sign_of_work_accepts_the_prompt() -> None:
    line = client()
    assert line.ask_out("session/prompt", prompt(), "p") == [["ask", "session/prompt", prompt()]]
    said = chunk("agent_message", "yes", "a")
    assert line.update_in(said) == [*accepted("p", "duologue-1"), said]
    assert line.update_in(said) == [said]
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    result = {"stopReason": "end_turn", "usage": usage, "_meta": {"k": 1}}
    assert updates(line.answer_in("p", result)) == [idle("end_turn", usage=usage, _meta={"k": 1})]


def test_a_turn_without_updates_is_accepted_at_its_end() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    assert updates(line.answer_in("p", {"stopReason": "refusal"})) == [*accepted("p", "duologue-1"), idle("refusal")]


def test_news_that_show_no_work_do_not_accept_a_prompt() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    assert line.update_in(usage) == [usage]
    assert line.refuse_in("p", -32000, "log in") == [["refuse", "p", -32000, "log in"]]
    assert line.update_in(chunk("agent_message", "late", "a")) == [chunk("agent_message", "late", "a")]


def test_an_error_after_the_acceptance_ends_the_turn() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    line.update_in(TOOL)
    shown = updates(line.refuse_in("p", -32603, "boom", {"x": 1}))
    assert shown == [{**FAILED, "_meta": error_meta(-32603, "boom", {"x": 1})}]


@pytest.mark.req("v2-cancellation-03")
def test_a_prompt_withdrawn_by_a_cancel_ends_as_cancelled() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    assert line.notify_out("session/cancel", {"sessionId": SESSION}) == [
        ["notify", "session/cancel", {"sessionId": SESSION}]
    ]
    assert updates(line.refuse_in("p", -32800)) == [*accepted("p", "duologue-1"), idle("cancelled")]


def test_queued_prompts_each_begin_and_end() -> None:
    line = client()
    line.ask_out("session/prompt", prompt("one"), "p1")
    line.ask_out("session/prompt", prompt("two"), "p2")
    said = chunk("agent_message", "yes")
    assert line.update_in(said)[:3] == accepted("p1", "duologue-1", "one")
    assert len(line.update_in(said)) == 1
    assert updates(line.answer_in("p1", {"stopReason": "end_turn"})) == [idle()]
    assert line.update_in(said)[:3] == accepted("p2", "duologue-3", "two")
    assert updates(line.answer_in("p2", {"stopReason": "cancelled"})) == [idle("cancelled")]


def test_a_prompt_taken_into_the_running_turn_ends_with_that_turn() -> None:
    line = client()
    line.ask_out("session/prompt", prompt("one"), "p1")
    line.ask_out("session/prompt", prompt("two"), "p2")
    line.update_in(TOOL)
    assert updates(line.answer_in("p2", {"stopReason": "end_turn"})) == [
        ["answer", "p2", {}],
        user_message("duologue-2", "two"),
    ]
    assert updates(line.answer_in("p1", {"stopReason": "end_turn"})) == [idle()]


def test_a_second_prompt_that_is_refused_leaves_the_first_alone() -> None:
    line = client()
    line.ask_out("session/prompt", prompt("one"), "p1")
    line.ask_out("session/prompt", prompt("two"), "p2")
    line.update_in(TOOL)
    assert line.refuse_in("p2", -32600, "busy") == [["refuse", "p2", -32600, "busy"]]
    assert updates(line.answer_in("p1", {"stopReason": "end_turn"})) == [idle()]


def test_an_agent_that_sends_the_prompt_back_is_not_heard_twice() -> None:
    line = client()
    line.ask_out("session/prompt", prompt("hi"), "p")
    assert line.update_in(chunk("user_message", "hi")) == accepted("p", "duologue-1")
    assert line.update_in(chunk("user_message", "hi")) == [chunk("user_message", "hi", "duologue-2")]


@pytest.mark.req("v2-prompt-08")
def test_a_permission_request_makes_the_session_wait() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    steps = line.ask_in("session/request_permission", PERMISSION, "r")
    assert updates(steps)[:4] == [*accepted("p", "duologue-1"), REQUIRES_ACTION]
    assert steps[4][:2] == ["ask", "session/request_permission"]
    outcome = {"outcome": {"outcome": "selected", "optionId": "y"}}
    assert updates(line.answer_out("r", outcome)) == [["answer", "r", outcome], RUNNING]


def test_the_session_waits_until_the_last_question_is_answered() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    line.ask_in("session/request_permission", PERMISSION, "r1")
    assert [step[0] for step in line.ask_in("session/request_permission", PERMISSION, "r2")] == ["ask"]
    assert [step[0] for step in line.refuse_out("r1", -32603)] == ["refuse"]
    outcome = {"outcome": {"outcome": "cancelled"}}
    assert updates(line.answer_out("r2", outcome)) == [["answer", "r2", outcome], RUNNING]


def test_an_answer_after_the_end_of_the_turn_does_not_start_it_again() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    line.ask_in("session/request_permission", PERMISSION, "r")
    assert updates(line.answer_in("p", {"stopReason": "cancelled"})) == [idle("cancelled")]
    outcome = {"outcome": {"outcome": "cancelled"}}
    assert line.answer_out("r", outcome) == [["answer", "r", outcome]]


def test_an_elicitation_makes_the_session_wait_too() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    asked = {"mode": "form", "sessionId": SESSION, "message": "?", "requestedSchema": {"type": "object"}}
    steps = line.ask_in("elicitation/create", asked, "e")
    assert updates(steps)[3:] == [REQUIRES_ACTION, ["ask", "elicitation/create", asked]]
    assert updates(line.answer_out("e", {"action": "decline"})) == [["answer", "e", {"action": "decline"}], RUNNING]


@pytest.mark.req("v1-prompt-10")
def test_the_agents_use_of_files_and_terminals_is_a_sign_of_work() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    read = {"sessionId": SESSION, "path": "/a"}
    assert updates(line.ask_in("fs/read_text_file", read, "f")) == [
        *accepted("p", "duologue-1"),
        ["ask", "fs/read_text_file", read],
    ]
    assert line.answer_out("f", {"content": "x"}) == [["answer", "f", {"content": "x"}]]


def test_a_prompt_that_nobody_waits_for_does_not_hold_up_the_next() -> None:
    line = client()
    line.ask_out("session/prompt", prompt("one"), "p1")
    line.edge.forget("p1")
    line.ask_out("session/prompt", prompt("two"), "p2")
    assert line.update_in(TOOL)[:2] == [["answer", "p2", {}], user_message("duologue-1", "two")]


def test_what_an_agent_puts_into_meta_is_its_own() -> None:
    line = client()
    line.ask_out("session/prompt", prompt(), "p")
    own = {"duologue": {"stopReason": "_paused"}}
    assert updates(line.answer_in("p", {"stopReason": "end_turn", "_meta": own}))[-1] == idle("end_turn", _meta=own)


def test_unknown_blocks_of_a_prompt_are_text_for_v1() -> None:
    line = client()
    chart = {"type": "_chart", "points": [1]}
    steps = line.ask_out("session/prompt", {"sessionId": SESSION, "prompt": [text("see"), chart]}, "p")
    assert steps[0][2]["prompt"][1] == text("[_chart]")
