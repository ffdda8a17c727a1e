"""Questions to the user: what is asked, what an answer means, and the states around it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Permission, Turn, default_options
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.permission import PermissionOption, PermissionOptionKind
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.tools import ToolContent
from wire import settle

ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}


class Asking(Scripted):
    """Asks once a prompt, and keeps the answers."""

    def __init__(self) -> None:
        super().__init__(ask=self.ask)
        self.answers: list[Permission] = []

    async def ask(self, turn: Turn) -> None:
        self.answers.append(await turn.ask_permission("May I?", description="It writes."))
        await turn.say("went on")


async def answered(version: int, answer: dict[str, Any]) -> tuple[Permission, Talk]:
    agent = Asking()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    id = talk.prompt(session, "ask")
    question = await talk.request("session/request_permission")
    talk.send({"id": question["id"], **answer})
    assert await talk.ended(id) == [Ended("end_turn")]
    return agent.answers[0], talk


@pytest.mark.req("v2-prompt-08")
async def test_on_version_2_the_session_requires_action_while_a_question_is_open() -> None:
    permission, talk = await answered(2, {"result": ALLOW})
    assert permission
    assert talk.states() == ["running", "requires_action", "running", "end_turn"]
    kinds = talk.kinds()
    assert kinds.index("session/request_permission") > kinds.index("state_update") + 1


async def test_two_open_questions_are_one_time_of_waiting() -> None:
    async def both(turn: Turn) -> None:
        await asyncio.gather(turn.ask_permission("one?"), turn.ask_permission("two?"))

    talk = await Talk.begin(Scripted(both=both), 2)
    id = talk.prompt(await talk.new(), "both")
    questions = [await talk.request("session/request_permission") for _ in range(2)]
    for question in reversed(questions):
        talk.send({"id": question["id"], "result": ALLOW})
        await settle()
    await talk.ended(id)
    assert talk.states() == ["running", "requires_action", "running", "end_turn"]


@pytest.mark.req("v1-permissions-01", "v1-permissions-02", "all-permissions-01", "v2-permissions-01")
async def test_what_is_asked(version: int) -> None:
    _, talk = await answered(version, {"result": ALLOW})
    (question,) = [message for message in talk.seen if message.get("method") == "session/request_permission"]
    params = question["params"]
    assert [(option["optionId"], option["kind"]) for option in params["options"]] == [
        ("allow_once", "allow_once"),
        ("reject_once", "reject_once"),
    ]
    if version == 1:
        assert params["toolCall"]["toolCallId"]
        assert params["toolCall"]["title"] == "May I?"
        assert "It writes." in str(params["toolCall"]["content"])
    else:
        assert (params["title"], params["description"]) == ("May I?", "It writes.")
        assert "toolCall" not in params


@pytest.mark.req("all-permissions-09", "v2-permissions-07", "all-permissions-07")
@pytest.mark.parametrize(
    "answer",
    [
        {"result": REJECT},
        {"result": {"outcome": {"outcome": "selected", "optionId": "never offered"}}},
        {"result": {"outcome": {"outcome": "selected"}}},
        {"result": {"outcome": "selected"}},
        {"result": {"outcome": None}},
        {"result": {}},
        {"result": True},
        {"result": None},
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32603, "message": "Internal error", "data": {"details": "no window"}}},
        {"error": "broken"},
        {},
    ],
    ids=str,
)
async def test_field_bug_70_every_answer_that_does_not_allow_refuses_and_the_turn_goes_on(
    version: int, answer: dict[str, Any]
) -> None:
    permission, talk = await answered(version, answer)
    assert not permission
    assert not permission.cancelled
    assert talk.said() == "went on"


@pytest.mark.req("v2-permissions-07")
async def test_an_outcome_that_is_not_known_never_allows(version: int) -> None:
    agent = Asking()
    talk = await Talk.begin(agent, version)
    id = talk.prompt(await talk.new(), "ask")
    question = await talk.request("session/request_permission")
    talk.send({"id": question["id"], "result": {"outcome": {"outcome": "approved"}}})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert [bool(answer) for answer in agent.answers] == [False]


@pytest.mark.req("all-permissions-10")
async def test_the_option_that_was_chosen_counts_whatever_its_label(version: int) -> None:
    agent = Asking()
    options = [
        PermissionOption(option_id="x", name="No!", kind=PermissionOptionKind.ALLOW_ALWAYS),
        PermissionOption(option_id="y", name="Yes!", kind=PermissionOptionKind.REJECT_ALWAYS),
    ]

    async def choose(turn: Turn) -> None:
        agent.answers.append(await turn.ask_permission("?", options=options))

    agent.scripts["choose"] = choose
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    for option_id in ("x", "y"):
        id = talk.prompt(session, "choose")
        question = await talk.request("session/request_permission")
        talk.send({"id": question["id"], "result": {"outcome": {"outcome": "selected", "optionId": option_id}}})
        await talk.ended(id)
        talk.seen.clear()
    assert [bool(answer) for answer in agent.answers] == [True, False]
    assert all(answer.always for answer in agent.answers)


def test_the_default_options_say_what_always_covers() -> None:
    assert [option.kind for option in default_options()] == ["allow_once", "reject_once"]
    names = [option.name for option in default_options("git status")]
    assert names == ["Allow", "Always allow git status", "Reject", "Always reject git status"]


@pytest.mark.req("v2-permissions-02")
async def test_field_bug_60_a_tool_call_is_announced_before_its_question(version: int) -> None:
    async def tool(turn: Turn) -> None:
        async with turn.tool_call("Delete a.txt", kind=ToolKind.DELETE, raw_input={"path": "/a.txt"}) as call:
            if not await call.ask_permission():
                await call.fail("not allowed")
                return
            await call.start()

    talk = await Talk.begin(Scripted(tool=tool), version)
    session = await talk.new()
    for answer, ending in ((ALLOW, ["in_progress", "completed"]), (REJECT, ["failed"])):
        talk.seen.clear()
        id = talk.prompt(session, "tool")
        question = await talk.request("session/request_permission")
        announced = talk.updates()[-1 if version == 1 else -2]
        assert (announced["title"], announced["status"]) == ("Delete a.txt", "pending")
        params = question["params"]
        asked = params["toolCall"] if version == 1 else params["subject"]["toolCall"]
        assert asked["toolCallId"] == announced["toolCallId"]
        assert asked["rawInput"] == {"path": "/a.txt"}
        assert "sessionUpdate" not in str(params)
        talk.send({"id": question["id"], "result": answer})
        await talk.ended(id)
        statuses = [update["status"] for update in talk.updates() if "status" in update]
        assert statuses == ["pending", *ending]


async def test_a_question_shows_the_tool_call_as_it_is_now(version: int) -> None:
    async def tool(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind=ToolKind.EDIT, raw_input={"path": "/a"}) as call:
            await call.text("shown before")
            await call.update(title="Edit b.txt", locations=[Path("/b")], raw_input={"path": "/b"})
            await call.ask_permission(content=[ToolContent(content=TextBlock(text="shown to be asked"))])

    talk = await Talk.begin(Scripted(tool=tool), version)
    id = talk.prompt(await talk.new(), "tool")
    question = await talk.request("session/request_permission")
    params = question["params"]
    asked = params["toolCall"] if version == 1 else params["subject"]["toolCall"]
    assert (asked["title"], asked["kind"], asked["status"]) == ("Edit b.txt", "edit", "in_progress")
    assert [place["path"] for place in asked["locations"]] == ["/b"]
    assert asked["rawInput"] == {"path": "/b"}
    assert [item["content"]["text"] for item in asked["content"]] == ["shown before", "shown to be asked"]
    if version == 2:
        assert params["title"] == "Edit b.txt"
    talk.send({"id": question["id"], "result": ALLOW})
    assert await talk.ended(id) == [Ended("end_turn")]


async def test_field_bug_46_the_end_of_an_old_prompt_does_not_touch_the_question_of_a_new_one(version: int) -> None:
    agent = Asking()
    late: asyncio.Event = asyncio.Event()

    async def slow_end(turn: Turn) -> None:
        try:
            await turn.ask_permission("first?")
        finally:
            await late.wait()

    agent.scripts["slow"] = slow_end
    agent.cancel_seconds = 0.02
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    first = talk.prompt(session, "slow")
    question = await talk.request("session/request_permission")
    talk.cancel(session)
    talk.send({"id": question["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    assert await talk.ended(first) == [Ended("cancelled")]
    talk.seen.clear()
    second = talk.prompt(session, "ask")
    question = await talk.request("session/request_permission")
    late.set()
    await settle()
    talk.send({"id": question["id"], "result": ALLOW})
    assert await talk.ended(second) == [Ended("end_turn")]
    assert [bool(answer) for answer in agent.answers] == [True]
    if version == 2:
        assert talk.states() == ["running", "requires_action", "running", "end_turn"]
