"""Peers that misbehave by name: what each does on the wire, and that our own ends live with it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from typing import Any, Literal

import pytest

from duologue import Agent, AgentFailed, ConnectionClosed, Limits, Turn, connect
from duologue.testing import (
    FAULTS,
    Answers,
    Call,
    Fault,
    Misbehaving,
    Prompt,
    Question,
    Reply,
    ScriptedAgent,
    ScriptedClient,
    Wire,
    connected,
    fault,
    settle,
)
from duologue.transports.base import Sink
from duologue.transports.memory import memory_pair

pytest_plugins = ["duologue.testing.fixtures"]

SCRIPT = (
    Prompt("buy milk"),
    Reply("Grüße 🙂"),
    Call("Edit"),
    Question("Edit"),
    Call("Edit", "completed"),
    Reply("."),
)
LIMITS = Limits(message_bytes=256 * 1024)
Version = Literal[1, 2]


# --- What our ends make of it ----------------------------------------------------------------------------------------


@pytest.mark.req("all-framing-06", "all-framing-07", "all-jsonrpc-18", "all-jsonrpc-19")
@pytest.mark.parametrize("side", ["agent", "client"])
async def test_a_conversation_goes_on_in_spite_of_a_survivable_fault(
    acp_fault: Fault, side: str, acp_version: Version
) -> None:
    client = ScriptedClient(*SCRIPT)
    options: dict[str, Any] = {f"{side}_fault": acp_fault, "limits": LIMITS, "protocol": acp_version}
    async with connected(ScriptedAgent(*SCRIPT), client, **options) as connection:
        await client.play(await connection.new_session("/"))


@pytest.mark.parametrize("name", ["early_close", "half_message"])
async def test_an_agent_that_ends_early_is_told(name: str, acp_version: Version) -> None:
    with pytest.raises(AgentFailed):
        async with connected(ScriptedAgent(), protocol=acp_version, agent_fault=fault(name, after=0)):
            pass
    with pytest.raises(ConnectionClosed):
        async with connected(ScriptedAgent(), protocol=acp_version, agent_fault=fault(name)) as connection:
            await connection.new_session("/")


@pytest.mark.parametrize("broken", [fault("silence", after=0), fault("deaf")], ids=["silence", "deaf"])
async def test_an_agent_that_says_nothing_is_given_up(broken: Fault) -> None:
    async with Wire() as wire:
        with pytest.raises(AgentFailed, match="silent for 0"):
            async with connect(lambda: Misbehaving(wire.far, broken), startup_seconds=0):
                pass


@pytest.mark.req("all-jsonrpc-15")
async def test_answers_that_come_in_reverse_reach_who_asked() -> None:
    async with connected(Echo(), agent_fault=fault("answers_out_of_order"), protocol=1) as connection:
        asked = [asyncio.create_task(connection.new_session(folder)) for folder in ("/", "/tmp", "/usr")]
        sessions = await asyncio.gather(*asked)
        assert [str(session.cwd) for session in sessions] == ["/", "/tmp", "/usr"]
        listed = await connection.list_sessions()
        told = {found.session_id: found.cwd for found in listed.sessions}
        assert told == {session.id: str(session.cwd) for session in sessions}


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)


# --- What a fault does -----------------------------------------------------------------------------------------------

ANSWER = {"jsonrpc": "2.0", "id": 7, "result": {"text": "ü"}}
NOTE = {"jsonrpc": "2.0", "method": "_note", "params": {}}


class Sent:
    """A transport that keeps each write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False
        self.reading = True

    async def start(self, sink: Sink) -> None: ...

    def write(self, data: bytes | bytearray) -> None:
        self.writes.append(bytes(data))

    def buffered(self) -> int:
        return 0

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    async def close(self) -> None:
        self.closed = True


def line(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


async def written(broken: Fault, *messages: Any, requests: Iterable[Any] = ()) -> Sent:
    """What leaves when a sound peer sends messages, after it got requests."""
    below = Sent()
    above = Misbehaving(below, broken)
    await above.start(Wire())
    for request in requests:
        above.data_received(line(request))
    for message in messages:
        above.write(line(message))
    await settle()
    return below


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("noise", 2),
        ("broken_json", 1),
        ("not_objects", 4),
        ("bad_utf8", 1),
        ("null_ids", 1),
        ("unknown_methods", 2),
        ("stray_updates", 2),
    ],
)
async def test_something_stands_before_each_message(name: str, extra: int) -> None:
    sent = await written(fault(name), NOTE, ANSWER)
    assert len(sent.writes) == 2 * (extra + 1)
    assert sent.writes[extra] == line(NOTE)
    assert sent.writes[-1] == line(ANSWER)


