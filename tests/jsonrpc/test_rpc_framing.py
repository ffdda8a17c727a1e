"""Chunks of any size give the same events, at a cost that is linear and a memory that is bounded."""

from __future__ import annotations

import json
import sys
import tracemalloc
from typing import Any

import pytest
from input_rows import ROWS

from duologue.jsonrpc import Engine, Limits, Malformed, Noise, Notification, OversizedResponse, Request
from duologue.jsonrpc.framing import Framer

KIB = 1024
MIB = 1024 * KIB


def note(text: str) -> bytes:
    body = {"jsonrpc": "2.0", "method": "m", "params": {"text": text}}
    return json.dumps(body, ensure_ascii=False).encode() + b"\n"


def texts(events: list[Any]) -> list[str]:
    """The texts of the notifications among the events; fails on anything else."""
    assert all(isinstance(event, Notification) for event in events), events
    return [json.loads(bytes(event.params))["text"] for event in events]


WORDS = ["", "a", "中文", "🍸 ok", "e\u0301", "日本語のテキスト", "line\nfeed\r\n", '\\" [{', "x" * 300]


@pytest.mark.req("all-framing-06", "all-framing-07")
def test_every_split_point_gives_the_same_text() -> None:
    data = b"".join(map(note, WORDS)) + b"\r\n" + note("end")
    for cut in range(len(data) + 1):
        engine = Engine()
        assert texts(engine.receive(data[:cut]) + engine.receive(data[cut:])) == [*WORDS, "end"]


@pytest.mark.req("all-framing-06")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_small_chunks_give_the_same_text(size: int) -> None:
    data = b"".join(map(note, WORDS))
    engine = Engine()
    events = [event for at in range(0, len(data), size) for event in engine.receive(data[at : at + size])]
    assert texts(events) == WORDS
    assert engine.end() == []


def test_every_split_of_every_documented_input_gives_the_same_events() -> None:
    def run(case: Any, *chunks: bytes) -> tuple[list[str], bytes]:
        engine = Engine(case.limits, batches=case.batches, answer_noise=case.answer_noise)
        events = [event for chunk in chunks for event in engine.receive(chunk)] + engine.end()
        return [type(event).__name__ for event in events], engine.take_replies()

    for case in (case for cases in ROWS.values() for case in cases if len(case.data) < 1000):
        whole = run(case, case.data)
        for cut in range(1, len(case.data)):
            assert run(case, case.data[:cut], case.data[cut:]) == whole, (case.data, cut)


@pytest.mark.req("all-framing-07")
def test_empty_chunks_mean_nothing() -> None:
    engine = Engine()
    line = note("x")
    assert engine.receive(b"") == []
    assert engine.receive(line[:9]) == [] and engine.receive(b"") == []
    assert texts(engine.receive(line[9:])) == ["x"]
    assert engine.receive(b"") == [] and engine.end() == []


@pytest.mark.parametrize("size", [65535, 65536, 65537, 200_000, 3 * MIB])
def test_field_bugs_1_3_lines_beyond_usual_buffers_are_delivered(size: int) -> None:
    engine = Engine()
    data = note("x" * size) + note("next")
    events = [event for at in range(0, len(data), 4096) for event in engine.receive(data[at : at + 4096])]
    assert texts(events) == ["x" * size, "next"]


