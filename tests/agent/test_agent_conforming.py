"""All that an agent sends is what the types of the agreed version say: each test of this room reads through that check.

Here the check itself is held to find what it should, and an agent says all that it can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk
from conforming import NotConforming, check_message, problems

from duologue.agent import Agent, Session, Turn, command, plan_entry
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.content import AudioBlock, ResourceBlock, TextResourceContents
from duologue.protocol.v2.config import BooleanConfigOption, SessionConfigOption
from duologue.protocol.v2.content import ResourceLinkBlock

PLANS: dict[str, Any] = {"plan": {}, "session": {"configOptions": {"boolean": {}}}}


class Talkative(Scripted):
    """Says everything there is to say."""

    title = "Talkative"

    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        return [BooleanConfigOption(config_id="fast", name="Fast", current_value=True)]

    async def all(self, turn: Turn) -> None:
        await turn.think("hm")
        await turn.say("text")
        await turn.say(AudioBlock(data="aGk=", mime_type="audio/wav"))
        await turn.say(ResourceLinkBlock(uri="file:///a", name="a"))
        await turn.say(ResourceBlock(resource=TextResourceContents(text="t", uri="file:///a")))
        await turn.plan([plan_entry("one"), "two"])
        await turn.plan_markdown("# x", plan_id="m")
        await turn.remove_plan("m")
        await turn.commands([command("go", "Goes", "where")])
        await turn.usage(1, 2, cost=0.1)
        await turn.set_title("T")
        await turn.update_config_options()
        async with turn.tool_call("Edit") as call:
            await call.diff("/tmp/a", None, "new\n")
            terminal = await call.terminal("ls", "/tmp")
            await terminal.write(b"out")
            await terminal.exited(0)


@pytest.mark.req(
    *("all-jsonrpc-22", "all-versioning-05", "all-updates-01", "all-extensibility-02", "all-extensibility-10"),
    *("v1-updates-01", "all-initialize-01", "v2-extensibility-01", "v2-content-01", "all-updates-02"),
)
async def test_all_that_can_be_said_conforms(version: int) -> None:
    talk = await Talk.begin(agent := Talkative(), version, offering=PLANS if version == 1 else {})
    agent.scripts["all"] = agent.all
    session = await talk.new()
    assert await talk.turn(session, "all") == Ended("end_turn")
    kinds = set(talk.kinds())
    wanted = {"agent_message_chunk", "agent_thought_chunk", "plan_update", "plan_removed", "usage_update"}
    wanted |= {"session_info_update", "available_commands_update", "config_option_update", "tool_call_update"}
    wanted |= {"tool_call"} if version == 1 else {"tool_call_content_chunk", "terminal_update", "state_update"}
    assert wanted <= kinds
    assert {message["params"]["sessionId"] for message in talk.seen if "method" in message} == {session}


def update(kind: str, **members: Any) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "S", "update": {"sessionUpdate": kind, **members}}}


TEXT = {"type": "text", "text": "t"}


@pytest.mark.parametrize(
    "message",
    [
        update("agent_message_chunk", content=TEXT, messageId="m", extra=1),
        update("agent_message_chunk", content=[TEXT], messageId="m"),
        update("agent_message_chunk", content={"type": "video"}, messageId="m"),
        update("session_info_update", title=5),
        update("session_info_update", session_id="S"),
        update("usage_update", used=-1, size=2),
        update("made_up"),
        update("tool_call_update", toolCallId="c", status="halted"),
        update("tool_call_update", toolCallId="c", locations=[{"line": 1}]),
        {"method": "session/made_up", "params": {}},
        {"id": 5, "method": "session/update", "params": {}},
        {"id": 1, "result": {"sessions": [{"sessionId": "S"}]}},
        {"id": 1, "result": {"sessions": [], "more": True}},
        {"id": 1, "result": {"sessions": []}, "extra": 1},
        {"id": 1, "error": {"code": "x", "message": "m"}},
        {"id": 1, "error": {"code": 5, "message": "one\ntwo"}},
        {"id": 1, "error": {"code": 5, "message": "m", "details": 1}},
    ],
)
def test_the_check_finds_what_does_not_conform(version: int, message: dict[str, Any]) -> None:
    with pytest.raises(NotConforming):
        check_message(version, message, {1: "session/list"})


def test_the_check_leaves_vendors_alone(version: int) -> None:
    for message in (
        update("_mine", x=1),
        update("agent_message_chunk", content={"type": "_mine"}, messageId="m", _meta={"any": [1]}),
        {"method": "_mine/event", "params": [1]},
        {"id": 9, "result": {"any": 1}},
    ):
        assert list(problems(version, message, {})) == []


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-errors-04", "all-errors-05", "all-errors-06")
async def test_failures_of_the_author_are_short_errors_and_end_nothing(version: int) -> None:
    class Broken(Scripted):
        async def resume_session(self, session: Session, *, replay: bool) -> None:
            raise {"os": OSError("a\nlong\nstory " * 100), "rpc": RpcError(4711, "mine")}[session.id]

    async def crash(turn: Turn) -> None:
        raise ValueError("a\nlong\nstory " * 100)

    talk = await Talk.begin(Broken(crash=crash), version)
    params = {"cwd": "/", "mcpServers": []}
    codes = [
        (await talk.ask("session/resume", {**params, "sessionId": name}))["error"]["code"] for name in ("os", "rpc")
    ]
    assert codes == [-32603, 4711]
    session = await talk.new()
    crashed = (await talk.turn(session, "crash")).error
    assert crashed is not None and (crashed["code"], crashed["message"]) == (-32603, "Internal error")
    assert await talk.turn(session, "on") == Ended("end_turn")


@pytest.mark.req("all-errors-02", "all-errors-06", "all-session-10")
@pytest.mark.parametrize("name", ["never", "x" * 100_000, "line\nbreak", ""])
async def test_an_unknown_session_is_not_found(version: int, name: str) -> None:
    talk = await Talk.begin(Scripted(), version)
    block = {"type": "text", "text": "t"}
    for method, params in (
        ("session/close", {"sessionId": name}),
        ("session/prompt", {"sessionId": name, "prompt": [block]}),
        ("session/set_config_option", {"sessionId": name, "configId": "c", "value": "v", "type": "id"}),
    ):
        error = (await talk.ask(method, params))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": name})


@pytest.mark.req("all-errors-05", "all-errors-03")
@pytest.mark.parametrize("code", [-32050, 4711, 0, -1, 2**31 - 1])
async def test_any_code_of_the_client_refuses(version: int, code: int) -> None:
    async def ask(turn: Turn) -> None:
        await turn.say("no" if not await turn.ask_permission("May I?") else "yes")

    talk = await Talk.begin(Scripted(ask=ask), version)
    id = talk.prompt(await talk.new(), "ask")
    question = await talk.request("session/request_permission")
    talk.send({"id": question["id"], "error": {"code": code, "message": "m"}})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert talk.said() == "no"


# --- reopening --------------------------------------------------------------------------------------------------------


class Remembering(Agent):
    """Keeps what was asked of it."""

    kept: dict[str, list[str]]

    def __init__(self) -> None:
        self.kept = {"old": ["one", "two"]}

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        if replay:
            for text in self.kept[session.id]:
                await session.say(text)
                session.end_message()

    async def prompt(self, turn: Turn) -> None:
        self.kept[turn.session.id].append(turn.text)
        await turn.say(" ".join(self.kept[turn.session.id]))


@pytest.mark.req("v1-session-09", "v1-session-14", "v2-session-08", "v2-session-11")
async def test_a_reopened_session_goes_on(version: int) -> None:
    talk = await Talk.begin(Remembering(), version)
    method, more = ("session/load", {}) if version == 1 else ("session/resume", {"replayFrom": {"type": "start"}})
    answer = await talk.ask(method, {"sessionId": "old", "cwd": "/", "mcpServers": [], **more})
    assert answer["result"] == {}
    ids = [update["messageId"] for update in talk.updates()]
    assert len(set(ids)) == 2 and talk.said() == "onetwo"
    assert await talk.turn("old", "three") == Ended("end_turn")
    assert talk.said() == "one two three"
