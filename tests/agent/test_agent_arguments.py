"""Wrong arguments of an author are errors where they are given, in either version; nothing of them is sent."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Agent, Session, Turn, plan_entry
from duologue.agent.terminal import Terminal
from duologue.agent.toolcall import ToolCall
from duologue.jsonrpc.errors import RpcError
from duologue.protocol import v2
from duologue.protocol.base import Unknown
from duologue.protocol.common.permission import PermissionOption, PermissionOptionKind
from duologue.protocol.common.prompt import StopReason

Mistake = Callable[[Any], Any]

ALLOW = PermissionOption(option_id="a", name="A", kind=PermissionOptionKind.ALLOW_ONCE)

#: What is done with a turn, and a piece of the error's text.
IN_A_TURN: list[tuple[Mistake, str]] = [
    (lambda turn: turn.say(None), "give a text or a content block such as TextBlock or ImageBlock, not NoneType"),
    (lambda turn: turn.say(3), "not int"),
    (lambda turn: turn.say(["a", "b"]), "not list"),
    (lambda turn: turn.say(v2.TextBlock(text=3)), "$.text: expected string, found integer (in TextBlock)"),  # type: ignore[arg-type]
    (lambda turn: turn.think(None), "think takes a text, not NoneType"),
    (lambda turn: turn.think(v2.TextBlock(text="x")), "think takes a text, not TextBlock"),
    (lambda turn: turn.update("x"), "an update is one of duologue.protocol.v2, such as ToolCallUpdateEvent, not str"),
    (lambda turn: turn.update({"sessionUpdate": "plan_update"}), "not dict"),
    (lambda turn: turn.update(Unknown({"no": "tag"})), "not Unknown"),
    (lambda turn: turn.update(v2.PlanRemovedEvent(plan_id=3)), "$.planId: expected string, found integer"),  # type: ignore[arg-type]
    (lambda turn: turn.plan("x"), "the entries of a plan must be given as a list, not str"),
    (lambda turn: turn.plan([3]), "an entry of a plan is a string or a PlanEntry (see plan_entry), not int"),
    (lambda turn: turn.plan(["x"], plan_id=3), "$.plan.planId: expected string, found integer"),
    (lambda turn: turn.plan([plan_entry(3)]), "$.plan.entries[0].content: expected string, found integer"),  # type: ignore[arg-type]
    (lambda turn: turn.plan_markdown(None), "$.plan.content: expected string, found null"),
    (lambda turn: turn.plan_file(3), "the path of a plan must be a path or a string, not int"),
    (lambda turn: turn.remove_plan(3), "$.planId: expected string, found integer"),
    (lambda turn: turn.set_title(3), "$.title: expected string or null, found integer"),
    (lambda turn: turn.set_updated_at("2024-01-01"), "a point of time is a datetime, not str"),
    (lambda turn: turn.set_updated_at(datetime(2024, 1, 1)), "a point of time needs a time zone"),
    (lambda turn: turn.usage("3", 4), "$.used: expected integer"),
    (lambda turn: turn.usage(-3, 4), "$.used: expected integer >= 0"),
    (lambda turn: turn.usage(3, 4, cost="5"), "$.cost.amount: expected number, found string"),
    (lambda turn: turn.usage(3, 4, cost=5, currency=None), "a currency is three capital letters: None"),
    (lambda turn: turn.commands("x"), "commands must be given as a list, not str"),
    (lambda turn: turn.commands(["x"]), "expected AvailableCommand, found string"),
    (lambda turn: turn.ask_permission(3), "$.title: expected string, found integer"),
    (lambda turn: turn.ask_permission("x", options="Allow"), "options must be given as a list, not str"),
    (lambda turn: turn.ask_permission("x", options=["Allow"]), "expected PermissionOption, found string"),
    (lambda turn: turn.ask_permission("x", options=[]), "$.options: expected array of length >= 1"),
    (
        lambda turn: turn.ask_permission("x", options=[PermissionOption(option_id="a", name="A", kind="allow")]),  # type: ignore[arg-type]
        "$.options[0].kind: 'allow' is no PermissionOptionKind: give one of allow_once, allow_always,",
    ),
    (lambda turn: turn.ask_permission("x", subject="run ls"), "$.subject: expected"),
    (lambda turn: turn.ask_form("x", {"type": "object"}), "a form is an ElicitationSchema, not dict"),
    (lambda turn: turn.ask_form(3, v2.ElicitationSchema()), "$.message: expected string, found integer"),
    (lambda turn: turn.ask_url("x", 3), "a URL is a string, not int"),
    (lambda turn: turn.tool_call(3), "$.title: expected string"),
    (lambda turn: turn.tool_call("x", kind="edt"), "'edt' is no ToolKind: give one of read, edit, delete,"),
    (lambda turn: turn.tool_call("x", kind=3), "a ToolKind is one of read, edit, delete,"),
    (lambda turn: turn.tool_call("x", locations="a.py"), "locations must be given as a list, not str"),
    (lambda turn: turn.tool_call("x", locations=[3]), "a location must be a path or a string, not int"),
    (lambda turn: turn.tool_call("x", raw_input={"a": object()}), "object is not a wire type"),
    (
        lambda turn: turn.ask_permission("x", options=[ALLOW, ALLOW]),
        "two options have the same id",
    ),
    (lambda turn: turn.request("session/request_permission", {}), "a request is made by a method of a table or by"),
    (lambda turn: turn.session.peer.notify("_x/note", {}), "a method of a table, or one of Notification.extension"),
    (lambda turn: turn.session.work().__aenter__(), "own work waits for the turn that runs: begin it in a task"),
    (lambda turn: turn.tool_call("x").text("y"), "not announced yet: async with turn.tool_call(...) as call"),
    (lambda turn: turn.tool_call("x").ask_permission(), "not announced yet: async with turn.tool_call(...) as call"),
    (lambda turn: turn.tool_call("x").terminal(), "not announced yet: async with turn.tool_call(...) as call"),
    (lambda turn: bool(turn.ask_permission("x")), "nothing was asked yet: await the question"),
    (lambda turn: bool(turn.ask_form("x", v2.ElicitationSchema())), "nothing was asked yet: await the question"),
    (lambda turn: bool(turn.ask_url("x", "https://example.org")), "nothing was asked yet: await the question"),
    (lambda turn: turn.client_terminal("ls", "-la"), "args must be given as a list, not str"),
    (lambda turn: turn.client_terminal("ls", cwd=3), "cwd must be a path or a string, not int"),
    (lambda turn: turn.client_files.read(3), "path must be a path or a string, not int"),
]

IN_A_CALL: list[tuple[Callable[[Any], Any], str]] = [
    (lambda call: call.text(3), "$.text: expected string, found integer (in TextBlock)"),
    (lambda call: call.text(None), "expected string, found null"),
    (lambda call: call.content("x"), "give a content block such as TextBlock or ImageBlock, not str"),
    (lambda call: call.add("x"), "content of a tool call is ToolContent, ToolDiff or ToolTerminal, not str"),
    (lambda call: call.update(status="done"), "'done' is no ToolCallStatus: give one of pending, in_progress,"),
    (lambda call: call.update(status=None), "a ToolCallStatus is one of pending"),
    (lambda call: call.update(kind="edt"), "'edt' is no ToolKind"),
    (lambda call: call.update(title=3), "$.title: expected string or null, found integer"),
    (lambda call: call.update(locations="a.py"), "locations must be given as a list, not str"),
    (lambda call: call.update(content="x"), "content must be given as a list, not str"),
    (lambda call: call.update(content=["x"]), "content of a tool call is ToolContent"),
    (lambda call: call.diff(3, "a", "b"), "the path of a diff must be a path or a string, not int"),
    (lambda call: call.diff("a", b"a", "b"), "the texts of a diff are strings, or None for no file, not bytes"),
    (lambda call: call.fail(3), "expected string, found integer"),
    (lambda call: call.raw_output(object()), "object is not a wire type"),
    (lambda call: call.ask_permission("x", content="abc"), "content must be given as a list, not str"),
    (lambda call: call.ask_permission("x", description=3), "$.description: expected string"),
    (lambda call: bool(call.ask_permission("x")), "nothing was asked yet: await the question"),
    (lambda call: call.terminal(command=3), "$.command: expected string"),
    (lambda call: call.terminal(cwd=3), "cwd must be a path or a string, not int"),
]

IN_A_TERMINAL: list[tuple[Callable[[Any], Any], str]] = [
    (lambda terminal: terminal.write("x"), "output is bytes, as the process wrote them (text.encode()), not str"),
    (lambda terminal: terminal.replace(3), "output is bytes, as the process wrote them (text.encode()), not int"),
    (lambda terminal: terminal.exited("0"), "expected integer"),
]


async def told(mistake: Callable[[Any], Any], given: Any) -> str:
    """The text of the error of a mistake."""
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        made = mistake(given)
        if isinstance(made, Awaitable):
            await made
    return str(caught.value)


async def learnt(version: int, script: Callable[[Turn], Awaitable[None]]) -> list[dict[str, Any]]:
    """Run a script as a turn, and the next turn after it; the updates of the first. Raises what the script does."""
    failed: list[BaseException] = []

    async def whole(turn: Turn) -> None:
        try:
            await script(turn)
        except BaseException as error:
            failed.append(error)

    talk = await Talk.begin(Scripted(go=whole), version, offering={"elicitation": {"form": {}, "url": {}}})
    session = await talk.new()
    assert await talk.turn(session, "go") == Ended("end_turn")
    for error in failed:
        raise error
    updates = talk.updates()
    assert await talk.turn(session, "hello") == Ended("end_turn")
    assert talk.said() == "echo hello"
    return [update for update in updates if update["sessionUpdate"] not in ("state_update", "user_message")]


@pytest.mark.parametrize(("mistake", "problem"), IN_A_TURN)
async def test_mistakes_in_a_turn(version: int, mistake: Mistake, problem: str) -> None:
    async def script(turn: Turn) -> None:
        assert problem in await told(mistake, turn)
        await turn.say("goes on")

    (said,) = await learnt(version, script)
    assert said["content"]["text"] == "goes on"


@pytest.mark.parametrize(("mistake", "problem"), IN_A_CALL)
async def test_mistakes_in_a_tool_call(version: int, mistake: Mistake, problem: str) -> None:
    async def script(turn: Turn) -> None:
        async with turn.tool_call("Look") as call:
            assert problem in await told(mistake, call)
            await call.text("seen")

    assert (await learnt(version, script))[-1]["status"] == "completed"


@pytest.mark.parametrize(("mistake", "problem"), IN_A_TERMINAL)
async def test_mistakes_in_a_terminal(version: int, mistake: Mistake, problem: str) -> None:
    async def script(turn: Turn) -> None:
        async with turn.tool_call("Run") as call:
            terminal = await call.terminal()
            assert problem in await told(mistake, terminal)
            await terminal.write(b"seen")

    await learnt(version, script)


@pytest.mark.parametrize("reason", [StopReason.REFUSAL, "refusal"])
async def test_a_stop_reason_may_be_its_text(version: int, reason: Any) -> None:
    async def script(turn: Turn) -> Any:
        return reason

    talk = await Talk.begin(Scripted(go=script), version)
    assert await talk.turn(await talk.new(), "go") == Ended("refusal")


async def test_plain_words_are_taken_for_every_enum(version: int) -> None:
    async def script(turn: Turn) -> None:
        async with turn.tool_call("Change", kind="edit") as call:  # type: ignore[arg-type]
            await call.update(status="in_progress", kind="delete")  # type: ignore[arg-type]
            assert call.status is v2.ToolCallStatus.IN_PROGRESS
        await turn.update(v2.ToolCallUpdateEvent(tool_call_id="c", title="x", kind="move", status="completed"))  # type: ignore[arg-type]

    updates = await learnt(version, script)
    assert [update["kind"] for update in updates if "kind" in update] == ["edit", "delete", "move"]


async def test_tokens_that_are_none_are_left_out(version: int, caplog: pytest.LogCaptureFixture) -> None:
    async def script(turn: Turn) -> None:
        turn.tokens = 5  # type: ignore[assignment]

    await learnt(version, script)
    assert "turn.tokens is a Usage" in caplog.text


async def test_a_title_that_was_refused_is_not_kept(version: int) -> None:
    async def script(turn: Turn) -> None:
        with pytest.raises(ValueError, match="title"):
            turn.set_title(3)  # type: ignore[arg-type]
        assert turn.session.title is None

    await learnt(version, script)


#: What takes no argument that could be wrong, or stands for the library itself.
WITHOUT = {
    *("end_message", "record", "cancel", "silence", "send", "request", "answered_cancelled"),
    *("start", "ask_form", "ask_url", "update_config_options"),
}


@pytest.mark.parametrize(("kind", "name"), [(Turn, "turn"), (ToolCall, "call"), (Terminal, "terminal")])
def test_each_function_that_speaks_is_tried(kind: type, name: str) -> None:
    functions = {member for member, value in inspect.getmembers(kind, inspect.isfunction) if member[0] != "_"}
    tried = set(re.findall(rf"{name}\.(\w+)\(", Path(__file__).read_text("utf-8")))
    assert functions - tried <= WITHOUT | {"open"}


class Said(Agent):
    """Says of itself what it is given."""

    def __init__(self, **said: Any) -> None:
        self.said = said
        self.name = said.get("name", "said")

    async def prompt(self, turn: Turn) -> None: ...

    def prompt_capabilities(self) -> Any:
        return self.said.get("prompt", v2.PromptCapabilities())

    def vendor_capabilities(self) -> Any:
        return self.said.get("vendor", {})

    def auth_methods(self) -> Any:
        return self.said.get("auth", ())

    def config_options(self, session: Session) -> Any:
        return self.said.get("options", ())


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"name": None}, "$.info.name: expected string, found null"),
        ({"prompt": {"image": True}}, "$.capabilities.session.prompt.image: expected PromptImageCapabilities"),
        ({"vendor": ["x"]}, "vendor_capabilities returns a dict, not list"),
        ({"auth": None}, "what auth_methods returns must be given as a list, not NoneType"),
        ({"auth": ["x"]}, "$[0]: expected AgentAuthMethod, EnvVarAuthMethod or TerminalAuthMethod, found string"),
    ],
)
async def test_what_an_agent_says_of_itself(
    version: int, said: dict[str, Any], problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = await Talk.open(Said(**said), version)
    assert (await talk.initialize())["error"]["code"] == -32603
    assert problem in caplog.text


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (None, "what config_options returns must be given as a list, not NoneType"),
        (["x"], "$.configOptions[0]: expected SelectConfigOption or BooleanConfigOption, found string"),
    ],
)
async def test_config_options_that_are_none(
    version: int, options: Any, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = await Talk.begin(Said(options=options), version)
    answer = await talk.ask("session/new", {"cwd": "/", "mcpServers": []})
    assert answer["error"]["code"] == -32603
    assert problem in caplog.text
    assert not talk.connection.sessions


async def test_a_session_that_cannot_be_reopened_is_closed_again(version: int) -> None:
    closed: list[str] = []

    class Failing(Said):
        async def resume_session(self, session: Session, *, replay: bool) -> None:
            session.title = "reopened"

        async def close_session(self, session: Session) -> None:
            closed.append(session.id)

    talk = await Talk.begin(Failing(options=None), version)
    answer = await talk.ask("session/resume", {"sessionId": "s", "cwd": "/", "mcpServers": []})
    assert answer["error"]["code"] == -32603
    assert closed == ["s"]
    assert not talk.connection.sessions


def test_an_error_has_a_number_and_a_text() -> None:
    for wrong in (("bad", "worse"), (-32000, None), ("Log in first", -32000)):
        with pytest.raises(TypeError, match=r"RpcError\(-32000, 'Log in first'\)"):
            RpcError(*wrong)


async def test_a_question_is_a_coroutine(version: int) -> None:
    async def script(turn: Turn) -> None:
        with pytest.raises(ValueError, match="option"):
            await asyncio.create_task(turn.ask_permission("x", options=[]))
        turn.ask_permission("never asked").close()
        with pytest.raises(KeyError):
            turn.ask_permission("never asked").throw(KeyError("x"))

    assert not await learnt(version, script)
