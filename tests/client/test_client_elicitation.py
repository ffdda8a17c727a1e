"""Questions to the user: who answers them, which answers leave, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host

from duologue.client import Client, Session, url_doubts
from duologue.protocol.common.elicitation import (
    AcceptElicitation,
    CancelElicitation,
    CreateElicitationResponse,
    DeclineElicitation,
    FormElicitation,
    UrlElicitation,
)
from duologue.session.forms import defaults
from wire import PATIENCE, settle, until

CREATE = "elicitation/create"
FORM: dict[str, Any] = {
    "mode": "form",
    "message": "Who?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "default": "Ada"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1},
        },
        "required": ["name"],
    },
}
PAGE: dict[str, Any] = {"mode": "url", "message": "Go", "elicitationId": "e 1/ü", "url": "https://example.org/x"}


class Forms(Client):
    """Gives the answers that it is given, in order."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.seen: list[FormElicitation] = []
        self.sessions: list[Session | None] = []

    async def fill_form(self, session: Session | None, form: FormElicitation) -> CreateElicitationResponse:
        self.seen.append(form)
        self.sessions.append(session)
        answer = self.answers.pop(0) if self.answers else AcceptElicitation(content=defaults(form.requested_schema))
        if isinstance(answer, Exception):
            raise answer
        made: CreateElicitationResponse = AcceptElicitation(content=answer) if isinstance(answer, dict) else answer
        return made


class Pages(Client):
    """Goes to every page, once it is let go."""

    def __init__(self, answer: CreateElicitationResponse | None = None) -> None:
        self.answer = answer or AcceptElicitation()
        self.go = asyncio.Event()
        self.go.set()
        self.done: list[str] = []
        self.seen: list[str] = []

    async def open_url(self, session: Session | None, request: UrlElicitation) -> CreateElicitationResponse:
        self.seen.append(request.url)
        await self.go.wait()
        return self.answer

    def on_url_done(self, elicitation_id: str) -> None:
        self.done.append(elicitation_id)


def offered(host: Host) -> Any:
    return host.introduced["clientCapabilities" if host.version == 1 else "capabilities"].get("elicitation")


# --- what is offered --------------------------------------------------------------------------------------------------


@pytest.mark.req("all-elicitation-04")
@pytest.mark.parametrize(
    ("client", "told", "answered"),
    [(Client(), None, []), (Forms(), {"form": {}}, ["form"]), (Pages(), {"url": {}}, ["url"])],
)
async def test_only_what_the_author_overrides_is_offered(
    version: int, client: Client, told: Any, answered: list[str]
) -> None:
    host = await Host.begin(version, client)
    assert offered(host) == told
    for question in (FORM, PAGE):
        reply = await host.replies(CREATE, **question)
        assert reply["error"]["code"] == -32602 if question["mode"] not in answered else "result" in reply


@pytest.mark.req("all-elicitation-41", "all-elicitation-40")
@pytest.mark.parametrize("mode", ["_voice", "voice", None, 5])
async def test_a_mode_that_is_not_known_is_refused(version: int, mode: Any) -> None:
    client = Forms()
    host = await Host.begin(version, client)
    assert (await host.replies(CREATE, **{**FORM, "mode": mode}))["error"]["code"] == -32602
    assert client.seen == []


async def test_the_scope_is_a_session_or_a_request(version: int) -> None:
    client = Forms()
    host = await Host.begin(version, client)
    host.send({"id": "r", "method": CREATE, "params": {"requestId": 7, **FORM}})
    assert (await host.wire.read_answer("r"))["result"] == {"action": "accept", "content": {"name": "Ada"}}
    assert client.sessions == [None]
    host.send({"id": "n", "method": CREATE, "params": FORM})
    assert (await host.wire.read_answer("n"))["error"]["code"] == -32602
    assert (await host.replies(CREATE, requestId=7, **FORM))["error"]["code"] == -32602
    assert (await host.replies(CREATE, **FORM, sessionId="ghost"))["error"]["code"] == -32002


@pytest.mark.req("all-elicitation-07")
async def test_a_tool_call_of_null_is_none(version: int) -> None:
    host = await Host.begin(version, Forms())
    for call in ({}, {"toolCallId": None}, {"toolCallId": "c"}):
        assert (await host.replies(CREATE, **FORM, **call))["result"]["action"] == "accept"


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-elicitation-13", "all-elicitation-14", "all-elicitation-19")
async def test_each_way_to_answer_a_form(version: int) -> None:
    whole = {"name": "Bob", "age": 7, "tags": ["a"]}
    client = Forms(whole, DeclineElicitation(), CancelElicitation())
    host = await Host.begin(version, client)
    results = [(await host.replies(CREATE, **FORM))["result"] for _ in range(4)]
    assert results == [
        {"action": "accept", "content": whole},
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": {"name": "Ada"}},
    ]
    assert client.seen[0].message == "Who?"
    assert client.sessions == [host.session] * 4


