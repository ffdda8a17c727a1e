"""Scripted agents and clients: a script is played by either side, and what differs from it fails and says so."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal

import pytest

from duologue import Agent, RpcError, Turn
from duologue.agent import plan_entry
from duologue.client import Client
from duologue.protocol import v2
from duologue.testing import (
    Answers,
    Call,
    Cancel,
    End,
    Failure,
    Form,
    Line,
    Mismatch,
    Prompt,
    Question,
    Reply,
    ScriptedAgent,
    ScriptedClient,
    Thought,
    Update,
    connected,
)

pytest_plugins = ["duologue.testing.fixtures"]

Version = Literal[1, 2]

EDIT: tuple[Line, ...] = (
    Prompt("buy milk"),
    Thought("hm"),
    Reply("Let me "),
    Reply("see. "),
    Call("Edit notes.txt", "pending", kind="edit"),
    Question("Edit notes.txt", answer="allow_once"),
    Call("Edit notes.txt", "in_progress"),
    Call("Edit notes.txt", "completed"),
    Update(v2.UsageUpdateEvent(used=10, size=100)),
    Reply("Noted."),
    End(),
    Prompt("again"),
    Question("Really?", answer="reject_once"),
    Reply("Then not."),
)


async def play(agent: Agent, client: ScriptedClient, version: Version) -> None:
    async with connected(agent, client, protocol=version) as connection:
        await client.play(await connection.new_session("/"), seconds=5)


async def test_two_sides_play_one_script(acp_version: Version) -> None:
    await play(ScriptedAgent(*EDIT), ScriptedClient(*EDIT), acp_version)


@pytest.mark.parametrize(
    "lines",
    [
        [Prompt("go"), Cancel(), End("cancelled")],
        [Prompt("go"), Reply("waiting"), Cancel(), End("cancelled"), Prompt("more"), Reply("here")],
        [Prompt("go"), Question("May I?", answer="cancelled"), End("cancelled")],
        [Prompt("go"), Question("May I?", answer="cancelled"), Reply("x" * 200_000), End("cancelled")],
        [Prompt("go"), Reply("oh"), Failure(-32001, "no more paper")],
        [Prompt("go"), Reply("x" * 100_000), End("max_tokens")],
        [Prompt("go"), End("refusal"), Prompt("go"), End()],
        [Prompt([v2.TextBlock(text="a"), v2.ResourceLinkBlock(name="n", uri="file:///n")]), Reply("b")],
    ],
    ids=[
        "cancel at once",
        "cancel",
        "cancelled question",
        "words after a cancelled question",
        "failure",
        "long",
        "refusal",
        "blocks",
    ],
)
async def test_each_way_to_end_is_played_by_either_side(lines: list[Line], acp_version: Version) -> None:
    await play(ScriptedAgent(*lines), ScriptedClient(*lines), acp_version)


class Greeter(Agent):
    async def prompt(self, turn: Turn) -> None:
        if turn.text == "fail":
            raise RpcError(-32001, "no more paper")
        if turn.text == "wait":
            await turn.say("waiting")
            await asyncio.Event().wait()
        if turn.text == "stream":
            while True:
                await turn.say("more ")
                await asyncio.sleep(0)
        if turn.text == "ask" and not await turn.ask_permission("May I?"):
            await turn.say("I may not. ")
        for piece in ("Hel", "lo ", turn.text):
            await turn.say(piece)


@pytest.mark.parametrize(
    "lines",
    [
        [Prompt("Ada"), Reply("Hello Ada")],
        [Prompt("Ada"), Reply("Hello "), Reply("Ada")],
        [Prompt("Ada"), Reply(re.compile("Hello .*"))],
        [Prompt("ask"), Question(re.compile("May .*")), Reply("Hello ask")],
        [Prompt("ask"), Question("May I?", "reject_once"), Reply(re.compile(".*not. Hello ask"))],
        [Prompt("fail"), Failure(-32001)],
        [Prompt("stream"), Reply("more "), Cancel(), End("cancelled")],
    ],
    ids=["text", "in two", "pattern", "question", "pattern behind a question", "failure", "stream"],
)
async def test_a_client_plays_with_an_agent_that_says_it_in_its_own_pieces(
    lines: list[Line], acp_version: Version
) -> None:
    await play(Greeter(), ScriptedClient(*lines), acp_version)


class Speaker(Agent):
    """Tells whole messages, and speaks in every session whatever is asked in one."""

    async def prompt(self, turn: Turn) -> None:
        for session in self.connection.sessions.values():
            if session is not turn.session:
                await session.say("elsewhere")
        await turn.update(v2.AgentMessageEvent(message_id="m1", content=[v2.TextBlock(text="whole")]))
        await turn.update(v2.AgentMessageChunk(message_id="m2", content=v2.TextBlock(text=" and pieces")))
        await turn.update(v2.AgentMessageEvent(message_id="m2", content=[v2.TextBlock(text=" and pieces")]))
        await turn.usage(used=1, size=10)
        async with turn.tool_call("Look"):
            await turn.think("hm")


@pytest.mark.parametrize(
    "lines",
    [
        [Reply("whole and pieces")],
        [Reply(re.compile(".*pieces")), Update(v2.UsageUpdateEvent(used=1, size=10)), Call("Look", "completed")],
        [Reply(re.compile(".*pieces")), Call("Look"), Thought(re.compile("h.")), Call("Look", "completed")],
    ],
    ids=["text", "pattern before an update", "pattern before a call"],
)
async def test_whole_messages_and_other_sessions(lines: list[Line]) -> None:
    client = ScriptedClient(Prompt("go"), *lines)
    async with connected(Speaker(), client) as connection:
        await connection.new_session("/")
        await client.play(await connection.new_session("/"))


class Thinker(Agent):
    """Tells what it thinks as a whole, and in pieces and as a whole."""

    async def prompt(self, turn: Turn) -> None:
        await turn.update(v2.AgentThoughtEvent(message_id="t1", content=[v2.TextBlock(text="first")]))
        await turn.update(v2.AgentThoughtChunk(message_id="t2", content=v2.TextBlock(text=", second")))
        await turn.update(v2.AgentThoughtEvent(message_id="t2", content=[v2.TextBlock(text=", second")]))
        await turn.say("done")


@pytest.mark.parametrize(
    "lines",
    [
        [Thought("first, second"), Reply("done")],
        [Thought("first"), Thought(re.compile(".*second")), Reply("done")],
        [Update(v2.AgentThoughtChunk(message_id="t2", content=v2.TextBlock(text=", second"))), Reply("done")],
        [Reply("done")],
    ],
    ids=["text", "in two", "as an update", "not mentioned"],
)
async def test_whole_thoughts(lines: list[Line], acp_version: Version) -> None:
    await play(Thinker(), ScriptedClient(Prompt("go"), *lines), acp_version)


class OneId(Agent):
    """Has one id for a thought and the message behind it, which it tells whole."""

    async def prompt(self, turn: Turn) -> None:
        await turn.update(v2.AgentThoughtChunk(message_id="1", content=v2.TextBlock(text="hm")))
        await turn.update(v2.AgentMessageEvent(message_id="1", content=[v2.TextBlock(text="done")]))


async def test_a_message_with_the_id_of_a_thought_is_heard() -> None:
    await play(OneId(), ScriptedClient(Prompt("go"), Thought("hm"), Reply("done")), 2)


@pytest.mark.parametrize(
    ("lines", "expected", "got"),
    [
        ([Prompt("Ada"), Reply("Hello Bob")], "Reply(text='Hello Bob')", "the message 'Hello A"),
        ([Prompt("Ada"), Reply("Hello Ada!")], "Reply(text='Hello Ada!')", "the end of the turn: end_turn, after"),
        ([Prompt("Ada"), Reply("Hello")], "the end of the script", "the message ' "),
        ([Prompt("Ada"), Reply("Hello Ada"), End("refusal")], "End(reason='refusal')", "the end of the turn"),
        ([Prompt("Ada")], "the end of the script", "the message 'Hel'"),
        ([Prompt("Ada"), Reply(re.compile("Bye.*"))], "Reply(text=re.compile('Bye.*'))", "the end of the turn"),
        ([Prompt("ask"), Reply("Hello ask")], "Reply(text='Hello ask')", "the question 'May I?'"),
        ([Prompt("ask"), Question("You?")], "Question(title='You?'", "the question 'May I?'"),
        ([Prompt("ask"), Question("May I?", "allow_always")], "Question(", "offers ['allow_once', 'reject_once']"),
        ([Prompt("Ada"), Call("Look")], "Call(title='Look'", "the message 'Hel'"),
        ([Prompt("fail"), Failure(-32002)], "Failure(code=-32002", "no more paper (-32001)"),
        ([Prompt("fail"), Failure(-32001, "no ink")], "Failure(code=-32001", "no more paper (-32001)"),
        ([Prompt("fail")], "the end of the script", "no more paper (-32001)"),
        ([Prompt("Ada"), Failure(-32001)], "Failure(code=-32001", "the message 'Hel'"),
    ],
)
async def test_an_agent_that_does_something_else_fails_the_test(
    lines: list[Line], expected: str, got: str, acp_version: Version
) -> None:
    with pytest.raises(Mismatch) as caught:
        await play(Greeter(), ScriptedClient(*lines), acp_version)
    first, second, *rest = str(caught.value).splitlines()
    assert first.startswith(f"expected {expected}")
    assert got in second
    assert rest[0] == "the script:"
    assert "".join(rest).count("->") == 1


async def test_after_a_cancelled_turn_words_count_again(acp_version: Version) -> None:
    lines = [Prompt("stream"), Reply("more "), Cancel(), End("cancelled"), Prompt("Ada"), Reply("Bye")]
    with pytest.raises(Mismatch, match="got      the message 'Hel'"):
        await play(Greeter(), ScriptedClient(*lines), acp_version)


@pytest.mark.parametrize("line", [Call("Look", "failed"), Call("Look", kind="edit"), Call("Lock")])
async def test_another_call_is_not_the_expected_one(line: Line) -> None:
    with pytest.raises(Mismatch, match="got      the end of the turn"):
        await play(Speaker(), ScriptedClient(Prompt("go"), Reply("whole and pieces"), line), 2)


async def test_an_ended_call_is_not_gone_on_with(acp_version: Version) -> None:
    lines = [Prompt("go"), *[Call("Look", status) for status in ("pending", "completed") * 2]]
    client = ScriptedClient(*lines)
    async with connected(ScriptedAgent(*lines), client, protocol=acp_version) as connection:
        session = await connection.new_session("/")
        await client.play(session)
        assert [call.status for call in session.transcript.tool_calls.values()] == ["completed"] * 2


async def test_the_first_mismatch_is_the_one_that_is_told() -> None:
    agent = ScriptedAgent(Prompt("one"))
    with pytest.raises(Mismatch, match="got      the prompt 'two'"):
        async with connected(agent) as connection:
            session = await connection.new_session("/")
            for text in ("two", "three"):
                with pytest.raises(RpcError, match=f"got      the prompt '{text}'"):
                    await session.prompt(text).text()


async def test_an_agent_that_does_not_go_on_fails_the_test() -> None:
    client = ScriptedClient(Prompt("wait"), Reply("waiting"), Reply("done"))
    with pytest.raises(Mismatch, match="nothing more within 0 s"):
        async with connected(Greeter(), client) as connection:
            await client.play(await connection.new_session("/"), seconds=0)


async def test_a_script_that_is_not_played_fails_the_test() -> None:
    for agent, client in [
        (Greeter(), ScriptedClient(Prompt("Ada"))),
        (ScriptedAgent(Prompt("Ada")), Answers()),
    ]:
        with pytest.raises(Mismatch, match="got      nothing more"):
            async with connected(agent, client):
                pass


async def talk(agent: ScriptedAgent, version: Version, *texts: str, client: Client | None = None) -> list[str]:
    async with connected(agent, client, protocol=version) as connection:
        session = await connection.new_session("/")
        return [await session.prompt(text).text() for text in texts]


async def test_a_client_of_any_sort_talks_with_a_scripted_agent(acp_version: Version) -> None:
    agent = ScriptedAgent(Prompt("one"), Reply("1"), Prompt(re.compile("t..")), Question("Go on?"), Reply("2"))
    assert await talk(agent, acp_version, "one", "two", client=Answers()) == ["1", "2"]


@pytest.mark.parametrize(
    ("lines", "texts", "got"),
    [
        ([Prompt("one"), Reply("1")], ["two"], "the prompt 'two'"),
        ([Prompt("one"), Reply("1")], ["one", "two"], "the prompt 'two'"),
        ([Prompt("one"), Reply("1"), Prompt("two")], ["one"], "nothing more"),
        ([Prompt("one"), Question("Go?", "allow_once"), Reply("1")], ["one"], "the answer 'reject_once'"),
    ],
)
async def test_a_client_that_does_something_else_fails_the_test(
    lines: list[Line], texts: list[str], got: str, acp_version: Version
) -> None:
    with pytest.raises(Mismatch, match=f"got      {got}"):
        await talk(ScriptedAgent(*lines), acp_version, *texts, client=Answers("reject_once"))


async def test_a_cancel_that_is_not_in_the_script_fails_the_test(acp_version: Version) -> None:
    agent = ScriptedAgent(Prompt("go"), Question("Go on?"), Reply("done"))
    client = ScriptedClient(Prompt("go"), Cancel(), End("cancelled"))
    with pytest.raises(Mismatch, match=r"(?s)expected Question.*got      (the answer 'cancelled'|a cancel)"):
        await play(agent, client, acp_version)


NAME = v2.ElicitationSchema(properties={"name": v2.StringProperty(), "sure": v2.BooleanProperty()}, required=["name"])


@pytest.mark.parametrize("answer", [{"name": "Ada", "sure": True}, {"name": "Ada"}, "decline", "cancel"])
async def test_a_form_is_asked_and_answered(answer: Any, acp_version: Version) -> None:
    lines = (Prompt("go"), Reply("Who? "), Form("Your name?", answer, NAME), Reply("Thanks."))
    await play(ScriptedAgent(*lines), ScriptedClient(*lines), acp_version)


async def test_a_form_that_differs_fails_the_test(acp_version: Version) -> None:
    lines = (Prompt("go"), Form("Your name?", {"name": "Ada"}, NAME))
    for other, got in [
        ((Prompt("go"), Form("Your age?", {"age": 3}), Reply("x")), "got      the form 'Your name[?]'"),
        ((Prompt("go"), Form("Your name?", "decline")), "got      the answer 'decline'"),
        ((Prompt("go"), Reply("x"), Form("Your name?", "decline")), "got      the form 'Your name[?]'"),
        ((Prompt("go"), Form("Your name?", {"name": "Bob"})), "got      the answer {'name': 'Bob'}"),
        ((Prompt("go"), Form("Your name?", {"age": 3})), "got      the answer '(cancelled|failed|invalid|cancel)'"),
        ((Prompt("go"),), "got      the answer 'unsupported'"),
    ]:
        with pytest.raises(Mismatch, match=got):
            await play(ScriptedAgent(*lines), ScriptedClient(*other), acp_version)


async def test_a_form_without_a_schema_is_not_asked() -> None:
    agent, client = ScriptedAgent(Prompt("go"), Form("Your name?", "decline")), Answers()
    with pytest.raises(RpcError, match="TypeError"):
        await talk(agent, 1, "go", client=client)


async def test_an_update_is_compared_in_what_is_set(acp_version: Version) -> None:
    told = v2.PlanUpdateEvent(plan=v2.ItemsPlan(plan_id="p", entries=[plan_entry("look")]))
    agent = ScriptedAgent(Prompt("go"), Update(told), Update(v2.SessionInfoUpdateEvent(title="t")))
    client = ScriptedClient(Prompt("go"), Update(v2.SessionInfoUpdateEvent()))
    await play(agent, client, acp_version)
    with pytest.raises(Mismatch, match="end of the turn"):
        await play(
            ScriptedAgent(Prompt("go"), Update(v2.SessionInfoUpdateEvent(title="t"))),
            ScriptedClient(Prompt("go"), Update(v2.SessionInfoUpdateEvent(title="u"))),
            acp_version,
        )


def test_a_script_that_cannot_be_played_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a Prompt"):
        ScriptedAgent(Reply("hello"))
    with pytest.raises(ValueError, match="a new turn begins"):
        ScriptedClient(Prompt("hello"), End(), Reply("hello"))
    with pytest.raises(TypeError, match="one argument each"):
        ScriptedAgent([Prompt("hello")])  # type: ignore[arg-type]


def test_answers_are_kinds_of_options() -> None:
    with pytest.raises(ValueError, match="'yes' is no PermissionOptionKind"):
        Answers("yes")


async def test_a_pattern_is_not_said() -> None:
    with pytest.raises(TypeError, match="write the text instead of 'x'"):
        await play(Greeter(), ScriptedClient(Prompt(re.compile("x"))), 2)
