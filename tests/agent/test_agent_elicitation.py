"""Forms and pages to visit: what is asked, of whom, and what each answer means."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, settle

from duologue.agent import FormAnswer, Outcome, Session, Turn, UrlAnswer
from duologue.agent.form_conduct import secret_fields
from duologue.protocol.common.elicitation_schema import (
    ArrayProperty,
    BooleanProperty,
    ElicitationSchema,
    EnumOption,
    IntegerProperty,
    NumberProperty,
    StringFormat,
    StringItems,
    StringProperty,
)
from duologue.protocol.v2.auth import AgentAuthMethod, AuthMethod

BOTH: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
SCHEMA = ElicitationSchema(
    properties={
        "name": StringProperty(title="Name", min_length=2),
        "mail": StringProperty(format=StringFormat.EMAIL),
        "colour": StringProperty(one_of=[EnumOption(const="r", title="Red"), EnumOption(const="g", title="Green")]),
        "age": IntegerProperty(minimum=0),
        "size": NumberProperty(maximum=2.5),
        "sure": BooleanProperty(default=True),
        "days": ArrayProperty(items=StringItems(enum=["mo", "tu"])),
    },
    required=["name"],
)


class Curious(Scripted):
    """Asks in a turn, and in the requests that come before a session is known."""

    def __init__(self) -> None:
        super().__init__(form=self.form, url=self.url, tool=self.tool, twice=self.twice)
        self.forms: list[FormAnswer] = []
        self.pages: list[UrlAnswer] = []
        self.asks_early = False

    async def form(self, turn: Turn) -> None:
        self.forms.append(await turn.ask_form("Who are you?", SCHEMA))
        await turn.say("went on" if self.forms[-1] else "did without")

    async def url(self, turn: Turn) -> None:
        page = await turn.ask_url("Sign in", "https://example.org/sign-in")
        self.pages.append(page)
        if page:
            await turn.say("waiting")
            await page.complete()

    async def tool(self, turn: Turn) -> None:
        async with turn.tool_call("Ask") as call:
            self.forms.append(await call.ask_form("Sure?", ElicitationSchema()))
            self.pages.append(await call.ask_url("Look", "http://localhost:8080/"))

    async def twice(self, turn: Turn) -> None:
        pages = [turn.ask_url("Sign in", "https://example.org/") for _ in range(2)]
        self.pages += await asyncio.gather(*pages)

    def auth_methods(self) -> Sequence[AuthMethod]:
        return (AgentAuthMethod(method_id="form", name="A form"),)

    async def login(self, method_id: str) -> None:
        self.forms.append(await self.connection.elicitor.ask_form("Which account?", SCHEMA))
        self.pages.append(await self.connection.elicitor.ask_url("Sign in", "https://example.org/"))

    async def new_session(self, session: Session) -> None:
        if self.asks_early:
            self.forms.append(await session.ask_form("Where to?", SCHEMA))


async def ask(version: int, word: str, offering: dict[str, Any] = BOTH) -> tuple[Curious, Talk, dict[str, Any], int]:
    """Let the agent ask; the question and the prompt's id."""
    agent = Curious()
    talk = await Talk.begin(agent, version, offering=offering)
    id = talk.prompt(await talk.new(), word)
    return agent, talk, await talk.request("elicitation/create"), id


async def answered(version: int, answer: dict[str, Any], word: str = "form") -> tuple[Curious, Talk]:
    agent, talk, question, id = await ask(version, word)
    talk.send({"id": question["id"], **answer})
    assert await talk.ended(id) == [Ended("end_turn")]
    return agent, talk


# --- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.req(
    *("all-elicitation-05", "all-elicitation-06", "all-elicitation-09", "all-elicitation-11", "all-elicitation-12")
)
async def test_a_form_as_it_is_asked(version: int) -> None:
    _, talk, question, _ = await ask(version, "form")
    params = question["params"]
    (session,) = talk.connection.sessions
    assert params.keys() == {"mode", "message", "sessionId", "requestedSchema"}
    assert (params["mode"], params["message"], params["sessionId"]) == ("form", "Who are you?", session)
    schema = params["requestedSchema"]
    assert schema["type"] == "object" and schema["required"] == ["name"]
    kinds = {name: field["type"] for name, field in schema["properties"].items()}
    assert list(kinds.values()) == ["string", "string", "string", "integer", "number", "boolean", "array"]
    assert schema["properties"]["colour"]["oneOf"][0] == {"const": "r", "title": "Red"}
    assert schema["properties"]["days"]["items"] == {"type": "string", "enum": ["mo", "tu"]}