@pytest.mark.req("all-elicitation-15", "all-elicitation-14")
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"name": "x"},
        {"name": None},
        {"name": 5},
        {"name": "Bob", "age": -1},
        {"name": "Bob", "age": 151},
        {"name": "Bob", "age": 1.5},
        {"name": "Bob", "age": True},
        {"name": "Bob", "tags": ["c"]},
        {"name": "Bob", "tags": ["a", "b"]},
        {"name": "Bob", "more": {"nested": 1}},
        {"name": "Bob", "more": float("nan")},
        {"name": "Bob", "more": [1]},
    ],
)
async def test_a_wrong_answer_never_leaves(version: int, wrong: dict[str, Any]) -> None:
    host = await Host.begin(version, Forms(wrong))
    assert (await host.replies(CREATE, **FORM))["result"] == {"action": "cancel"}


@pytest.mark.parametrize("failing", [ValueError("no"), AssertionError()])
async def test_a_client_that_fails_has_cancelled(version: int, failing: Exception) -> None:
    host = await Host.begin(version, Forms(failing))
    assert (await host.replies(CREATE, **FORM))["result"] == {"action": "cancel"}
    assert (await host.replies(CREATE, **FORM))["result"]["action"] == "accept"


@pytest.mark.req("all-elicitation-43")
async def test_a_field_of_an_unknown_type_is_none_of_the_known_ones(version: int) -> None:
    client = Forms({"name": "Bob"})
    host = await Host.begin(version, client)
    fields = {"name": {"type": "string"}, "shade": {"type": "_color", "default": 5}}
    question = {**FORM, "requestedSchema": {"type": "object", "properties": fields}}
    assert (await host.replies(CREATE, **question))["result"] == {"action": "accept", "content": {"name": "Bob"}}
    assert type((client.seen[0].requested_schema.properties or {})["shade"]).__name__ == "Unknown"


@pytest.mark.req("all-elicitation-45")
async def test_a_pattern_cannot_hold_up_the_client(version: int) -> None:
    host = await Host.begin(version, Forms({"name": "a" * 5000 + "!"}))
    fields = {"name": {"type": "string", "pattern": "^(a+)+$"}}
    question = {**FORM, "requestedSchema": {"type": "object", "properties": fields}}
    assert (await host.replies(CREATE, **question))["result"] == {"action": "cancel"}


@pytest.mark.req("all-cancellation-14")
async def test_a_cancelled_turn_cancels_its_questions(version: int) -> None:
    asked = asyncio.Event()

    class Slow(Client):
        async def fill_form(self, session: Session | None, form: FormElicitation) -> CreateElicitationResponse:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    host = await Host.begin(version, Slow())
    run, request = await host.prompt()
    host.accept(request)
    host.send({"id": "f", "method": CREATE, "params": {"sessionId": "S", **FORM}})
    await until(asked.is_set)
    await run.turn.cancel()
    assert (await host.wire.read_answer("f"))["result"] == {"action": "cancel"}
    assert (await host.replies(CREATE, **FORM))["result"] == {"action": "cancel"}
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-elicitation-27", "all-elicitation-28")
async def test_the_end_of_a_visit_is_told_once_and_only_if_it_was_agreed_to(version: int) -> None:
    client = Pages()
    host = await Host.begin(version, client)
    complete = {"method": "elicitation/complete", "params": {"elicitationId": PAGE["elicitationId"]}}
    host.send(complete)
    # What an accepted page holds does not leave: it is consent alone.
    client.answer = AcceptElicitation(content={"a": "b"})
    assert (await host.replies(CREATE, **PAGE))["result"] == {"action": "accept"}
    host.send({**complete, "params": {"elicitationId": "e 1/u"}})
    await settle()
    assert client.done == []
    host.send(complete, complete)
    await until(lambda: client.done)
    await settle()
    assert client.done == [PAGE["elicitationId"]]
    await host.wire.silence()


@pytest.mark.parametrize("answer", [DeclineElicitation(), CancelElicitation()])
async def test_a_page_that_was_not_agreed_to_has_no_end(version: int, answer: CreateElicitationResponse) -> None:
    client = Pages(answer)
    host = await Host.begin(version, client)
    assert (await host.replies(CREATE, **PAGE))["result"] == {"action": answer.__struct_config__.tag}  # type: ignore[union-attr]
    host.send({"method": "elicitation/complete", "params": {"elicitationId": PAGE["elicitationId"]}})
    await settle()
    assert client.done == []


async def test_a_visit_may_end_before_the_user_has_answered(version: int) -> None:
    client = Pages()
    client.go.clear()
    host = await Host.begin(version, client)
    host.send({"id": "p", "method": CREATE, "params": {"sessionId": "S", **PAGE}})
    await until(lambda: client.seen)
    host.send({"method": "elicitation/complete", "params": {"elicitationId": PAGE["elicitationId"]}})
    await until(lambda: client.done)
    client.go.set()
    assert (await asyncio.wait_for(host.wire.read_answer("p"), PATIENCE))["result"] == {"action": "accept"}


@pytest.mark.req("all-elicitation-35")
@pytest.mark.parametrize(
    ("url", "doubts"),
    [
        ("https://example.org/x?y=z", 0),
        ("http://example.org/", 1),
        ("https://xn--pple-43d.com/", 1),
        ("https://\u0430pple.com/", 1),
        ("https://bank.example@evil.example/", 1),
        ("file:///etc/passwd", 2),
        ("https://[", 1),
        ("https://a.example/\u202e", 1),
    ],
)
def test_doubtful_pages_are_told(url: str, doubts: int) -> None:
    assert len(url_doubts(url)) == doubts
