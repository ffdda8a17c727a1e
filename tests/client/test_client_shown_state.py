"""What updates of tool calls, plans, options and terminals make of a session as the client holds it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import pytest
from client_kit import Host, begun
from client_shown_kit import ENTRY, Json, call, item, piece, plan, shown, steps, tell, told
from msgspec import UNSET

from duologue.protocol.method import Side
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.version import V1, V2
from wire import PATIENCE

# --- tool calls -------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-tools-02", "v2-tools-07")
async def test_a_new_call_that_says_no_more_is_one_that_has_not_begun(version: int) -> None:
    host, run, request = await begun(version)
    minimal = call("tool_call", title="t") if version == 1 else call()
    state = (await tell(host, minimal)).tool_calls["c"]
    assert (state.kind, state.status, state.content, state.ended) == (UNSET, UNSET, [], False)
    # It is open, as a pending one is: a cancel covers it.
    await run.turn.cancel()
    assert (state.status, state.ended) == ("cancelled", True)
    host.end(request, "cancelled")
    await run.end()


@pytest.mark.req("v2-tools-04")
@pytest.mark.parametrize("empty", [None, []])
async def test_the_lists_of_a_call_are_replaced_whole(empty: Any) -> None:
    host = await Host.begin(2)
    place = [{"path": "/a"}, {"path": "/b"}]
    seen = []
    for content, locations in (([item("A"), item("B")], place), ([item("C")], place[1:]), (empty, empty)):
        state = (await tell(host, call(content=content, locations=locations))).tool_calls["c"]
        seen.append((shown(state), [each.path for each in state.locations or ()]))
    assert seen == [(["A", "B"], ["/a", "/b"]), (["C"], ["/b"]), ([], [])]


@pytest.mark.req("v2-tools-06")
async def test_what_is_appended_to_a_call_stays_until_it_is_replaced() -> None:
    transcript = await told(2, call(title="t"), piece("A"), piece("B"), call(status="in_progress"))
    assert shown(transcript.tool_calls["c"]) == ["A", "B"]
    transcript = await told(2, call(title="t"), piece("A"), piece("B"), call(content=[item("C")]), piece("D"))
    assert shown(transcript.tool_calls["c"]) == ["C", "D"]


@pytest.mark.req("v2-tools-18")
async def test_a_call_may_be_told_while_the_session_is_idle() -> None:
    host = await Host.begin(2)
    await tell(host, host.state("idle", stopReason="end_turn")["params"]["update"])
    transcript = await tell(host, call(title="Late", status="in_progress"), call(status="completed"), piece("out"))
    assert transcript.state == "idle"
    assert (transcript.tool_calls["c"].status, shown(transcript.tool_calls["c"])) == ("completed", ["out"])


@pytest.mark.req("v2u-tools-01")
async def test_the_name_of_a_tool_is_patched() -> None:
    host = await Host.begin(2)
    seen = [(await tell(host, update)).tool_calls["c"].name for update in (call(name="grep"), call(), call(name=None))]
    assert seen == ["grep", "grep", None]


# --- plans, options, commands, the title ------------------------------------------------------------------------------


@pytest.mark.req("v1-plan-04")
async def test_a_plan_of_version_1_replaces_the_one_before() -> None:
    three = [{**ENTRY, "content": name} for name in ("one", "two", "three")]
    transcript = await told(1, plan(1, three), plan(1, [{**ENTRY, "content": "last"}]))
    assert list(steps(transcript).values()) == [["last"]]
    assert list(steps(await told(1, plan(1, three), plan(1, []))).values()) in ([], [[]])


@pytest.mark.req("v2-plan-03")
async def test_a_plan_of_version_2_replaces_the_one_of_its_id() -> None:
    other = {**ENTRY, "content": "two"}
    transcript = await told(2, plan(2, [ENTRY, other], "a"), plan(2, [ENTRY], "b"), plan(2, [other], "a"))
    assert steps(transcript) == {"a": ["two"], "b": ["one"]}


@pytest.mark.req("v2u-plan-01")
async def test_plans_of_other_forms_come_and_go() -> None:
    forms = [
        {"type": "markdown", "planId": "m", "content": "# x"},
        {"type": "file", "planId": "f", "uri": "file:///p"},
    ]
    removed = {"sessionUpdate": "plan_removed", "planId": "m"}
    transcript = await told(2, *({"sessionUpdate": "plan_update", "plan": form} for form in forms), removed)
    assert list(transcript.plans) == ["f"]


def option(id: str, *values: str, **more: Any) -> Json:
    offered = [{"value": value, "name": value.upper()} for value in values]
    made = {"id": id, "configId": id, "name": id, "type": "select"}
    return {**made, "currentValue": values[0], "options": offered, **more}


def options(*held: Json) -> Json:
    return {"sessionUpdate": "config_option_update", "configOptions": list(held)}


@pytest.mark.req("all-config-06", "all-config-16")
async def test_field_bug_123_options_are_those_of_the_last_list_in_its_order(version: int) -> None:
    host = await Host.begin(version)
    z, a, m = option("z", "1", category="model"), option("a", "1", category="model"), option("m", "ask", "auto")
    assert [held.config_id for held in (await tell(host, options(z, a, m))).config_options] == ["z", "a", "m"]  # type: ignore[union-attr]
    (left,) = (await tell(host, options(option("m", "ask")))).config_options
    assert [value.value for value in left.options] == ["ask"]  # type: ignore[union-attr]


@pytest.mark.req("all-config-11", "v2-config-02")
async def test_an_option_of_an_unknown_type_leaves_the_others_usable(version: int) -> None:
    host = await Host.begin(version)
    slider = {**option("s", "1"), "type": "slider"}
    switch = {"id": "b", "configId": "b", "name": "b", "type": "boolean", "currentValue": False}
    await tell(host, options(option("a", "1", "2"), slider, switch))
    values: list[tuple[str, str | bool, str]] = [("a", "2", "id"), ("b", True, "boolean")]
    for name, value, kind in values:
        setting = asyncio.create_task(host.session.set_config_option(name, value))
        request = await host.wire.read_method("session/set_config_option")
        assert (request["params"]["configId"], request["params"]["value"]) == (name, value)
        if version == 2:
            assert request["params"]["type"] == kind
        host.answer(request, {"configOptions": [option("a", "2"), slider, switch]})
        await asyncio.wait_for(setting, PATIENCE)


@pytest.mark.req("v2-plan-05")
async def test_words_of_a_plan_that_are_not_known_are_kept() -> None:
    odd = {"content": "one", "priority": "_urgent", "status": "_blocked"}
    kanban = {"sessionUpdate": "plan_update", "plan": {"type": "_kanban", "planId": "k", "columns": []}}
    transcript = await told(2, kanban, plan(2, [odd], "a"))
    kept = transcript.plans["a"]
    assert isinstance(kept, ItemsPlan)
    assert [(entry.priority, entry.status) for entry in kept.entries] == [("_urgent", "_blocked")]


@pytest.mark.req("v1-updates-04", "v2-updates-02")
async def test_chunks_are_joined_by_their_ids(version: int) -> None:
    def chunk(id: str, text: str) -> Json:
        return {"sessionUpdate": "agent_message_chunk", "messageId": id, "content": {"type": "text", "text": text}}

    host = await Host.begin(version)
    transcript = await tell(host, chunk("a", "one "), chunk("a", "one"), chunk("b", "two"))
    assert [(message.id, message.text) for message in transcript.messages] == [("a", "one one"), ("b", "two")]


async def test_field_bug_123_a_mode_that_is_gone_is_not_sent(version: int) -> None:
    host = await Host.begin(version)
    await tell(host, options(option("m", "ask", "auto", category="mode")))
    await tell(host, options(option("m", "ask", category="mode")))
    with pytest.raises(ValueError, match="auto"):
        await host.session.set_mode("auto")
    await host.wire.silence()


@pytest.mark.req("all-commands-02")
async def test_a_list_of_commands_replaces_the_one_before(version: int) -> None:
    def commands(*names: str) -> Json:
        listed = [{"name": name, "description": name} for name in names]
        return {"sessionUpdate": "available_commands_update", "availableCommands": listed}

    host = await Host.begin(version)
    seen = []
    for update in (commands("a", "b"), commands("b"), commands()):
        seen.append([command.name for command in (await tell(host, update)).commands])
    assert seen == [["a", "b"], ["b"], []]


@pytest.mark.req("all-updates-04")
async def test_what_is_told_of_a_session_changes_what_it_names(version: int) -> None:
    host = await Host.begin(version)
    seen = []
    for members in ({"title": "T"}, {"updatedAt": "2026-01-02T03:04:05Z"}, {"title": None}, {"updatedAt": None}):
        transcript = await tell(host, {"sessionUpdate": "session_info_update", **members})
        seen.append((transcript.title, transcript.updated_at))
    date = "2026-01-02T03:04:05Z"
    assert seen == [("T", None), ("T", date), (None, date), (None, None)]


# --- terminals of version 2 -------------------------------------------------------------------------------------------


def terminal(members: Json, id: str = "t") -> Json:
    return {"sessionUpdate": "terminal_update", "terminalId": id, **members}


def data(value: bytes) -> str:
    return b64encode(value).decode()


@pytest.mark.req("v2-terminal-03")
async def test_one_word_for_a_terminal_and_a_call_links_nothing() -> None:
    out = {"sessionUpdate": "terminal_output_chunk", "terminalId": "c", "data": data(b"out")}
    transcript = await told(2, call(title="t", content=[item("mine")]), terminal({"command": "make"}, "c"), out)
    state, shell = transcript.tool_calls["c"], transcript.terminals["c"]
    assert shown(state) == ["mine"] and len(state.content) == 1
    assert (shell.command, shell.output) == ("make", b"out")


@pytest.mark.req("v2-terminal-05", "v2-terminal-12")
@pytest.mark.parametrize(
    ("member", "wire", "kept", "cleared"),
    [
        ("command", "make", "make", None),
        ("cwd", "/w", "/w", None),
        ("output", {"data": data(b"out")}, b"out", b""),
        ("exit_status", {"exitCode": 0}, 0, None),
        ("exit_status", {}, UNSET, None),
    ],
)
async def test_each_member_of_a_terminal_is_patched(member: str, wire: Any, kept: Any, cleared: Any) -> None:
    host = await Host.begin(2)
    name = "exitStatus" if member == "exit_status" else member
    seen = []
    for update in (terminal({name: wire}), terminal({}), terminal({name: None})):
        value = getattr((await tell(host, update)).terminals["t"], member)
        seen.append(value.exit_code if hasattr(value, "exit_code") else value)
    assert seen == [kept, kept, cleared]


@pytest.mark.req("v2-terminal-10")
async def test_each_piece_of_output_is_decoded_by_itself() -> None:
    pieces = [b"a", b"bc", b"", "✓".encode()[:1], "✓".encode()[1:]]
    assert all(data(piece).endswith("=") for piece in pieces[:2])
    chunks = [{"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data(piece)} for piece in pieces]
    shell = (await told(2, *chunks)).terminals["t"]
    assert (shell.output, shell.text) == (b"".join(pieces), "abc✓")


@pytest.mark.req("v2-terminal-13")
async def test_the_end_of_a_terminal_is_not_the_end_of_its_call() -> None:
    host = await Host.begin(2)
    link = [{"type": "terminal", "terminalId": "t"}]
    transcript = await tell(
        host,
        terminal({"command": "make"}),
        call(status="in_progress", content=link),
        terminal({"exitStatus": {"exitCode": 1}}),
    )
    assert transcript.tool_calls["c"].status == "in_progress"
    assert transcript.terminals["t"].exit_status is not None
    transcript = await tell(host, terminal({"exitStatus": None}), call(status="completed"))
    assert transcript.tool_calls["c"].status == "completed"
    assert transcript.terminals["t"].exit_status is None


@pytest.mark.req("v2-terminal-14")
def test_a_client_has_no_method_that_acts_on_a_terminal_of_the_agent() -> None:
    for version in (V1, V2):
        assert not [key for key in version.methods if key.name.startswith("terminal/") and key.receiver is Side.AGENT]