@pytest.mark.req("all-elicitation-05", "all-elicitation-06", "all-elicitation-23", "all-elicitation-09")
async def test_a_question_about_a_tool_call_names_it(version: int) -> None:
    _, talk, question, id = await ask(version, "tool")
    call = next(update["toolCallId"] for update in talk.updates() if "toolCallId" in update)
    assert question["params"]["toolCallId"] == call
    assert question["params"]["requestedSchema"] == {"type": "object", "properties": {}}
    talk.send({"id": question["id"], "result": {"action": "decline"}})
    page = (await talk.request("elicitation/create"))["params"]
    assert page["toolCallId"] == call
    assert (page["mode"], page["url"]) == ("url", "http://localhost:8080/")
    assert isinstance(page["elicitationId"], str) and page["elicitationId"]
    talk.send({"id": talk.seen[-1]["id"], "result": {"action": "accept"}})
    assert await talk.ended(id) == [Ended("end_turn")]


@pytest.mark.req("all-elicitation-08", "all-elicitation-06")
async def test_a_question_in_a_login_belongs_to_that_request(version: int) -> None:
    agent = Curious()
    talk = await Talk.begin(agent, version, offering=BOTH)
    login = {"id": "log in", "method": "authenticate" if version == 1 else "auth/login", "params": {"methodId": "form"}}
    talk.send(login)
    for action in ("accept", "decline"):
        question = await talk.request("elicitation/create")
        assert question["params"]["requestId"] == "log in"
        assert "sessionId" not in question["params"]
        talk.send({"id": question["id"], "result": {"action": action, "content": {"name": "Ann"}}})
    assert (await talk.answer("log in"))["result"] == {}
    assert agent.forms[0].content == {"name": "Ann"}
    assert agent.pages[0].outcome is Outcome.DECLINED


@pytest.mark.req("all-elicitation-08", "all-updates-02")
async def test_a_question_before_the_session_is_known_belongs_to_the_request_that_makes_it(version: int) -> None:
    agent = Curious()
    agent.asks_early = True
    talk = await Talk.begin(agent, version, offering=BOTH)
    request = talk.call("session/new", {"cwd": "/", "mcpServers": []})
    talk.send(request)
    question = await talk.request("elicitation/create")
    assert question["params"]["requestId"] == request["id"]
    talk.send({"id": question["id"], "result": {"action": "cancel"}})
    assert "sessionId" in (await talk.answer(request["id"]))["result"]
    assert agent.forms[0].outcome is Outcome.CANCELLED
    assert talk.updates() == []


async def test_without_a_request_there_is_nothing_to_ask_for(version: int) -> None:
    talk = await Talk.begin(Curious(), version, offering=BOTH)
    with pytest.raises(RuntimeError, match="no request is being answered"):
        await talk.connection.elicitor.ask_form("Who?", SCHEMA)


@pytest.mark.req("all-elicitation-01", "all-elicitation-02", "all-elicitation-03")
@pytest.mark.parametrize(
    "offering", [{}, {"elicitation": None}, {"elicitation": {}}, {"elicitation": {"form": None, "url": None}}]
)
async def test_a_client_that_shows_nothing_is_not_asked(version: int, offering: dict[str, Any]) -> None:
    agent = Curious()
    talk = await Talk.begin(agent, version, offering=offering)
    session = await talk.new()
    assert await talk.turn(session, "form") == await talk.turn(session, "url") == Ended("end_turn")
    assert agent.forms[0].outcome is agent.pages[0].outcome is Outcome.UNSUPPORTED
    assert not agent.forms[0] and not agent.pages[0]
    assert "elicitation/create" not in talk.kinds()


@pytest.mark.req("all-elicitation-01")
async def test_a_mode_is_asked_for_only_when_it_is_offered_itself(version: int) -> None:
    agent = Curious()
    talk = await Talk.begin(agent, version, offering={"elicitation": {"url": {}}})
    session = await talk.new()
    assert await talk.turn(session, "form") == Ended("end_turn")
    assert agent.forms[0].outcome is Outcome.UNSUPPORTED
    elicitor = talk.connection.elicitor
    assert elicitor.shows_urls and not elicitor.shows_forms