@pytest.mark.parametrize("chunk", [KIB, 64 * KIB])
def test_field_bug_6_a_long_line_is_copied_twice_whatever_the_chunks(chunk: int) -> None:
    framer = Framer(128 * MIB)
    size = 16 * MIB
    piece = b"x" * chunk
    for _ in range(size // chunk):
        assert framer.feed(piece) == (None, [])
    skipped, lines = framer.feed(b"\n")
    assert skipped is None and [len(line) for line in lines] == [size + 1]
    # Once into the unfinished line and once out of it.
    assert framer.copied == 2 * size + 1


def test_a_long_message_is_held_at_most_twice() -> None:
    size = 16 * MIB
    engine = Engine()
    head, piece, tail = b'{"jsonrpc":"2.0","method":"m","params":{"text":"', b"x" * 64 * KIB, b'"}}\n'
    tracemalloc.start()
    try:
        engine.receive(head)
        for _ in range(size // len(piece)):
            engine.receive(piece)
        events = engine.receive(tail)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(bytes(events[0].params)) == size + len('{"text":""}')
    assert peak < 2.3 * size


def test_a_line_over_the_limit_is_not_kept() -> None:
    engine = Engine(Limits(message_bytes=64 * KIB))
    head, piece = b'{"jsonrpc":"2.0","id":4,"method":"m","params":{"text":"', b"x" * 16 * KIB
    tracemalloc.start()
    try:
        engine.receive(head)
        for _ in range(1000):
            assert engine.receive(piece) == []
        events = engine.receive(b'"}}\n' + note("next"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 512 * KIB
    assert isinstance(events[0], Malformed) and texts(events[1:]) == ["next"]
    reply = json.loads(engine.take_replies())
    assert reply["id"] == 4
    assert reply["error"]["data"] == {"limit": "message_bytes", "value": 64 * KIB}
    assert f"{len(head) + 1000 * len(piece) + 3} bytes" in reply["error"]["message"]


@pytest.mark.parametrize("chunk", [1, 10, 1 << 20])
@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_counts_a_line_without_its_line_feed(chunk: int, over: int) -> None:
    line = note("x" * 100)
    engine = Engine(Limits(message_bytes=len(line) - 1 - over))
    events = [event for at in range(0, len(line), chunk) for event in engine.receive(line[at : at + chunk])]
    assert [type(event) for event in events] == [Malformed if over else Notification]


@pytest.mark.parametrize("chunk", [1, 10, 1 << 20])
def test_the_id_of_an_unread_message_is_found_at_either_end(chunk: int) -> None:
    long = '{"a":[{"id":77,"method":"no"}],"b":"' + "x" * 6000 + '"}'
    lines = [
        f'{{"jsonrpc":"2.0","id":1,"result":{long}}}',
        f'{{"jsonrpc":"2.0","_meta":{{"id":5,"method":[{{}}]}},"id":2,"result":{long}}}',
        f'{{"result":{long},"jsonrpc":"2.0","id" : 3 }} ',
        f'{{"jsonrpc":"2.0","error":{long},"id":4}}',
        f'{{"id":5,"text":"\\"method\\":","result":{long}}}',
    ]
    engine = Engine(Limits(message_bytes=5000))
    for _ in lines:
        engine.request("m", None)
    data = "\n".join(lines).encode() + b"\n"
    events = [event for at in range(0, len(data), chunk) for event in engine.receive(data[at : at + chunk])]
    assert [event.id for event in events if isinstance(event, OversizedResponse)] == [1, 2, 3, 4, 5]
    assert "message_bytes=" in str(events[0].error)
    assert engine.pending_count == 0 and engine.take_replies() == b""


def test_an_id_inside_the_params_of_an_unread_message_is_not_taken() -> None:
    engine = Engine(Limits(message_bytes=5000))
    engine.receive(b'{"jsonrpc":"2.0","method":"m","params":{"id":7,"x":"' + b"x" * 6000 + b'","id":8}}\n')
    assert json.loads(engine.take_replies())["id"] is None


def test_field_bug_11_noise_is_counted_and_sampled() -> None:
    engine = Engine(answer_noise=False)
    events = engine.receive(b"a\n" + b"b" * 5000 + b"\n" + note("x") + b"\xff\xfe\n")
    assert [type(event) for event in events] == [Noise, Noise, Notification, Noise]
    assert engine.noise_count == 3
    assert events[1].sample == b"b" * 200
    assert engine.take_replies() == b""


@pytest.mark.parametrize("noise", [b"", b"\x1b[32m[tool] ok\x1b[0m", b"[tool] x", b"(1/3) done", b"\r"])
def test_field_bug_11_a_broken_message_is_told_apart_from_noise(noise: bytes) -> None:
    """What begins like a message and is none has an event and an answer of its own."""
    engine = Engine(answer_noise=False)
    events = engine.receive(noise + b'\n{"id":5,"resu\n' + note("x"))
    assert [type(event) for event in events if not isinstance(event, Noise)] == [Malformed, Notification]
    assert engine.noise_count == len([event for event in events if isinstance(event, Noise)]) <= 1
    assert json.loads(engine.take_replies())["error"]["code"] == -32700


def test_samples_have_no_line_end() -> None:
    engine = Engine()
    events = engine.receive(b'noise\r\n{"jsonrpc":"2.0","method":"m","params":1}\r\n')
    assert [event.sample for event in events] == [b"noise", b'{"jsonrpc":"2.0","method":"m","params":1}']


def test_many_brackets_are_still_noise() -> None:
    engine = Engine(answer_noise=False)
    assert [type(event) for event in engine.receive(b"x" + b"[" * 1000 + b"\n")] == [Noise]
    assert engine.take_replies() == b""


def test_an_event_is_the_only_owner_of_its_message() -> None:
    engine = Engine()
    events = engine.receive(note("x" * 2 * MIB))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        events = engine.receive(note("y" * 2 * MIB))
        held = tracemalloc.get_traced_memory()[0] - before
        del events
        assert held > 2 * MIB > tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_answers_to_rubbish_do_not_pile_up() -> None:
    engine = Engine(Limits(outbound_bytes=1000))
    for _ in range(100):
        engine.receive(b"x\n" * 100)
    assert 1000 <= len(engine.take_replies()) < 1200
    engine.receive(b"x\n")
    assert engine.take_replies().count(b"\n") == 1


def test_the_trace_sees_every_line() -> None:
    engine = Engine(Limits(message_bytes=100))
    seen: list[bytes] = []
    engine.trace = seen.append
    engine.set_hot(b'{"jsonrpc":"2.0","method":"m",', lambda line: line)
    engine.receive(note("x") + b"noise\r\n" + b"y" * 80)
    engine.receive(b"y" * 80)
    engine.receive(b"\nlast")
    engine.end()
    assert seen == [note("x")[:-1], b"noise\r", b"y" * 160, b"last"]


def test_a_deep_message_read_from_a_deep_stack_is_refused_and_not_raised() -> None:
    engine = Engine(Limits(depth=500))
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 499 + b"]" * 499 + b"}\n"

    def receive(frames: int) -> list[Any]:
        return receive(frames - 1) if frames else engine.receive(line)

    # Before Python 3.12 decoders share the stack of the interpreter, so that the line is too deep here and not there.
    (event,) = receive(600)
    assert isinstance(event, Malformed if sys.version_info < (3, 12) else Request)


def test_a_deep_line_at_the_limit_of_length_is_deep_and_not_long() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":[[[[]]]]}'
    engine = Engine(Limits(message_bytes=len(line), depth=3))
    engine.receive(line + b"\n")
    assert json.loads(engine.take_replies())["error"]["data"]["limit"] == "depth"
