"""Wrong arguments of an author are errors where they are given, in either version; nothing of them is sent."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from client_kit import OPTIONS, Host

from duologue.client import Client, ClientConnection, Policy, connect
from duologue.codec import CodecError
from duologue.protocol import v2
from duologue.protocol.method import Notification, Request
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.version import V1, V2
from duologue.session import Transcript
from duologue.transports.memory import memory_pair
from duologue.transports.spawn import SpawnTransport
from wire import Wire

Mistake = Callable[[Any], Any]

OWN: Request[dict[str, int], Any] = Request.extension("_x/own", dict[str, int], dict)
HEARD: Notification[dict[str, int]] = Notification.extension("_x/heard", dict[str, int])

#: What is done with a connection, and a piece of the error's text.
WITH_AN_AGENT: list[tuple[Mistake, str]] = [
    (lambda agent: agent.new_session(None), "the folder of a session must be a path or a string, not NoneType"),
    (
        lambda agent: agent.new_session("/", additional_directories="src"),
        "additional_directories must be given as",
    ),
    (lambda agent: agent.new_session("/", additional_directories=[3]), "a further folder must be a path or a string"),
    (lambda agent: agent.new_session("/", mcp_servers="x"), "mcp_servers must be given as a list, not str"),
    (
        lambda agent: agent.new_session("/", mcp_servers=[{"name": "x", "command": "y"}]),
        "an MCP server is one of duologue.protocol.v2, such as StdioMcpServer, not dict",
    ),
    (
        lambda agent: agent.new_session("/", mcp_servers=[v2.StdioMcpServer(name="x", command="sh", args="-c")]),  # type: ignore[arg-type]
        "$.args: expected array",
    ),
    (lambda agent: agent.resume_session(3, "/"), "$.sessionId: expected string, found integer"),
    (lambda agent: agent.resume_session("s", None), "the folder of a session must be a path or a string"),
    (lambda agent: agent.list_sessions(cwd=3), "the folder of a session must be a path or a string"),
    (lambda agent: agent.list_sessions(cursor=3), "$.cursor: expected string"),
    (lambda agent: agent.request(OWN, {"a": "b"}), "$.a: expected integer, found string"),
    (lambda agent: agent.request(OWN, None), "$: expected object, found null"),
    (lambda agent: agent.notify(HEARD, [1]), "$: expected object, found array"),
]

WITH_A_SESSION: list[tuple[Mistake, str]] = [
    (lambda session: session.prompt(None), "a prompt that is no text must be given as a list, not NoneType"),
    (lambda session: session.prompt(b"x"), "a prompt that is no text must be given as a list, not bytes"),
    (lambda session: session.prompt(3), "a prompt that is no text must be given as a list, not int"),
    (lambda session: session.prompt(v2.TextBlock(text="x")), "must be given as a list, not TextBlock"),
    (lambda session: session.prompt(["x"]), "give a content block such as TextBlock or ImageBlock, not str"),
    (lambda session: session.prompt([{"type": "text", "text": "x"}]), "such as TextBlock or ImageBlock, not dict"),
    (lambda session: session.prompt([v2.TextBlock(text=None)]), "$.text: expected string, found null"),  # type: ignore[arg-type]
    (lambda session: session.prompt("x", while_running="stear"), "while_running is 'queue' or 'steer', not 'stear'"),
    (lambda session: session.set_config_option(3, "x"), "$.configId: expected string, found integer"),
    (lambda session: session.set_config_option("x", 3), "$.value: expected string, found integer"),
    (lambda session: session.set_mode(3), "this agent offers no modes"),
]


async def told(mistake: Mistake, given: Any) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        made = mistake(given)
        if isinstance(made, Awaitable):
            await made
    return str(caught.value)


@pytest.mark.parametrize(("mistake", "problem"), WITH_AN_AGENT)
async def test_mistakes_with_an_agent(version: int, mistake: Mistake, problem: str) -> None:
    host = await Host.begin(version)
    assert problem in await told(mistake, host.connection)
    await host.wire.silence()
    assert (await host.opened("other")).id == "other"


@pytest.mark.parametrize(("mistake", "problem"), WITH_A_SESSION)
async def test_mistakes_with_a_session(version: int, mistake: Mistake, problem: str) -> None:
    host = await Host.begin(version)
    assert problem in await told(mistake, host.session)
    await host.wire.silence()
    _, request = await host.prompt("goes on")
    assert request["params"]["prompt"] == [{"type": "text", "text": "goes on"}]


class Answering(Client):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def request_permission(self, session: Any, request: RequestPermissionRequest) -> Any:
        return self.answer

    async def fill_form(self, session: Any, form: Any) -> Any:
        return self.answer

    async def open_url(self, session: Any, request: Any) -> Any:
        return self.answer


@pytest.mark.parametrize("answer", [True, "yes", None, OPTIONS[0]])
async def test_a_permission_that_is_answered_with_something_else_is_refused(
    version: int, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    host = await Host.begin(version, Answering(answer))
    call = {"toolCallId": "c", "title": "x"}
    asked: dict[str, Any] = {"toolCall": call} if version == 1 else {"title": "x", "subject": {"type": "x"}}
    reply = await host.replies("session/request_permission", options=OPTIONS, **asked)
    assert reply["result"] == {"outcome": {"outcome": "selected", "optionId": "no"}}
    assert re.search(r"request_permission must return a SelectedOutcome, .*refusal\(request\), not \w+", caplog.text)


@pytest.mark.parametrize("answer", [True, {"name": "x"}, None])
@pytest.mark.parametrize("question", ["form", "url"])
async def test_a_question_that_is_answered_with_something_else_is_cancelled(
    version: int, answer: Any, question: str, caplog: pytest.LogCaptureFixture
) -> None:
    host = await Host.begin(version, Answering(answer))
    form: dict[str, Any] = {"requestedSchema": {"type": "object", "properties": {}}}
    url = {"url": "https://example.org", "elicitationId": "e"}
    params = {"mode": question, "message": "x", **(form if question == "form" else url)}
    with caplog.at_level(logging.ERROR):
        reply = await host.replies("elicitation/create", **params)
    assert reply["result"] == {"action": "cancel"}
    name = "fill_form" if question == "form" else "open_url"
    assert f"{name} must return AcceptElicitation, DeclineElicitation or CancelElicitation, not " in caplog.text


async def test_a_session_is_opened_in_a_relative_folder(version: int) -> None:
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("."))
    request = await host.wire.read_method("session/new")
    assert request["params"]["cwd"].startswith("/")
    host.answer(request, {"sessionId": "T"})
    await opening


class Capable(Client):
    def __init__(self, said: Any) -> None:
        self.said = said

    def capabilities(self) -> Any:
        return self.said


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (None, "expected object, found null|expected ClientCapabilities, found null"),
        ({"nes": True}, "nes: expected ClientNesCapabilities, found boolean"),
    ],
)
async def test_what_a_client_says_of_itself(version: int, said: Any, problem: str) -> None:
    connection = ClientConnection(Capable(said))
    async with Wire() as wire:
        with pytest.raises(ValueError, match=problem):
            await connection.start(wire.far, V1 if version == 1 else V2)
        await connection.close()


COMMAND = [sys.executable, "-c", "pass"]

#: What `connect` is given beside an agent's command, and a piece of the error's text.
WITH_CONNECT: list[tuple[dict[str, Any], str]] = [
    ({"env": ["A=1"]}, "env must be a dict of names and texts, not list"),
    ({"env": {"A": 1}}, "env: 'A' must be a text with a text as its value, not int"),
    ({"env": {1: "A"}}, "env: 1 must be a text"),
    ({"cwd": 3}, "cwd must be a path or a string, not int"),
    ({"limits": {"message_bytes": 3}}, r"limits takes a Limits, such as Limits\(message_bytes=2\*\*20\), not dict"),
    ({"trace": "messages.log"}, r"trace takes a function, such as MessageLog\(path\), not str"),
    ({"startup_seconds": "3"}, "startup_seconds must be a number, zero or more, not '3'"),
    ({"startup_seconds": -3}, "startup_seconds must be a number, zero or more, not -3"),
    ({"startup_seconds": float("nan")}, "startup_seconds must be a number, zero or more, not nan"),
    ({"client": Client}, r"takes an instance: write Client\(\), not Client"),
]


@pytest.mark.parametrize(("given", "problem"), WITH_CONNECT)
async def test_mistakes_with_connect(version: int, given: dict[str, Any], problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        async with connect(COMMAND, **{"protocol": version, **given}):
            pass


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"command": "agent.py --acp"}, "the command of a process must be given as a list, not str"),
        ({"env": {"A": None}}, "env: 'A' must be a text with a text as its value, not NoneType"),
        ({"cwd": b"/"}, "cwd must be a path or a string, not bytes"),
    ],
)
def test_mistakes_with_a_transport(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        SpawnTransport(**{"command": COMMAND, **given})


@pytest.mark.parametrize("member", ["name", "version", "title"])
@pytest.mark.parametrize("protocol", [1, 2, "auto"])
async def test_a_client_that_misnames_itself_does_not_blame_the_agent(member: str, protocol: Any) -> None:
    named = type("Named", (Client,), {member: 3})()
    with pytest.raises(CodecError, match=rf"^\$.info.{member}: expected string( or null)?, found integer"):
        async with connect(lambda: memory_pair()[0], named, protocol=protocol):
            pass


@pytest.mark.parametrize("name", ["session/list", None])
async def test_what_an_agent_offers_is_asked_by_a_method(version: int, name: Any) -> None:
    host = await Host.begin(version)
    with pytest.raises(TypeError, match=r"ask for a method of a table, such as .*SESSION_LIST, not"):
        host.connection.offers(name)


class Keeping(Client):
    def transcript(self) -> Any:
        return Transcript


async def test_a_client_that_keeps_no_transcript(version: int) -> None:
    with pytest.raises(TypeError, match=r"Keeping\.transcript must return a Transcript, not <class"):
        await Host.begin(version, Keeping())


class Extra(Client):
    def v1_capabilities(self) -> Any:
        return {"terminal": True}


async def test_what_a_client_says_of_itself_in_version_1(version: int) -> None:
    connection = ClientConnection(Extra())
    with pytest.raises(TypeError, match="v1_capabilities must return ClientExtras, not dict"):
        await connection.start(memory_pair()[0], V1 if version == 1 else V2)


@pytest.mark.parametrize("rule", [["allow edit:src/**"], None, 3])
def test_a_rule_of_a_policy_is_a_text(rule: Any) -> None:
    with pytest.raises(TypeError, match=r"a rule is a text, not \w+; the rules of a list are Policy\(\*rules\)"):
        Policy(rule)
