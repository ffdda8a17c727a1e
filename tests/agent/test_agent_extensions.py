"""Methods of one's own, `_meta`, and the trace that goes on with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from agent_kit import Ended, Scripted, Talk, settle, until

from duologue.agent import Agent, Session, Turn, current_request, handles
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.base import Extensible
from duologue.protocol.common.elicitation_schema import ElicitationSchema
from duologue.protocol.method import Notification, Request
from duologue.protocol.v2.auth import AgentAuthMethod, AuthMethod


class Sum(Extensible, kw_only=True):
    first_number: int
    second_number: int = 0


class Total(msgspec.Struct):
    total: int


class Noted(Extensible, kw_only=True):
    text: str


ADD: Request[Sum, Total] = Request.extension("_example.org/add", Sum, Total)
NOTED: Notification[Noted] = Notification.extension("_example.org/noted", Noted)
FREE: Request[Any, Any] = Request.extension("_free", dict, dict)

TRACE = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=value",
    "baggage": "user=ann",
}


class Own(Scripted):
    """Serves methods of its own, and asks the client by them."""

    def __init__(self) -> None:
        super().__init__(ask=self.ask, tell=self.tell, all=self.everything)
        self.metas: list[Mapping[str, Any]] = []

    def vendor_capabilities(self) -> Mapping[str, Any]:
        return {"example.org": {"add": True}}

    @handles(ADD)
    async def add(self, params: Sum) -> Total:
        if params.second_number < 0:
            raise RpcError(4711, "too small")
        asked = current_request()
        assert asked is not None and asked.method == "_example.org/add"
        self.metas.append(asked.meta)
        return Total(total=params.first_number + params.second_number)

    @handles(NOTED)
    async def noted(self, params: Noted) -> None:
        await asyncio.sleep(0)
        self.log.append(params.text)

    async def ask(self, turn: Turn) -> None:
        total = await turn.request(ADD, Sum(first_number=1, second_number=2))
        await turn.say(f"{total.total}")

    async def tell(self, turn: Turn) -> None:
        await turn.session.peer.notify(NOTED, Noted(text="from the agent"))

    async def everything(self, turn: Turn) -> None:
        self.metas.append(turn.meta)
        assert current_request() is None
        await turn.ask_permission("May I?")
        await turn.ask_form("Who?", ElicitationSchema())
        await turn.request(ADD, Sum(first_number=1))
        await turn.request(FREE, {})

    def auth_methods(self) -> Sequence[AuthMethod]:
        return (AgentAuthMethod(method_id="x", name="X"),)

    async def login(self, method_id: str) -> None:
        asked = current_request()
        assert asked is not None
        self.metas.append(asked.meta)
        await self.connection.elicitor.ask_form("Who?", ElicitationSchema())

    async def new_session(self, session: Session) -> None:
        self.metas.append(session.meta)


class Younger(Own):
    async def add(self, params: Sum) -> Total:
        return Total(total=-1)


# --- methods of one's own ---------------------------------------------------------------------------------------------


async def test_a_request_of_ones_own_is_typed_like_any_other(version: int) -> None:
    agent = Own()
    talk = await Talk.begin(agent, version)
    assert (await talk.ask("_example.org/add", {"firstNumber": 3, "secondNumber": 4}))["result"] == {"total": 7}
    error = (await talk.ask("_example.org/add", {"firstNumber": "3"}))["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "$.params.firstNumber")
    assert (await talk.ask("_example.org/add", None))["error"]["code"] == -32602
    assert (await talk.ask("_example.org/add", {"firstNumber": 3, "secondNumber": -1}))["error"]["code"] == 4711


async def test_notifications_of_ones_own_are_heard_in_order(version: int) -> None:
    agent = Own()
    talk = await Talk.begin(agent, version)
    notes = [{"method": "_example.org/noted", "params": {"text": str(number)}} for number in range(100)]
    talk.send(*notes, {"method": "_example.org/noted", "params": {"text": 5}})
    await until(lambda: len(agent.log) >= 100)
    await settle()
    assert agent.log == [str(number) for number in range(100)]


async def test_asking_and_telling_the_client_by_methods_of_ones_own(version: int) -> None:
    talk = await Talk.begin(Own(), version)
    session = await talk.new()
    id = talk.prompt(session, "ask")
    question = await talk.request("_example.org/add")
    assert question["params"] == {"firstNumber": 1, "secondNumber": 2}
    talk.send({"id": question["id"], "result": {"total": 3}})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert talk.said() == "3"
    talk.prompt(session, "tell")
    assert (await talk.request("_example.org/noted"))["params"] == {"text": "from the agent"}


@pytest.mark.req("all-extensibility-07", "all-extensibility-08", "all-jsonrpc-07")
@pytest.mark.parametrize("agent", [Own, Scripted])
async def test_what_is_unknown_is_not_found_or_not_heard(version: int, agent: type[Agent]) -> None:
    talk = await Talk.begin(agent(), version)
    for method in ("_example.test/unknown", "no/such_method", "_", "__class__"):
        assert (await talk.ask(method, {}))["error"]["code"] == -32601
    talk.send({"method": "_example.test/event", "params": {}}, {"method": "no/such_event"})
    await talk.wire.silence()
    assert await talk.turn(await talk.new(), "hello") == Ended("end_turn")


async def test_an_override_goes_on_answering(version: int) -> None:
    talk = await Talk.begin(Younger(), version)
    assert (await talk.ask("_example.org/add", {"firstNumber": 3}))["result"] == {"total": -1}


@pytest.mark.req("all-extensibility-09")
async def test_methods_of_ones_own_are_announced_by_meta(version: int) -> None:
    talk = await Talk.open(Own(), version)
    result = (await talk.initialize())["result"]
    capabilities = result["agentCapabilities" if version == 1 else "capabilities"]
    assert capabilities["_meta"] == {"example.org": {"add": True}}
    talk = await Talk.open(Scripted(), version)
    assert "_meta" not in str((await talk.initialize())["result"])


@pytest.mark.req("all-extensibility-06")
def test_a_method_of_ones_own_begins_with_an_underscore() -> None:
    with pytest.raises(ValueError, match="begins with an underscore"):
        Request.extension("example/add", Sum, Total)
    with pytest.raises(ValueError, match="begins with an underscore"):
        Notification.extension("session/noted", Noted)


# --- _meta and traces -------------------------------------------------------------------------------------------------


def prompting(talk: Talk, session: str, text: str, meta: Any) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    return talk.call("session/prompt", {"sessionId": session, "prompt": [block], "_meta": meta})


async def asked_in_a_turn(version: int, meta: Any) -> tuple[Own, list[dict[str, Any]]]:
    """The params of each request that the agent makes in a turn whose prompt has that `_meta`."""
    agent = Own()
    talk = await Talk.begin(agent, version, offering={"elicitation": {"form": {}}})
    prompt = prompting(talk, await talk.new(), "all", meta)
    talk.send(prompt)
    agent.metas.clear()
    answers: dict[str, Any] = {
        "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
        "elicitation/create": {"action": "decline"},
        "_example.org/add": {"total": 1},
        "_free": {},
    }
    params = []
    for method, result in answers.items():
        request = await talk.request(method)
        params.append(request["params"])
        talk.send({"id": request["id"], "result": result})
    assert await talk.ended(prompt["id"]) == [Ended("end_turn")]
    return agent, params


@pytest.mark.req("all-extensibility-05")
async def test_the_trace_of_a_prompt_goes_along_with_what_the_turn_asks(version: int) -> None:
    agent, params = await asked_in_a_turn(version, {**TRACE, "other": 1})
    assert agent.metas == [{**TRACE, "other": 1}]
    *typed, free = params
    assert [asked.get("_meta") for asked in typed] == [TRACE] * 3
    # What has no place for it is sent as it is.
    assert free == {}


@pytest.mark.req("all-extensibility-05")
@pytest.mark.parametrize(
    "parent",
    [
        *(
            "",
            "00",
            TRACE["traceparent"].upper(),
            TRACE["traceparent"] + "-x",
            "ff" + TRACE["traceparent"][2:],
            5,
            None,
        ),
        *("00-" + "0" * 32 + "-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01"),
    ],
)
async def test_what_is_no_trace_goes_no_further(version: int, parent: Any) -> None:
    _, params = await asked_in_a_turn(version, {**TRACE, "traceparent": parent})
    assert params[0]["_meta"] == {"baggage": "user=ann"}


@pytest.mark.parametrize("meta", [None, {}, {"other": 1}, [1], "x"])
async def test_without_a_trace_nothing_is_added(version: int, meta: Any) -> None:
    agent, params = await asked_in_a_turn(version, meta)
    assert agent.metas == [meta if isinstance(meta, dict) else {}]
    assert not [asked for asked in params if "_meta" in asked]


async def test_a_trace_of_a_version_to_come_goes_on(version: int) -> None:
    parent = "01" + TRACE["traceparent"][2:] + "-more"
    _, params = await asked_in_a_turn(version, {"traceparent": parent})
    assert params[0]["_meta"] == {"traceparent": parent}


async def test_the_meta_of_other_requests_is_readable(version: int) -> None:
    agent = Own()
    talk = await Talk.begin(agent, version, offering={"elicitation": {"form": {}}})
    await talk.ask("session/new", {"cwd": "/", "mcpServers": [], "_meta": {"a": 1}})
    await talk.ask("_example.org/add", {"firstNumber": 1, "_meta": {"b": 2}})
    login = talk.call("authenticate" if version == 1 else "auth/login", {"methodId": "x", "_meta": {**TRACE, "c": 3}})
    talk.send(login)
    question = await talk.request("elicitation/create")
    assert question["params"]["_meta"] == TRACE
    talk.send({"id": question["id"], "result": {"action": "cancel"}})
    assert (await talk.answer(login["id"]))["result"] == {}
    assert agent.metas == [{"a": 1}, {"b": 2}, {**TRACE, "c": 3}]


async def test_work_that_outlives_its_request_answers_nothing_any_more(version: int) -> None:
    found: list[Any] = []
    go_on = asyncio.Event()

    async def later(session: Session) -> None:
        found.append(current_request())
        await go_on.wait()
        found.append(current_request())
        async with session.work() as turn:
            found.append(current_request())
            await turn.say("late")

    class Starting(Scripted):
        async def new_session(self, session: Session) -> None:
            session.state = asyncio.ensure_future(later(session))
            await asyncio.sleep(0)

    talk = await Talk.begin(Starting(), version)
    session = await talk.new()
    go_on.set()
    await talk.heard("late")
    assert found[0].method == "session/new"
    assert found[1:] == [None, None]
    with pytest.raises(RuntimeError, match="no request is being answered"):
        await talk.connection.elicitor.ask_form("Who?", ElicitationSchema())
    assert session in talk.connection.sessions
