"""What has gone wrong in other agents with ids, options and work behind a turn, tried on ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Session, ToolCall, Turn
from duologue.jsonrpc.errors import RpcError
from duologue.protocol import v2
from duologue.protocol.common.errors import ErrorCode


class Kept(Scripted):
    """Finds a session again by its id, as long as the store lives."""

    def __init__(self, store: dict[str, list[str]]) -> None:
        super().__init__()
        self.store = store

    async def new_session(self, session: Session) -> None:
        self.store[session.id] = []

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        for text in self.store[session.id] if replay else ():
            await session.say(text)

    async def prompt(self, turn: Turn) -> None:
        self.store[turn.session.id].append(turn.text)


async def test_field_bug_78_a_session_has_one_id_in_its_answer_its_listing_and_its_store(version: int) -> None:
    store: dict[str, list[str]] = {}
    talk = await Talk.begin(Kept(store), version)
    session = await talk.new()
    assert await talk.turn(session, "kept") == Ended("end_turn")
    listed = (await talk.ask("session/list", {}))["result"]["sessions"]
    assert [entry["sessionId"] for entry in listed] == list(store) == [session]
    again = await Talk.begin(Kept(store), version)
    method, more = ("session/load", {}) if version == 1 else ("session/resume", {"replayFrom": {"type": "start"}})
    await again.ask(method, {"sessionId": session, "cwd": "/", "mcpServers": [], **more})
    assert again.said() == "kept"
    assert {update["params"]["sessionId"] for update in again.seen if "method" in update} == {session}


class Modes(Scripted):
    """Has a mode, with a category or without; tells the mode when it is asked to go."""

    def __init__(self, category: bool) -> None:
        super().__init__(go=self.go)
        self.category = category
        self.mode = "ask"

    def config_options(self, session: Session) -> Sequence[v2.SessionConfigOption]:
        values = [v2.SessionConfigSelectOption(value=value, name=value) for value in ("ask", "code")]
        category: Any = {"category": v2.SessionConfigOptionCategory.MODE} if self.category else {}
        return [
            v2.SelectConfigOption(config_id="m", name="M", current_value=self.mode, options=values, **category),
        ]

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        self.mode = str(value)

    async def go(self, turn: Turn) -> None:
        await turn.say(self.mode)


@pytest.mark.req("all-config-08")
async def test_an_option_works_the_same_without_its_category(version: int) -> None:
    said = []
    for category in (True, False):
        talk = await Talk.begin(Modes(category), version)
        session = await talk.new()
        setting = {"sessionId": session, "configId": "m", "value": "code", **({"type": "id"} if version == 2 else {})}
        (told,) = (await talk.ask("session/set_config_option", setting))["result"]["configOptions"]
        assert (told.pop("category", None) is not None) is category
        assert await talk.turn(session, "go") == Ended("end_turn")
        said.append((told, talk.said()))
    assert said[0] == said[1]
    assert said[0][1] == "code"


async def test_field_bugs_186_188_a_job_behind_a_turn_stays_open_until_it_ends(version: int) -> None:
    """Each is told in progress until then, ends once, and wakes the session without a prompt."""
    ends = [asyncio.Event() for _ in range(3)]
    jobs: list[asyncio.Task[None]] = []

    async def job(session: Session, number: int) -> None:
        call: ToolCall
        async with session.tool_call(f"Job {number}") as call:
            await call.start()
            await ends[number].wait()
        async with session.work() as turn:
            await turn.say(f"result {number}. ")

    async def start(turn: Turn) -> None:
        jobs.extend(asyncio.create_task(job(turn.session, number)) for number in range(3))
        await asyncio.sleep(0)

    talk = await Talk.begin(Scripted(start=start), version)
    session = await talk.new()
    assert await talk.turn(session, "start") == Ended("end_turn")
    for number in (1, 0, 2):
        ends[number].set()
        await talk.heard(f"result {number}. ")
    await asyncio.gather(*jobs)
    calls: dict[str, list[str]] = {}
    for update in talk.updates():
        if update["sessionUpdate"].startswith("tool_call") and "status" in update:
            calls.setdefault(update["toolCallId"], []).append(update["status"])
    assert list(calls.values()) == [["pending", "in_progress", "completed"]] * 3


async def test_field_bugs_155_156_what_is_slow_to_find_is_told_later(version: int) -> None:
    """The handshake and a new session do not wait for it."""
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    class Catalogue(Modes):
        async def new_session(self, session: Session) -> None:
            self.looking = asyncio.create_task(self.look(session))

        async def look(self, session: Session) -> None:
            self.mode = await found
            await session.update_config_options()

    talk = await Talk.begin(Catalogue(category=False), version)
    await talk.new()
    assert "config_option_update" not in talk.kinds()
    found.set_result("code")
    update = (await talk.request("session/update"))["params"]["update"]
    assert update["sessionUpdate"] == "config_option_update"
    assert [option["currentValue"] for option in update["configOptions"]] == ["code"]


async def test_field_bug_168_a_new_session_asks_for_a_login_and_begins_none(version: int) -> None:
    class Closed(Scripted):
        def auth_methods(self) -> Sequence[v2.AuthMethod]:
            return [v2.AgentAuthMethod(method_id="browser", name="Browser")]

        async def login(self, method_id: str) -> None:
            self.log.append(method_id)

        async def new_session(self, session: Session) -> None:
            raise RpcError(ErrorCode.AUTH_REQUIRED, "Log in first")

    talk = await Talk.begin(agent := Closed(), version)
    refused = (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["error"]
    assert refused["code"] == -32000
    assert agent.log == []
    await talk.wire.silence()


async def test_field_bug_187_each_step_of_long_work_is_told_when_it_is_made(version: int) -> None:
    """Work of many steps inside one call: none waits for the next, or for the end of the call."""
    steps = [asyncio.Event() for _ in range(5)]

    async def nested(turn: Turn) -> None:
        async with turn.tool_call("Look into it") as call:
            for number, gate in enumerate(steps):
                await call.text(f"step {number}. ")
                await gate.wait()

    talk = await Talk.begin(Scripted(nested=nested), version)
    session = await talk.new()
    prompt = talk.prompt(session, "nested")
    for number, gate in enumerate(steps):
        step = f"step {number}. "
        await talk.read_to(lambda message, step=step: step in str(message))  # type: ignore[misc]
        gate.set()
    assert await talk.ended(prompt) == [Ended("end_turn")]
    ids = {update["toolCallId"] for update in talk.updates() if "toolCallId" in update}
    assert len(ids) == 1


async def test_field_bug_98_an_image_of_a_tool_is_a_content_block_on_the_wire(version: int) -> None:
    async def look(turn: Turn) -> None:
        async with turn.tool_call("Read a.png") as call:
            await call.content(v2.ImageBlock(data="iVBORw0KGgo=", mime_type="image/png"))

    talk = await Talk.begin(Scripted(look=look), version)
    session = await talk.new()
    assert await talk.turn(session, "look") == Ended("end_turn")
    contents = [
        update["content"]
        for update in talk.updates()
        if update["sessionUpdate"].startswith("tool_call")
        if update.get("content")
    ]
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    assert contents[-1] in ({"type": "content", "content": image}, [{"type": "content", "content": image}])
