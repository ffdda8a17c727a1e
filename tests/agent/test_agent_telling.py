"""What an agent tells of a session: plans, usage, its name and date, commands, options, display terminals."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Session, Turn, command, plan_entry
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.common.content import ImageBlock, TextBlock
from duologue.protocol.common.prompt import Usage
from duologue.protocol.v2.config import (
    BooleanConfigOption,
    SelectConfigOption,
    SessionConfigOption,
    SessionConfigSelectGroup,
)
from duologue.protocol.v2.tools import ToolCallStatus

Tell = Callable[[Turn], Awaitable[Any]]


async def told(version: int, tell: Tell, kind: str, offering: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The updates of one kind that a turn sends."""

    async def go(turn: Turn) -> None:
        await tell(turn)

    talk = await Talk.begin(Scripted(go=go), version, offering=offering)
    assert await talk.turn(await talk.new("/tmp"), "go") == Ended("end_turn")
    return [update for update in talk.updates() if update["sessionUpdate"] == kind]


def wrong(call: Tell) -> Tell:
    """Tell nothing, since the author has made a mistake."""

    async def tell(turn: Turn) -> None:
        with pytest.raises(ValueError):
            await call(turn)

    return tell


# --- plans ------------------------------------------------------------------------------------------------------------


async def plans(turn: Turn) -> None:
    await turn.plan([plan_entry("one", "cancelled", "high"), plan_entry("two", "_paused", "_odd")], plan_id="a")
    await turn.plan_markdown("# Plan", plan_id="b")
    await turn.plan_file(Path("plan.md"), plan_id="c")
    await turn.remove_plan("a")


@pytest.mark.req("v2-plan-02", "v2-plan-04", "v2u-plan-02")
async def test_plans_by_id_in_each_form(version: int) -> None:
    updates = await told(version, plans, "plan_update", {"plan": {}})
    items, markdown, file = (update["plan"] for update in updates)
    assert (items["type"], items["planId"]) == ("items", "a")
    contents = ["one (cancelled)", "two"] if version == 1 else ["one", "two"]
    assert [entry["content"] for entry in items["entries"]] == contents
    statuses = ["completed", "pending"] if version == 1 else ["cancelled", "_paused"]
    assert [entry["status"] for entry in items["entries"]] == statuses
    assert markdown == {"type": "markdown", "planId": "b", "content": "# Plan"}
    assert file == {"type": "file", "planId": "c", "uri": "file:///tmp/plan.md"}
    removed = await told(version, plans, "plan_removed", {"plan": {}})
    assert removed == [{"sessionUpdate": "plan_removed", "planId": "a"}]


async def test_a_client_of_version_1_without_plans_by_id_gets_one_list() -> None:
    updates = await told(1, plans, "plan")
    contents = [[entry["content"] for entry in update["entries"]] for update in updates]
    file = "file:///tmp/plan.md"
    whole = ["one (cancelled)", "two", "# Plan", file]
    assert contents == [whole[:2], whole[:3], whole, whole[2:]]


async def test_each_plan_is_told_whole(version: int) -> None:
    async def tell(turn: Turn) -> None:
        for done in range(3):
            words = ["completed"] * done + ["in_progress"] + ["pending"] * (2 - done)
            await turn.plan([plan_entry(f"step {number}", word) for number, word in enumerate(words)])

    updates = await told(version, tell, "plan" if version == 1 else "plan_update")
    entries = [update["entries"] if version == 1 else update["plan"]["entries"] for update in updates]
    assert [len(of_one) for of_one in entries] == [3, 3, 3]
    assert [entry["status"] for entry in entries[2]] == ["completed", "completed", "in_progress"]


# --- usage, name, date ------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-updates-05", "v2-updates-01")
async def test_usage_at_any_time(version: int) -> None:
    async def tell(turn: Turn) -> None:
        await turn.usage(10, 100)
        await turn.usage(20, 100, cost=0.5, currency="EUR")

    first, second = await told(version, tell, "usage_update")
    assert first == {"sessionUpdate": "usage_update", "used": 10, "size": 100}
    assert second["cost"] == {"amount": 0.5, "currency": "EUR"}
    for currency in ("eur", "EURO", "€", ""):
        wrongly = wrong(partial(Turn.usage, used=1, size=2, cost=1, currency=currency))
        assert await told(version, wrongly, "usage_update") == []


