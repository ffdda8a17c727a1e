"""Ids, states and diffs as an agent sends them: what holds over a whole session and not for one message alone."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Turn


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


@pytest.mark.req("v2-tools-10", "v2-tools-14", "v2-tools-15")
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
    for diff in diffs:
        assert diff.keys() <= {"type", "changes", "patch", "_meta"}
        assert diff["patch"]["format"] == "git_patch"
        lines = diff["patch"]["text"].splitlines()
        assert lines[0].startswith("diff --git ")
        assert not [line for line in lines if line.startswith(("From", "Date", "Subject", "commit", "Author"))]