@pytest.mark.req("v2-elicitation-01", "all-elicitation-40")
@pytest.mark.parametrize(
    "field",
    [
        StringProperty(enum=[]),
        ArrayProperty(items=StringItems(enum=[])),
        StringProperty(min_length=3, max_length=2),
        IntegerProperty(minimum=1, default=0),
    ],
)
async def test_a_form_that_may_not_be_asked_is_a_mistake_of_the_author(version: int, field: Any) -> None:
    async def go(turn: Turn) -> None:
        with pytest.raises(ValueError, match="such a form may not be asked: f: "):
            await turn.ask_form("Which?", ElicitationSchema(properties={"f": field}))

    talk = await Talk.begin(Scripted(go=go), version, offering=BOTH)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")


@pytest.mark.req("all-elicitation-22")
@pytest.mark.parametrize("offering", [BOTH, {"elicitation": {"form": {}}}])
@pytest.mark.parametrize(
    ("name", "title"),
    [
        *(("password", None), ("apiKey", None), ("API_KEY", None), ("x", "Your secret"), ("x", "GitHub access token")),
        *(("pin", None), ("cardNumber", None), ("x", "Credit card"), ("passphrase", None), ("aws_credentials", None)),
    ],
)
async def test_a_form_for_a_secret_is_a_mistake_of_the_author(
    version: int, name: str, title: str | None, offering: dict[str, Any]
) -> None:
    """Also where the client shows no pages: there is nothing to fall back on."""
    schema = ElicitationSchema(properties={name: StringProperty(title=title)})

    async def go(turn: Turn) -> None:
        with pytest.raises(ValueError, match=rf"{name}: is a secret"):
            await turn.ask_form("Sign in", schema)

    talk = await Talk.begin(Scripted(go=go), version, offering=offering)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")
    assert "elicitation/create" not in talk.kinds()


@pytest.mark.parametrize(
    "name", ["author", "max_tokens", "passenger", "keyboard", "pinned", "tokenizer", "secretary", "compass", "key"]
)
def test_words_that_only_look_like_secrets_may_be_asked_for(name: str) -> None:
    assert secret_fields(ElicitationSchema(properties={name: StringProperty(title=name.title())})) == []


@pytest.mark.req("all-elicitation-37")
@pytest.mark.parametrize(
    ("message", "more", "told"),
    [
        ("See https://example.org/", {}, 1),
        ("See", {"description": "as in HTTP://example.org/a"}, 1),
        ("See", {"title": "https://example.org"}, 1),
        ("Which host? (example.org is one, https: is not needed)", {"description": "a name"}, 0),
    ],
)
async def test_the_author_is_told_of_a_link_in_a_form(
    version: int, caplog: pytest.LogCaptureFixture, message: str, more: Any, told: int
) -> None:
    async def go(turn: Turn) -> None:
        assert not await turn.ask_form(message, ElicitationSchema(properties={"f": StringProperty(**more)}))

    talk = await Talk.begin(Scripted(go=go), version)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")
    assert len([record for record in caplog.records if "link to click" in record.message]) == told


@pytest.mark.req("all-elicitation-23", "all-elicitation-29", "all-elicitation-30")
@pytest.mark.parametrize(
    "url",
    [
        *("", "/sign-in", "example.org/a", "https:///a", "ftp://example.org/", "javascript:alert(1)"),
        *("http://example.org/", "http://128.0.0.1/", "https://ann@example.org/", "https://ann:sesame@example.org/"),
    ],
)
async def test_a_url_that_may_not_be_told_is_a_mistake_of_the_author(version: int, url: str) -> None:
    async def go(turn: Turn) -> None:
        with pytest.raises(ValueError, match="URL"):
            await turn.ask_url("Look", url)

    talk = await Talk.begin(Scripted(go=go), version, offering=BOTH)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")
    assert "elicitation/create" not in talk.kinds()


# --- what an answer means ---------------------------------------------------------------------------------------------


async def test_an_answer_that_fits(version: int) -> None:
    content = {"name": "Ann", "mail": "a@b.c", "colour": "g", "age": 3, "size": 2.5, "sure": False, "days": ["tu"]}
    agent, talk = await answered(version, {"result": {"action": "accept", "content": content}})
    assert agent.forms[0]
    assert agent.forms[0].content == content
    assert talk.said() == "went on"