@pytest.mark.req("v1u-prompt-01", "v2u-prompt-01", "v2-prompt-15")
async def test_usage_at_the_end_of_a_turn(version: int) -> None:
    async def go(turn: Turn) -> None:
        turn.tokens = Usage(total_tokens=30, input_tokens=10, output_tokens=20, thought_tokens=5)

    async def plain(turn: Turn) -> None:
        await turn.say("x")

    talk = await Talk.begin(Scripted(go=go, plain=plain), version)
    session = await talk.new()
    ended = await talk.turn(session, "go")
    assert ended.usage == {"totalTokens": 30, "inputTokens": 10, "outputTokens": 20, "thoughtTokens": 5}
    assert (await talk.turn(session, "plain")).usage is None
    states = [update for update in talk.updates() if update["sessionUpdate"] == "state_update"]
    assert [("stopReason" in state) for state in states] == [state["state"] == "idle" for state in states]


@pytest.mark.req("all-updates-05")
async def test_the_name_and_the_date_of_a_session(version: int) -> None:
    moment = datetime(2024, 5, 6, 7, 8, 9, 120_000, timezone(timedelta(hours=2)))

    async def tell(turn: Turn) -> None:
        await turn.set_title("Named")
        await turn.set_updated_at(moment)
        assert (turn.session.title, turn.session.updated_at) == ("Named", moment)
        await turn.set_title(None)

    updates = await told(version, tell, "session_info_update")
    kind = {"sessionUpdate": "session_info_update"}
    assert updates == [
        {**kind, "title": "Named"},
        {**kind, "updatedAt": "2024-05-06T05:08:09.120Z"},
        {**kind, "title": None},
    ]
    naive = moment.replace(tzinfo=None)
    assert await told(version, wrong(lambda turn: turn.set_updated_at(naive)), "session_info_update") == []
    assert moment < datetime.now(UTC)


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-commands-01", "all-commands-05", "all-updates-02")
async def test_commands_may_come_at_once_in_a_turn_and_between(version: int) -> None:
    class Commanding(Scripted):
        async def new_session(self, session: Session) -> None:
            session.state = session
            await session.commands([command("early", "Comes first")])

    async def go(turn: Turn) -> None:
        await turn.commands([command("go", "Goes", "where to"), command("stay", "Stays")])

    agent = Commanding(go=go)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    await talk.request("session/update")
    assert talk.kinds()[-2:] == ["answer", "available_commands_update"]
    assert talk.updates()[-1]["availableCommands"] == [{"name": "early", "description": "Comes first"}]
    await talk.turn(session, "go")
    (update,) = [update for update in talk.updates() if update["sessionUpdate"] == "available_commands_update"]
    hint = {"hint": "where to"} if version == 1 else {"type": "text", "hint": "where to"}
    assert update["availableCommands"][0] == {"name": "go", "description": "Goes", "input": hint}
    await talk.connection.sessions[session].commands([])
    assert (await talk.request("session/update"))["params"]["update"]["availableCommands"] == []


@pytest.mark.parametrize("name", ["", "/go", "two words", "tab\t", "line\n"])
def test_a_command_is_one_word(name: str) -> None:
    with pytest.raises(ValueError, match="one word"):
        command(name, "x")


# --- options ----------------------------------------------------------------------------------------------------------


class Optional(Scripted):
    """Has an option of each kind; a change of the mode turns the switch off."""

    def __init__(self, **scripts: Any) -> None:
        super().__init__(**scripts)
        self.values: dict[str, Any] = {"mode": "ask", "model": "small", "fast": True}

    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        def values(*names: str) -> list[SessionConfigSelectOption]:
            return [SessionConfigSelectOption(value=name, name=name.title()) for name in names]

        groups = [
            SessionConfigSelectGroup(group_id="a", name="A", options=values("small")),
            SessionConfigSelectGroup(group_id="b", name="B", options=values("large", "huge")),
        ]
        category = SessionConfigOptionCategory
        return [
            SelectConfigOption(
                config_id="mode",
                name="Mode",
                category=category.MODE,
                current_value=self.values["mode"],
                options=values("ask", "code"),
            ),
            SelectConfigOption(config_id="model", name="Model", current_value=self.values["model"], options=groups),
            BooleanConfigOption(
                config_id="fast", name="Fast", category=category("_speed"), current_value=self.values["fast"]
            ),
        ]

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        self.values[config_id] = value
        if config_id == "mode":
            self.values["fast"] = False


