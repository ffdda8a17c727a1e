"""Tool calls as their author holds them: they cannot be left open."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Turn, file_diff
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.v2.tools import ToolCallStatus


async def calls(version: int, script: Any) -> tuple[list[dict[str, Any]], Ended]:
    """The updates of one turn that runs a script, and how it ended."""
    talk = await Talk.begin(Scripted(go=script), version)
    ended = await talk.turn(await talk.new(), "go")
    return [update for update in talk.updates() if update["sessionUpdate"].startswith("tool_call")], ended


def statuses(updates: list[dict[str, Any]]) -> list[str]:
    return [update["status"] for update in updates if "status" in update]


async def test_leaving_a_tool_call_completes_it(version: int) -> None:
    async def go(turn: Turn) -> None:
        places: list[ToolCallLocation | Path] = [Path("/a"), ToolCallLocation(path="/b")]
        async with turn.tool_call("Read", kind=ToolKind.READ, locations=places) as call:
            await call.start()

    updates, ended = await calls(version, go)
    assert ended == Ended("end_turn")
    assert statuses(updates) == ["pending", "in_progress", "completed"]
    first = updates[0]
    assert (first["title"], first["kind"]) == ("Read", "read")
    assert [place["path"] for place in first["locations"]] == ["/a", "/b"]
    assert len({update["toolCallId"] for update in updates}) == 1


async def test_showing_something_begins_the_work(version: int) -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            await call.text("found")
            await call.raw_output({"lines": 1})

    updates, _ = await calls(version, go)
    assert statuses(updates) == ["pending", "in_progress", "completed"]
    assert "found" in str(updates)
    assert any(update.get("rawOutput") == {"lines": 1} for update in updates)


async def test_a_kind_and_a_status_may_be_plain_strings(version: int) -> None:
    async def go(turn: Turn) -> None:
        kind: Any = "edit"
        status: Any = "in_progress"
        async with turn.tool_call("Write", kind=kind) as call:
            await call.update(status=status, kind=kind)

    updates, ended = await calls(version, go)
    assert ended == Ended("end_turn")
    assert statuses(updates) == ["pending", "in_progress", "completed"]
    assert updates[0]["kind"] == "edit"


async def test_an_exception_fails_the_call_and_goes_on(version: int) -> None:
    caught: list[str] = []

    async def go(turn: Turn) -> None:
        try:
            async with turn.tool_call("Read"):
                raise FileNotFoundError("no such file: a")
        except FileNotFoundError as error:
            caught.append(str(error))

    updates, ended = await calls(version, go)
    assert ended == Ended("end_turn")
    assert statuses(updates)[-1] == "failed"
    assert "no such file: a" in str(updates)
    assert caught == ["no such file: a"]


async def test_a_call_that_was_ended_by_hand_stays_so(version: int) -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("one") as call:
            await call.fail("refused")
        async with turn.tool_call("two") as call:
            await call.cancel()

    updates, _ = await calls(version, go)
    cancelled = "failed" if version == 1 else "cancelled"
    assert statuses(updates) == ["pending", "failed", "pending", cancelled]


async def test_a_call_whose_turn_is_cancelled_is_cancelled(version: int) -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("one"):
            turn.cancel()
            await asyncio.sleep(60)

    updates, ended = await calls(version, go)
    assert ended == Ended("cancelled")
    assert statuses(updates)[-1] == ("failed" if version == 1 else "cancelled")


async def test_calls_side_by_side_end_each_for_itself(version: int) -> None:
    async def go(turn: Turn) -> None:
        async def one(name: str, fails: bool) -> None:
            async with turn.tool_call(name) as call:
                await call.start()
                await asyncio.sleep(0)
                if fails:
                    raise ValueError(name)

        await asyncio.gather(one("a", False), one("b", True), one("c", False), return_exceptions=True)

    updates, _ = await calls(version, go)
    titles = {update["toolCallId"]: update["title"] for update in updates if "title" in update}
    ends = {titles[update["toolCallId"]]: update["status"] for update in updates if "status" in update}
    assert ends == {"a": "completed", "b": "failed", "c": "completed"}


async def test_field_bug_105_a_failure_keeps_what_was_shown(version: int) -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("Edit") as call:
            await call.diff("/a.txt", "old\n", "new\n")
            await call.fail("disk full")

    updates, _ = await calls(version, go)
    shown = [update["content"] for update in updates if "content" in update]
    if version == 1:
        assert [item["type"] for item in shown[-1]] == ["diff", "content"]
        assert (shown[-1][0]["oldText"], shown[-1][0]["newText"]) == ("old\n", "new\n")
    else:
        assert [item["type"] for item in shown] == ["diff", "content"]
        assert "-old\n+new\n" in shown[0]["patch"]["text"]


async def test_field_bug_108_ids_differ_over_turns_and_over_runs() -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("one"):
            pass

    seen: list[str] = []
    for _ in range(2):
        talk = await Talk.begin(Scripted(go=go), 2)
        session = await talk.new()
        for _ in range(2):
            await talk.turn(session, "go")
            seen += {update["toolCallId"] for update in talk.updates() if "toolCallId" in update}
    assert len(set(seen)) == 4


async def test_a_terminal_is_shown_inside_its_call(version: int) -> None:
    async def go(turn: Turn) -> None:
        async with turn.tool_call("Run", kind=ToolKind.EXECUTE) as call:
            terminal = await call.terminal("make", "/tmp")
            await terminal.write(b"built \xe2\x9c")
            await terminal.write(b"\x93\n")
            await terminal.exited(0)

    talk = await Talk.begin(Scripted(go=go), version)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")
    if version == 1:
        last = [update["content"] for update in talk.updates() if update.get("content")][-1]
        assert "built ✓" in str(last)
    else:
        kinds = [update["sessionUpdate"] for update in talk.updates()]
        assert kinds.count("terminal_output_chunk") == 2
        assert [update["exitStatus"]["exitCode"] for update in talk.updates() if "exitStatus" in update] == [0]


async def test_field_bug_102_what_is_known_is_told_with_the_announcement(version: int) -> None:
    async def go(turn: Turn) -> None:
        known: dict[str, Any] = {"kind": ToolKind.READ, "locations": [Path("/a")], "raw_input": {"path": "/a"}}
        async with turn.tool_call("Read a", **known):
            pass
        async with turn.tool_call("Read") as call:
            await call.update(status=ToolCallStatus.IN_PROGRESS, title="Read b", **known)

    updates, _ = await calls(version, go)
    told = {"kind": "read", "locations": [{"path": "/a"}], "rawInput": {"path": "/a"}}
    assert updates[0].items() >= {"title": "Read a", "status": "pending", **told}.items()
    begun = [update for update in updates if update.get("status") == "in_progress"]
    assert begun[-1].items() >= {"title": "Read b", **told}.items()


async def test_field_bug_107_paths_start_at_the_folder_of_the_session(version: int, tmp_path: Path) -> None:
    async def go(turn: Turn) -> None:
        places: list[ToolCallLocation | Path] = [Path("a"), ToolCallLocation(path="sub/b", line=3), Path("/c")]
        async with turn.tool_call("Edit", locations=places) as call:
            await call.diff("a", "old\n", "new\n")
            await call.terminal("make", "sub")
            await call.update(locations=[Path("d")])

    for cwd in (tmp_path / "one", tmp_path / "two"):
        cwd.mkdir()
        talk = await Talk.begin(Scripted(go=go), version)
        assert await talk.turn(await talk.new(cwd), "go") == Ended("end_turn")
        updates = talk.updates()
        placed = [[place["path"] for place in update["locations"]] for update in updates if "locations" in update]
        assert placed == [[f"{cwd}/a", f"{cwd}/sub/b", "/c"], [f"{cwd}/d"]]
        assert f'"path": "{cwd}/a"' in json.dumps([update.get("content") for update in updates])
        assert [update["cwd"] for update in updates if "cwd" in update] == ([f"{cwd}/sub"] if version == 2 else [])


def test_field_bug_107_a_diff_of_a_relative_path_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="absolute: 'a'"):
        file_diff("a", None, "x")


async def test_content_that_is_none_is_a_mistake_of_the_author(version: int) -> None:
    async def go(turn: Turn) -> None:
        wrong: Any = "hello"
        async with turn.tool_call("Say") as call:
            with pytest.raises(TypeError, match="ToolContent"):
                await call.add(wrong)
            with pytest.raises(TypeError, match="ToolContent"):
                await call.update(content=[wrong])

    _, ended = await calls(version, go)
    assert ended == Ended("end_turn")
