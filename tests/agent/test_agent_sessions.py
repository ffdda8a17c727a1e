"""Sessions on the agent's side: what is refused, what is first on the wire, and what waits for what."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk
from keeper_kit import Keeper, reopen, set_model

from duologue.agent import Session
from duologue.jsonrpc.errors import RpcError
from wire import settle

# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-07", "all-session-09")
async def test_field_bug_76_an_unknown_session_is_one_error_everywhere(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    calls = [
        ("session/prompt", {"sessionId": "nope", "prompt": []}),
        ("session/close", {"sessionId": "nope"}),
        set_model(version, "nope", "b"),
        reopen(version, "nope", replay=True),
        reopen(version, "nope", replay=False),
    ]
    for method, params in calls:
        error = (await talk.ask(method, params))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "nope"}), method
    await talk.wire.silence()
    assert talk.connection.sessions == {}


@pytest.mark.req("all-session-03")
@pytest.mark.parametrize("kind", ["relative", "empty", "missing", "file", "windows", "home", "nul", "long"])
async def test_field_bug_176_a_cwd_that_is_no_folder_is_refused(version: int, kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cwd = {
        "relative": "src",
        "empty": "",
        "missing": str(tmp_path / "missing"),
        "long": str(tmp_path / ("x" * 300)),
        "file": str(tmp_path / "file"),
        "windows": "C:\\x",
        "home": "~",
        "nul": "/tmp/\0x",
    }[kind]
    talk = await Talk.begin(Keeper(), version)
    held = await talk.new(tmp_path)
    calls = [("session/new", {"cwd": cwd, "mcpServers": []})]
    calls += [reopen(version, id, cwd, replay=replay) for id in ("old", held) for replay in (True, False)]
    for method, params in calls:
        error = (await talk.ask(method, params))["error"]
        assert error["code"] == -32602, method
        assert error["data"] == {"path": "$.params.cwd"}
    assert list(talk.connection.sessions) == [held]


@pytest.mark.req("all-session-25", "all-session-27")
@pytest.mark.parametrize("wrong", ["", "relative", "../up"])
async def test_an_additional_directory_that_is_not_absolute_fails_the_request(version: int, wrong: str) -> None:
    talk = await Talk.begin(Keeper(), version)
    params = {"cwd": "/", "mcpServers": [], "additionalDirectories": ["/tmp", wrong]}
    assert (await talk.ask("session/new", params))["error"]["code"] == -32602
    assert talk.connection.sessions == {}


@pytest.mark.req("all-prompt-02", "all-prompt-03", "v1-prompt-02", "v2-prompt-13")
@pytest.mark.parametrize(
    ("block", "taken"),
    [
        ({"type": "text", "text": "t"}, True),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, True),
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, False),
        ({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, False),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}, False),
        ({"type": "hologram", "data": 1}, False),
        ({"type": "text"}, False),
        ({"no": "type"}, False),
        (5, False),
    ],
    ids=["text", "link", "image", "audio", "resource", "unknown", "broken", "untyped", "number"],
)
async def test_a_prompt_may_hold_what_is_offered(version: int, block: Any, taken: bool) -> None:
    agent = Keeper()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    agent.log.clear()
    good = {"type": "text", "text": "look"}
    request = talk.call("session/prompt", {"sessionId": session, "prompt": [good, block]})
    talk.send(request)
    if taken:
        assert await talk.ended(request["id"]) == [Ended("end_turn")]
        return
    error = (await talk.answer(request["id"]))["error"]
    assert error["code"] == -32602
    assert "prompt[1]" in str(error)
    await talk.wire.silence()
    assert agent.log == []
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.parametrize("prompt", [None, "text", {}, 5])
async def test_a_prompt_that_is_no_list_is_refused(version: int, prompt: Any) -> None:
    talk = await Talk.begin(Keeper(), version)
    session = await talk.new()
    params = {"sessionId": session, "prompt": prompt}
    assert (await talk.ask("session/prompt", params))["error"]["code"] == -32602
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_a_value_that_an_option_does_not_take_is_refused(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    session = await talk.new()
    method, params = set_model(version, session, "b")
    result = (await talk.ask(method, params))["result"]
    # Boolean options are for clients of version 1 that have asked for them.
    assert [option["currentValue"] for option in result["configOptions"]] == (["b"] if version == 1 else ["b", False])
    for wrong in ({"value": "z"}, {"configId": "nope"}, {"value": 5}, {"value": None}):
        assert (await talk.ask(method, {**params, **wrong}))["error"]["code"] == -32602
    assert talk.connection.sessions[session].state["model"] == "b"


@pytest.mark.req("all-session-16")
@pytest.mark.parametrize("cursor", ["Infinity", "abc", "", 5])
async def test_field_bug_85_a_cursor_that_was_never_given_is_refused(version: int, cursor: Any) -> None:
    talk = await Talk.begin(Keeper(), version)
    answer = await talk.ask("session/list", {"cursor": cursor})
    # A cursor of a wrong type does not fit and counts as absent, as the schema says of optional members.
    assert answer.get("error", {}).get("code") == -32602 or not isinstance(cursor, str)


@pytest.mark.req("all-session-11", "all-session-12", "all-session-13", "v2-session-03")
async def test_sessions_are_listed_by_their_folder(version: int, tmp_path: Path) -> None:
    talk = await Talk.begin(Keeper(), version)
    assert (await talk.ask("session/list", {}))["result"] == {"sessions": []}
    here, there = await talk.new(tmp_path), await talk.new("/")
    listed = (await talk.ask("session/list", {"cwd": str(tmp_path)}))["result"]["sessions"]
    assert [(entry["sessionId"], entry["cwd"]) for entry in listed] == [(here, str(tmp_path))]
    assert {entry["sessionId"] for entry in (await talk.ask("session/list", {}))["result"]["sessions"]} == {here, there}


# --- what is first on the wire ----------------------------------------------------------------------------------------


class Eager(Scripted):
    """Speaks of a session in every way before its response."""

    def __init__(self) -> None:
        super().__init__()
        # The loop itself keeps no task alive.
        self.working: set[asyncio.Task[None]] = set()

    async def new_session(self, session: Session) -> None:
        session.say("hello ")
        self.working.add(asyncio.create_task(self.work(session)))
        await settle()
        await session.set_title("first")

    async def work(self, session: Session) -> None:
        async with session.work() as turn:
            await turn.say("working")


@pytest.mark.req("all-session-02")
async def test_field_bugs_31_32_the_id_of_a_session_is_first_seen_in_its_response(version: int) -> None:
    talk = await Talk.begin(Eager(), version)
    calls = [talk.call("session/new", {"cwd": "/", "mcpServers": []}) for _ in range(200)]
    talk.send(*calls)
    known: set[str] = set()
    spoken: dict[str, str] = {}
    while len(known) < 200 or set(spoken.values()) != {"hello working"} or len(spoken) < 200:
        message = await talk.read()
        if "method" not in message:
            known.add(message["result"]["sessionId"])
            continue
        id = message["params"]["sessionId"]
        assert id in known
        update = message["params"]["update"]
        if update["sessionUpdate"] == "agent_message_chunk":
            spoken[id] = spoken.get(id, "") + update["content"]["text"]
    assert len(known) == 200


@pytest.mark.req("v1-session-05", "v1-session-06", "v2-session-07")
async def test_field_bug_72_a_replay_comes_before_the_response(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    method, params = reopen(version, "old")
    await talk.ask(method, params)
    assert talk.said() == "as said before"
    assert talk.kinds()[-1] == "answer"
    assert await talk.turn("old", "go on") == Ended("end_turn")


@pytest.mark.req("v1-session-11", "v2-session-06", "v1-session-13")
async def test_field_bug_73_a_resume_without_replay_says_nothing(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    talk.seen.clear()
    method, params = reopen(version, "old", replay=False)
    del params["mcpServers"]
    await talk.ask(method, params)
    assert talk.kinds() == ["answer"]


async def test_a_new_session_that_fails_leaves_nothing(version: int) -> None:
    class Failing(Scripted):
        async def new_session(self, session: Session) -> None:
            session.say("never heard")
            raise RpcError(-32000, "log in first")

    talk = await Talk.begin(Failing(), version)
    talk.seen.clear()
    assert (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["error"]["code"] == -32000
    await talk.wire.silence()
    assert talk.connection.sessions == {}


async def test_field_bug_166_opening_a_session_can_be_withdrawn(version: int) -> None:
    agent = Keeper()
    agent.gates["new"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    call = talk.call("session/new", {"cwd": "/", "mcpServers": []})
    talk.send(call)
    await settle()
    talk.send({"method": "$/cancel_request", "params": {"requestId": call["id"]}})
    assert (await talk.answer(call["id"]))["error"]["code"] == -32800
    assert talk.connection.sessions == {}