def setting(version: int, session: str, option: str, value: Any) -> dict[str, Any]:
    kind = "boolean" if isinstance(value, bool) else "id"
    tagged = {"type": kind} if version == 2 or kind == "boolean" else {}
    return {"sessionId": session, "configId": option, "value": value, **tagged}


SWITCHES: dict[str, Any] = {"session": {"configOptions": {"boolean": {}}}}


@pytest.mark.req(
    *("all-config-03", "v2-config-03", "v1-modes-02", "v1-modes-08", "v2-session-02", "all-config-02", "all-config-09")
)
async def test_options_of_each_kind_as_a_new_session_tells_them(version: int) -> None:
    talk = await Talk.begin(Optional(), version, offering=SWITCHES if version == 1 else None)
    result = (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["result"]
    mode, model, fast = result["configOptions"]
    id, group = ("id", "group") if version == 1 else ("configId", "groupId")
    assert (mode[id], mode["category"], mode["currentValue"]) == ("mode", "mode", "ask")
    assert [(each[group], len(each["options"])) for each in model["options"]] == [("a", 1), ("b", 2)]
    assert (fast["type"], fast["currentValue"], "options" in fast) == ("boolean", True, False)
    if version == 2:
        assert "modes" not in result
    else:
        assert result["modes"]["currentModeId"] == "ask"
        assert [each["id"] for each in result["modes"]["availableModes"]] == ["ask", "code"]


@pytest.mark.req("v1-config-02")
async def test_a_client_of_version_1_that_shows_no_switches_gets_none() -> None:
    talk = await Talk.begin(Optional(), 1)
    result = (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["result"]
    assert [option["id"] for option in result["configOptions"]] == ["mode", "model"]


@pytest.mark.req("all-config-12", "all-config-13", "all-config-14")
async def test_setting_options_of_each_kind(version: int) -> None:
    agent = Optional()
    talk = await Talk.begin(agent, version, offering=SWITCHES if version == 1 else None)
    session = await talk.new()
    for option, value in (("model", "huge"), ("mode", "code"), ("fast", True)):
        answer = await talk.ask("session/set_config_option", setting(version, session, option, value))
        name = "id" if version == 1 else "configId"
        assert {each[name]: each["currentValue"] for each in answer["result"]["configOptions"]} == agent.values
        assert agent.values[option] == value
    before = dict(agent.values)
    for option, value in (("model", "a"), ("mode", "huge"), ("fast", "true"), ("mode", True), ("nope", "x")):
        error = (await talk.ask("session/set_config_option", setting(version, session, option, value)))["error"]
        assert error["code"] == -32602
    assert agent.values == before


@pytest.mark.req("all-config-15", "v1-modes-08")
async def test_field_bugs_122_124_what_the_agent_changes_by_itself_is_told_whole(version: int) -> None:
    async def go(turn: Turn) -> None:
        agent.values["mode"] = "code"
        await turn.update_config_options()

    agent = Optional(go=go)
    talk = await Talk.begin(agent, version, offering=SWITCHES if version == 1 else None)
    await talk.turn(await talk.new(), "go")
    (update,) = [update for update in talk.updates() if update["sessionUpdate"] == "config_option_update"]
    assert [option["currentValue"] for option in update["configOptions"]] == ["code", "small", True]
    modes = [update["currentModeId"] for update in talk.updates() if update["sessionUpdate"] == "current_mode_update"]
    assert modes == (["code"] if version == 1 else [])


async def test_field_bug_124_setting_a_mode_of_version_1_is_setting_the_option() -> None:
    agent = Optional()
    talk = await Talk.begin(agent, 1, offering=SWITCHES)
    session = await talk.new()
    assert (await talk.ask("session/set_mode", {"sessionId": session, "modeId": "code"}))["result"] == {}
    assert (agent.values["mode"], agent.values["fast"]) == ("code", False)
    assert "config_option_update" in talk.kinds()
    assert (await talk.ask("session/set_mode", {"sessionId": session, "modeId": "huge"}))["error"]["code"] == -32602


# --- display terminals ------------------------------------------------------------------------------------------------


async def shell(turn: Turn) -> None:
    async with turn.tool_call("Run") as call:
        terminal = await call.terminal("ls", turn.session.cwd)
        await terminal.write("ü".encode()[:1])
        await terminal.write("ü\n".encode()[1:])
        await terminal.replace(b"anew\n")
        await terminal.write(b"\xff")
        await terminal.exited(None, "SIGTERM")
        again = await call.terminal("ls", turn.session.cwd)
        assert again.id != terminal.id


@pytest.mark.req("v2-terminal-02", "v2-tools-05")
async def test_a_display_terminal_is_told_as_bytes() -> None:
    chunks = await told(2, shell, "terminal_output_chunk")
    assert [b64decode(chunk["data"]) for chunk in chunks] == [b"\xc3", b"\xbc\n", b"\xff"]
    opened, replaced, ended, again = await told(2, shell, "terminal_update")
    assert (opened["command"], opened["cwd"]) == ("ls", "/tmp")
    assert b64decode(replaced["output"]["data"]) == b"anew\n"
    assert ended["exitStatus"] == {"exitCode": None, "signal": "SIGTERM"}
    assert again["terminalId"] != opened["terminalId"]
    contents = [chunk["content"] for chunk in await told(2, shell, "tool_call_content_chunk")]
    assert [content["type"] for content in contents] == ["terminal", "terminal"]


async def test_a_display_terminal_reaches_version_1_as_its_text() -> None:
    updates = await told(1, shell, "tool_call_update")
    last = [update["content"] for update in updates if "content" in update][-1]
    assert all(item["type"] == "content" for item in last)
    assert "anew" in str(last) and "ü" not in str(last)


# --- tool calls -------------------------------------------------------------------------------------------------------


async def working(turn: Turn) -> None:
    async with turn.tool_call("Look", name="look", raw_input={"at": "a"}) as call:
        await call.content(TextBlock(text="one"))
        await call.content(ImageBlock(data="aGk=", mime_type="image/png"))
        await call.diff("/tmp/a", "old\n", "new\n")
        await call.update(title="Looked")
        await call.update(status=ToolCallStatus("_paused"))


@pytest.mark.req("v1-tools-05", "v1-tools-09", "v1u-tools-01", "all-content-08")
async def test_a_tool_call_on_version_1() -> None:
    first, *rest = [*await told(1, working, "tool_call"), *await told(1, working, "tool_call_update")]
    assert (first["title"], first["name"], first["status"]) == ("Look", "look", "pending")
    assert not [update for update in rest if update.get("name", "look") != "look"]
    assert [update["title"] for update in rest if "title" in update] == ["Looked"]
    assert not [update for update in rest if {"title", "status"} <= update.keys()]
    items = [item for update in rest for item in update.get("content", [])]
    assert {item["type"] for item in items} == {"content", "diff"}
    assert {"type": "content", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}} in items
    statuses = [update["status"] for update in rest if "status" in update]
    assert statuses == ["in_progress", "in_progress", "completed"]


@pytest.mark.req("v2-tools-05", "v2-tools-08", "v2-tools-12", "all-content-08")
async def test_a_tool_call_on_version_2() -> None:
    chunks = await told(2, working, "tool_call_content_chunk")
    assert [chunk["content"]["type"] for chunk in chunks] == ["content", "content", "diff"]
    assert all(isinstance(chunk["toolCallId"], str) for chunk in chunks)
    diff = chunks[2]["content"]
    (change,) = diff["changes"]
    assert (change["path"], diff["patch"]["format"]) == ("/tmp/a", "git_patch")
    touched = [line for line in diff["patch"]["text"].splitlines() if line.startswith(("--- ", "+++ "))]
    assert touched == ["--- /tmp/a", "+++ /tmp/a"]
    updates = await told(2, working, "tool_call_update")
    assert [update["status"] for update in updates if "status" in update][-2:] == ["_paused", "completed"]
