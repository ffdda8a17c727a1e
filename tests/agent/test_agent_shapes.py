"""Ids, states and diffs as an agent sends them: what holds over a whole session and not for one message alone."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Session, Turn, command, plan_entry
from duologue.protocol import v2


async def talkative(turn: Turn) -> None:
    await turn.think("a")
    await turn.think("b")
    await turn.say("c")
    await turn.say("d")
    async with turn.tool_call("Look"):
        pass
    await turn.say("e")
    await turn.think("f")
    turn.end_message()
    await turn.think("g")
    await turn.ask_permission("May I?")


async def told(version: int, turns: int) -> list[dict[str, Any]]:
    """The updates of a session of some turns, in which a question is answered."""
    talk = await Talk.begin(Scripted(go=talkative), version)
    session = await talk.new()
    updates: list[dict[str, Any]] = []
    for _ in range(turns):
        talk.seen.clear()
        id = talk.prompt(session, "go")
        question = await talk.request("session/request_permission")
        outcome = {"outcome": "selected", "optionId": question["params"]["options"][0]["optionId"]}
        talk.send({"id": question["id"], "result": {"outcome": outcome}})
        assert await talk.ended(id) == [Ended("end_turn")]
        updates += talk.updates()
    return updates


@pytest.mark.req("v2-updates-03")
async def test_the_parts_of_a_message_share_an_id_that_no_other_message_has(version: int) -> None:
    chunks = [update for update in await told(version, 2) if update["sessionUpdate"].startswith("agent_")]
    texts = [(update["messageId"], update["content"]["text"]) for update in chunks]
    messages = ["".join(text for _, text in parts) for _, parts in groupby(texts, key=lambda one: one[0])]
    assert messages == ["ab", "cd", "e", "f", "g"] * 2
    assert len({id for id, _ in texts}) == len(messages)


@pytest.mark.req("v2-updates-13")
async def test_what_a_state_tells_stands_beside_it() -> None:
    states = [update for update in await told(2, 1) if update["sessionUpdate"] == "state_update"]
    assert [update["state"] for update in states] == ["running", "requires_action", "running", "idle"]
    for update in states:
        assert update.keys() <= {"sessionUpdate", "state", "stopReason", "usage", "_meta"}
    assert states[-1]["stopReason"] == "end_turn"


@pytest.mark.req("v2-tools-10", "v2-tools-11", "v2-tools-13", "v2-tools-14", "v2-tools-15")
async def test_a_diff_of_version_2_has_its_changes_and_a_bare_patch() -> None:
    async def edit(turn: Turn) -> None:
        async with turn.tool_call("Edit") as call:
            await call.diff(Path("/w/a.txt"), "one\ntwo\n", "one\n2\n")
            await call.diff(Path("/w/new.txt"), None, "x\n")
            await call.diff(Path("/w/old.txt"), "x\n", None)

    talk = await Talk.begin(Scripted(edit=edit), 2)
    assert await talk.turn(await talk.new(), "edit") == Ended("end_turn")
    diffs: list[dict[str, Any]] = [
        update["content"] for update in talk.updates() if update["sessionUpdate"] == "tool_call_content_chunk"
    ]
    assert [diff["changes"][0]["operation"] for diff in diffs] == ["modify", "add", "delete"]
    assert [diff["changes"][0]["path"] for diff in diffs] == ["/w/a.txt", "/w/new.txt", "/w/old.txt"]
    assert [diff["patch"]["text"].split("\n")[0] for diff in diffs] == [
        f"diff --git {path} {path}" for path in ("/w/a.txt", "/w/new.txt", "/w/old.txt")
    ]
    for diff in diffs:
        assert diff.keys() <= {"type", "changes", "patch", "_meta"}
        assert diff["patch"]["format"] == "git_patch"
        lines = diff["patch"]["text"].splitlines()
        assert lines[0].startswith("diff --git ")
        assert not [line for line in lines if line.startswith(("From", "Date", "Subject", "commit", "Author"))]


class Speaker(Scripted):
    """Has a mode and a grouped option, and tells commands, a plan, a tool call and a terminal."""

    def __init__(self) -> None:
        super().__init__(go=self.go)

    def config_options(self, session: Session) -> list[v2.SessionConfigOption]:
        values = [v2.SessionConfigSelectOption(value=value, name=value) for value in ("ask", "code")]
        groups = [v2.SessionConfigSelectGroup(group_id="g", name="G", options=values)]
        mode = v2.SessionConfigOptionCategory.MODE
        return [
            v2.SelectConfigOption(config_id="m", name="M", current_value="ask", options=values, category=mode),
            v2.SelectConfigOption(config_id="x", name="X", current_value="code", options=groups),
        ]

    async def go(self, turn: Turn) -> None:
        await turn.commands([command("fix", "Fixes", "what"), command("stop", "Stops")])
        await turn.plan(["one", "two"])
        await turn.plan([plan_entry("one", "completed"), "two"])
        async with turn.tool_call("Run", kind=v2.ToolKind.EXECUTE) as call:
            terminal = await call.terminal("make")
            await terminal.write(b"\xff\x00\xfe?")
            await terminal.exited(0)


async def spoken(version: int) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """The answer to `session/new`, and the updates of a turn by kind."""
    offering: dict[str, Any] = {"_meta": {"terminal_output": True}} if version == 1 else {}
    talk = await Talk.begin(Speaker(), version, offering=offering)
    opened: dict[str, Any] = (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["result"]
    assert await talk.turn(opened["sessionId"], "go") == Ended("end_turn")
    kinds: dict[str, list[dict[str, Any]]] = {}
    for update in talk.updates():
        kinds.setdefault(update["sessionUpdate"], []).append(update)
    return opened, kinds


@pytest.mark.req("v2-config-01", "v2-modes-01", "all-config-01", "v2-session-02")
@pytest.mark.req("v2-commands-01", "v2-plan-01", "v2-plan-06", "v2-updates-11", "v2-terminal-08")
async def test_the_words_of_version_2() -> None:
    opened, told = await spoken(2)
    assert opened.keys() == {"sessionId", "configOptions"}
    flat, grouped = opened["configOptions"]
    assert (flat["configId"], flat["category"]) == ("m", "mode")
    assert all("value" in option for option in flat["options"])
    assert [(group["groupId"], len(group["options"])) for group in grouped["options"]] == [("g", 2)]
    (commands,) = told["available_commands_update"]
    assert [each.get("input") for each in commands["availableCommands"]] == [{"type": "text", "hint": "what"}, None]
    plans = [update["plan"] for update in told["plan_update"]]
    assert [(plan["type"], plan["planId"], len(plan["entries"])) for plan in plans] == [("items", "plan", 2)] * 2
    (output,) = told["terminal_output_chunk"]
    assert output["data"] == "/wD+Pw=="
    assert not told.keys() & {"tool_call", "plan", "current_mode_update"}


@pytest.mark.req("v1-config-01", "v1-modes-01", "all-config-01", "v1-commands-01")
@pytest.mark.req("v1-plan-01", "v1-plan-02", "v1-plan-03", "v1-tools-01", "v1-tools-03")
async def test_the_words_of_version_1() -> None:
    opened, told = await spoken(1)
    assert opened.keys() == {"sessionId", "configOptions", "modes"}
    flat, grouped = opened["configOptions"]
    assert (flat["id"], flat["name"], flat["type"], flat["currentValue"]) == ("m", "M", "select", "ask")
    assert [group["group"] for group in grouped["options"]] == ["g"]
    assert opened["modes"]["currentModeId"] == "ask"
    assert [(mode["id"], mode["name"]) for mode in opened["modes"]["availableModes"]] == [
        ("ask", "ask"),
        ("code", "code"),
    ]
    (commands,) = told["available_commands_update"]
    assert [each.get("input") for each in commands["availableCommands"]] == [{"hint": "what"}, None]
    assert [update.keys() for update in told["plan"]] == [{"sessionUpdate", "entries"}] * 2
    entries = [[(e["content"], e["priority"], e["status"]) for e in update["entries"]] for update in told["plan"]]
    assert entries == [
        [("one", "medium", "pending"), ("two", "medium", "pending")],
        [("one", "medium", "completed"), ("two", "medium", "pending")],
    ]
    (call,) = told["tool_call"]
    assert (call["title"], call["kind"], call["status"]) == ("Run", "execute", "pending")
    assert call["toolCallId"] == told["tool_call_update"][-1]["toolCallId"]
    assert told["tool_call_update"][-1]["status"] == "completed"