@pytest.mark.req("all-elicitation-16", "all-elicitation-17")
@pytest.mark.parametrize(
    "content",
    [
        *({"name": "A"}, {"name": "Ann", "mail": "sesame"}, {"name": "Ann", "colour": "b"}),
        *({"name": "Ann", "age": -1}, {"name": "Ann", "days": ["we"]}, {"name": 5}, {}, None),
    ],
)
async def test_an_answer_that_does_not_fit_is_none(version: int, content: Any) -> None:
    agent, talk = await answered(version, {"result": {"action": "accept", "content": content}})
    answer = agent.forms[0]
    assert not answer and answer.outcome is Outcome.INVALID
    assert len(answer.problems) == 1 and "sesame" not in answer.problems[0]
    assert talk.said() == "did without"


@pytest.mark.req("all-elicitation-17", "all-elicitation-18", "all-elicitation-42")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"result": {"action": "decline", "content": {"name": "Ann"}}}, Outcome.DECLINED),
        ({"result": {"action": "cancel", "content": {"name": "Ann"}}}, Outcome.CANCELLED),
        ({"result": {"action": "_later", "content": {"name": "Ann"}}}, Outcome.FAILED),
        ({"result": {"action": "yes", "content": {"name": "Ann"}}}, Outcome.FAILED),
        ({"result": {"content": {"name": "Ann"}}}, Outcome.FAILED),
        ({"result": {"action": "accept", "content": [1]}}, Outcome.FAILED),
        ({"result": {"action": "accept", "content": {"name": {"first": "Ann"}}}}, Outcome.FAILED),
        ({"error": {"code": -32602, "message": "no"}}, Outcome.FAILED),
        ({"error": {"code": -32800, "message": "gone"}}, Outcome.CANCELLED),
        ({"error": "broken"}, Outcome.FAILED),
    ],
)
async def test_no_other_answer_accepts(version: int, answer: dict[str, Any], outcome: Outcome) -> None:
    agent, talk = await answered(version, answer)
    assert agent.forms[0].outcome is outcome
    assert not agent.forms[0] and agent.forms[0].content == {}
    assert talk.said() == "did without"


@pytest.mark.req("v2-prompt-08")
async def test_on_version_2_the_session_requires_action_while_a_question_is_open() -> None:
    _, talk = await answered(2, {"result": {"action": "decline"}})
    assert talk.states() == ["running", "requires_action", "running", "end_turn"]


async def test_a_cancelled_turn_withdraws_its_question(version: int) -> None:
    agent, talk, question, id = await ask(version, "form")
    talk.cancel(talk.connection.agent.connection.sessions.copy().popitem()[0])
    withdrawn = await talk.request("$/cancel_request")
    assert withdrawn["params"]["requestId"] == question["id"]
    assert await talk.ended(id) == [Ended("cancelled")]
    assert agent.forms == []


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-elicitation-25", "all-elicitation-26")
async def test_agreeing_to_visit_a_page_is_no_more_than_that(version: int) -> None:
    agent, talk, question, id = await ask(version, "url")
    talk.send({"id": question["id"], "result": {"action": "accept", "content": {"token": "sesame"}}})
    done = await talk.request("elicitation/complete")
    assert "waiting" in talk.said()
    assert done["params"] == {"elicitationId": question["params"]["elicitationId"]}
    assert "id" not in done
    assert await talk.ended(id) == [Ended("end_turn")]
    assert agent.pages[0] and agent.pages[0].outcome is Outcome.ACCEPTED


@pytest.mark.req("all-elicitation-26", "all-elicitation-38")
async def test_a_completion_goes_where_the_question_went(version: int) -> None:
    _, other, _, _ = await ask(version, "url")
    _, talk = await answered(version, {"result": {"action": "accept"}}, "url")
    assert "elicitation/complete" in talk.kinds()
    await other.wire.silence()


async def test_a_page_that_nobody_visits_is_not_completed(version: int) -> None:
    agent, talk = await answered(version, {"result": {"action": "decline"}}, "url")
    await agent.pages[0].complete()
    await settle()
    assert "elicitation/complete" not in [message.get("method") for message in talk.wire.pending()]


@pytest.mark.req("all-elicitation-24")
async def test_open_pages_have_ids_of_their_own(version: int) -> None:
    agent, talk, first, id = await ask(version, "twice")
    second = await talk.request("elicitation/create")
    ids = {question["params"]["elicitationId"] for question in (first, second)}
    assert len(ids) == 2
    for question in (second, first):
        talk.send({"id": question["id"], "result": {"action": "accept"}})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert {page.elicitation_id for page in agent.pages} == ids
