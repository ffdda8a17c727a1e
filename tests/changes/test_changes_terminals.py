"""Display terminals: by id in v2's sessions, in `_meta` or as text of v1's tool calls."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from changes_kit import Line, agent, call, client, idle, prompt, terminal, tool

from duologue.protocol.changes.memory import Bounds, ClientExtras

SHOWN = {"type": "terminal", "terminalId": "x"}


def output(data: bytes) -> Any:
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": base64.b64encode(data).decode()}


def snapshot(data: bytes) -> Any:
    return terminal(output={"data": base64.b64encode(data).decode()})


def told(name: str, **members: Any) -> Any:
    return {name: {"terminal_id": "x", **members}}


def texts_only() -> Line:
    line = agent()
    line.memory.client = ClientExtras(terminal_output=False)
    return line


def words(update: Any) -> str:
    (item,) = update["content"]
    return str(item["content"]["text"])


# --- Down, for clients that know the convention ----------------------------------------------------------------------


def test_a_terminal_is_told_through_the_meta_of_its_tool_call() -> None:
    line = agent()
    assert line.update_out(terminal(command="make", cwd="/w")) == []
    assert line.update_out(tool(title="Make", content=[SHOWN])) == [
        call(title="Make", content=[SHOWN], _meta=told("terminal_info", cwd="/w"))
    ]
    assert line.update_out(output(b"one\n")) == [tool(_meta=told("terminal_output", data="one\n"))]
    # As other readers have it: what is no base64 is left out, and not what is around it.
    folded = {**output(b""), "data": "dHdv\r\nCg=="}
    assert line.update_out(folded) == [tool(_meta=told("terminal_output", data="two\n"))]
    assert line.update_out(tool(status="in_progress")) == [tool(status="in_progress")]
    assert line.update_out(terminal(exitStatus={"exitCode": 3})) == [
        tool(_meta=told("terminal_exit", exit_code=3, signal=None))
    ]
    assert line.update_out(terminal(exitStatus={"exitCode": 3})) == []


@pytest.mark.req("v2-terminal-04")
def test_output_that_comes_before_the_tool_call_is_told_with_it() -> None:
    line = agent()
    line.update_out(output(b"early "))
    line.update_out(output(b"bird"))
    line.update_out(terminal(exitStatus={}))
    assert line.update_out(tool(title="T", content=[SHOWN], _meta={"k": 1})) == [
        call(title="T", content=[SHOWN], _meta={"k": 1, **told("terminal_info")}),
        tool(_meta=told("terminal_output", data="early bird")),
        tool(_meta=told("terminal_exit", exit_code=None, signal=None)),
    ]


@pytest.mark.req("v2-terminal-11")
def test_a_character_split_over_chunks_stays_whole() -> None:
    line = agent()
    line.update_out(tool(title="T", content=[SHOWN]))
    shown = [
        update["_meta"]["terminal_output"]["data"]
        for byte in "ä€𝄞".encode()
        for update in line.update_out(output(bytes([byte])))
    ]
    assert "".join(shown) == "ä€𝄞"


@pytest.mark.req("v2-terminal-09")
def test_a_snapshot_says_only_what_is_new_or_starts_the_terminal_again() -> None:
    line = agent()
    line.update_out(tool(title="T", content=[SHOWN]))
    line.update_out(output(b"abc"))
    assert line.update_out(snapshot(b"abcdef")) == [tool(_meta=told("terminal_output", data="def"))]
    assert line.update_out(snapshot(b"xyz")) == [tool(_meta=told("terminal_output", data="\x1bcxyz"))]
    assert line.update_out(terminal(output=None)) == [tool(_meta=told("terminal_output", data="\x1bc"))]


def test_output_that_nobody_shows_yet_is_bounded() -> None:
    line = agent()
    line.memory.bounds = Bounds(terminal_output=10)
    for number in range(100):
        line.update_out(output(b"%05d" % number))
    updates = line.update_out(tool(title="T", content=[SHOWN]))
    assert updates[1]["_meta"] == told("terminal_output", data="0009800099")


def test_output_of_a_terminal_whose_tool_call_is_forgotten_stays_bounded() -> None:
    line = agent()
    line.memory.bounds = Bounds(terminal_output=10, tool_calls=1)
    line.update_out(tool(title="T", content=[SHOWN]))
    line.update_out({"sessionUpdate": "tool_call_update", "toolCallId": "other", "title": "O"})
    for number in range(100):
        assert line.update_out(output(b"%05d" % number)) == []
    (known,) = line.memory.sessions["sess"].terminals.values()
    assert sum(map(len, known.untold)) <= 10


# --- Down, for other clients -----------------------------------------------------------------------------------------


@pytest.mark.req("v2-versioning-05")
def test_other_clients_get_the_output_as_text_of_the_tool_call() -> None:
    line = texts_only()
    line.update_out(terminal(command="make"))
    (first,) = line.update_out(tool(title="T", content=[SHOWN]))
    assert words(first) == "```\n$ make\n```"
    line.now += 1
    (grown,) = line.update_out(output(b"one\n"))
    assert words(grown) == "```\n$ make\none\n```"
    assert line.update_out(output(b"two\n")) == [], "at a bounded pace"
    (ended,) = line.update_out(terminal(exitStatus={"exitCode": 2}))
    assert words(ended) == "```\n$ make\none\ntwo\n[exit code 2]\n```"


def test_running_output_shows_its_end_and_ended_output_shows_all_that_is_kept() -> None:
    line = texts_only()
    line.memory.bounds = Bounds(terminal_tail=4, terminal_output=8)
    line.update_out(tool(title="T", content=[SHOWN]))
    line.update_out(output(b"0123456789"))
    line.now += 1
    (grown,) = line.update_out(output(b"ab"))
    assert words(grown) == "```\n[8 characters left out]\n89ab\n```"
    (ended,) = line.update_out(terminal(exitStatus={"signal": "SIGKILL"}))
    assert words(ended) == "```\n[4 characters left out]\n456789ab\n[ended by SIGKILL]\n```"


def test_a_flood_of_output_does_not_become_a_flood_of_updates() -> None:
    line = texts_only()
    line.update_out(tool(title="T", content=[SHOWN]))
    sent = 0
    for _ in range(2000):
        line.now += 0.001
        sent += len(line.update_out(output(b"x" * 200)))
    assert sent <= 20
    sizes = len(words(line.update_out(terminal(exitStatus={"exitCode": 0}))[0]))
    assert sizes > 400_000, "the whole at the end"


def test_text_that_waits_comes_before_the_end_of_the_turn() -> None:
    line = texts_only()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    line.update_out(tool(title="T", content=[SHOWN]))
    line.update_out(output(b"late"))
    late, answer = line.update_out(idle())
    assert words(late) == "```\nlate\n```"
    assert answer[0] == "answer"


def test_fences_in_the_output_do_not_end_the_block() -> None:
    line = texts_only()
    line.update_out(output(b"```\n"))
    (first,) = line.update_out(tool(title="T", content=[SHOWN]))
    assert words(first) == "````\n```\n````"


# --- Up --------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-versioning-05", "v2-terminal-08")
def test_the_convention_becomes_display_terminals() -> None:
    line = client()
    raw = {"command": "make", "cwd": "/w"}
    begun = call(title="Make", content=[SHOWN], rawInput=raw, _meta={"k": 1, **told("terminal_info", cwd="/w")})
    assert line.update_in(begun) == [
        terminal(command="make", cwd="/w"),
        tool(title="Make", content=[SHOWN], rawInput=raw, _meta={"k": 1}),
    ]
    assert line.update_in(tool(_meta=told("terminal_output_delta", data="err\n"))) == [output(b"err\n")]
    end = told("terminal_exit", exit_code=3, signal=None)
    assert line.update_in(tool(status="failed", _meta={**told("terminal_output", data="x"), **end})) == [
        tool(status="failed"),
        output(b"x"),
        terminal(exitStatus={"exitCode": 3}),
    ]


def test_a_terminal_that_only_a_tool_call_names_is_made_known_first() -> None:
    line = client()
    assert line.update_in(call(title="T", content=[SHOWN])) == [terminal(), tool(title="T", content=[SHOWN])]
    assert line.update_in(tool(content=[SHOWN])) == [tool(content=[SHOWN])]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"command": "ls", "args": ["-l", "a b"]}, {"command": "ls -l 'a b'"}),
        ({"command": "ls | wc", "cwd": "/w"}, {"command": "ls | wc", "cwd": "/w"}),
    ],
)
def test_a_terminal_that_the_client_made_is_a_display_terminal_too(said: Any, shown: Any) -> None:
    line = client()
    asked = {"sessionId": "sess", **said}
    assert line.ask_in("terminal/create", asked, "c") == [["ask", "terminal/create", asked]]
    answer, known = line.answer_out("c", {"terminalId": "x"})
    assert answer == ["answer", "c", {"terminalId": "x"}]
    assert known[2]["update"] == terminal(**shown)
    assert line.update_in(call(title="T", content=[SHOWN])) == [tool(title="T", content=[SHOWN])]


def test_terminals_go_down_and_up() -> None:
    line, back = agent(), client()
    said = [
        terminal(command="make", cwd="/w"),
        tool(title="Make", content=[SHOWN], rawInput={"command": "make"}),
        output(b"one\n"),
        terminal(exitStatus={"exitCode": 0}),
    ]
    heard = [again for one in said for down in line.update_out(one) for again in back.update_in(down)]
    assert heard == said


@pytest.mark.parametrize(
    "said",
    [told("terminal_info", cwd=3), told("terminal_output"), {"terminal_exit": 3}, told("terminal_exit", exit_code="x")],
)
def test_a_convention_used_wrongly_breaks_nothing(said: Any) -> None:
    line = client()
    line.update_in(call(title="T", _meta=said))
    assert line.update_in(tool(status="completed")) == [tool(status="completed")]