async def test_what_stands_before_is_what_the_name_says() -> None:
    def first(name: str) -> bytes:
        return FAULTS[name].lines[0]  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(ValueError, match="control character"):
        json.loads(first("broken_json"))
    with pytest.raises(UnicodeDecodeError):
        first("bad_utf8").decode()
    assert json.loads(first("null_ids"))["id"] is None
    assert json.loads(first("stray_updates"))["params"]["sessionId"] == "stray"


async def test_lines_are_cut_blank_huge_and_many() -> None:
    cut = await written(fault("partial_writes"), ANSWER)
    assert b"".join(cut.writes) == line(ANSWER)
    assert {len(write) for write in cut.writes} == {1}
    pieces = await written(fault("partial_writes", size=10), ANSWER)
    assert b"".join(pieces.writes) == line(ANSWER)
    assert {len(write) for write in pieces.writes[:-1]} == {10}
    blank = await written(fault("blank_lines"), ANSWER)
    assert b"".join(blank.writes) == b"\r\n\n" + line(ANSWER).rstrip() + b"\r\n"
    huge = await written(fault("huge_line", size=5000), ANSWER, NOTE)
    assert [len(write) for write in huge.writes] == [5001, len(line(ANSWER)), len(line(NOTE))]
    assert json.loads(huge.writes[0])["method"] == "_huge"
    flood = await written(fault("flood", count=3), ANSWER)
    assert [json.loads(each).get("method") for each in flood.writes[0].splitlines()] == ["_flood"] * 3 + [None]


async def test_answers_are_repeated_contradicted_and_misnamed() -> None:
    ids = [json.loads(each)["id"] for each in (await written(fault("wrong_ids"), ANSWER)).writes]
    assert ids == [999_999, "7", 7]
    assert (await written(fault("duplicate_answers"), ANSWER, NOTE)).writes == [line(ANSWER)] * 2 + [line(NOTE)]
    contradicted = await written(fault("contradicting_answers"), ANSWER)
    assert json.loads(contradicted.writes[1])["error"]["code"] == -32603
    unknown = json.loads((await written(fault("unknown_members"), ANSWER)).writes[0])
    assert unknown["result"].keys() == {"text", "_unknown"}


async def test_answers_come_in_reverse_when_all_are_there() -> None:
    requests = [{"jsonrpc": "2.0", "id": id, "method": "m"} for id in (1, 2, 3)]
    answers: list[Any] = [{"jsonrpc": "2.0", "id": id, "result": {}} for id in (1, 2, 3)]
    sent = await written(fault("answers_out_of_order"), NOTE, *answers, requests=requests)
    assert [json.loads(each).get("id") for each in sent.writes] == [None, 3, 2, 1]


async def test_a_peer_falls_silent_or_ends_after_so_many_messages() -> None:
    silent = await written(fault("silence", after=1), NOTE, ANSWER, ANSWER)
    assert (silent.writes, silent.closed) == ([line(NOTE)], False)
    early = await written(fault("early_close", after=1), NOTE, ANSWER, ANSWER)
    assert (early.writes, early.closed) == ([line(NOTE)], True)
    half = await written(fault("half_message", after=0), ANSWER, ANSWER)
    assert half.closed
    assert line(ANSWER).startswith(half.writes[0]) and half.writes[0] != line(ANSWER)
    assert len(half.writes) == 1


async def test_a_deaf_peer_never_reads() -> None:
    below = Sent()
    above = Misbehaving(below, fault("deaf"))
    await above.start(Wire())
    assert not below.reading
    above.resume_reading()
    assert not below.reading
    sound = Misbehaving(below, Fault())
    sound.resume_reading()
    assert below.reading


def test_a_fault_has_a_name_that_exists() -> None:
    with pytest.raises(LookupError, match="no fault 'nothing'; there are noise, broken_json"):
        fault("nothing")
    assert len(FAULTS) == 20
    assert all(each.__doc__ for each in FAULTS.values())


# --- As a program ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "noise", "partial_writes"])
async def test_the_program_echoes_over_standard_streams(name: str | None) -> None:
    command = [sys.executable, "-m", "duologue.testing", *([name] if name else [])]
    async with connect(command, Answers()) as agent:
        session = await agent.new_session("/")
        assert await session.prompt("Grüße 🙂").text() == "Grüße 🙂"


def test_a_fault_is_given_as_one() -> None:
    with pytest.raises(TypeError, match=r'give a fault, such as duologue.testing.fault\("noise"\), not .noise'):
        Misbehaving(memory_pair()[0], "noise")  # type: ignore[arg-type] # the mistake
