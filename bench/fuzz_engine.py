"""Throw generated input at the engine and count what it survived.

    python bench/fuzz_engine.py [inputs] [seed]

An input is a stream of broken and odd lines between well-formed ones. For each, whatever the chunks: nothing is raised,
the well-formed lines all arrive in order, chunks and the hot path change no event, what the engine says are valid
answers, and every request it reports can be answered once.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

import msgspec

from duologue.jsonrpc import Engine, Limits, Notification, Request

MARK = b'{"jsonrpc":"2.0","method":"mark","params":{"n":%d}}\n'
PREFIX = b'{"jsonrpc":"2.0","method":"mark",'

SEEDS = [
    b'{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":[1,{"y":"\\ud83c\\udf78 z"}]}}',
    b'{"jsonrpc":"2.0","id":"s","method":"a","params":null}',
    b'{"jsonrpc":"2.0","id":null,"method":"a"}',
    b'{"jsonrpc":"2.0","method":"a/b","params":[1.5e3,true,false,null,"\\\\\\""]}',
    b'{"jsonrpc":"2.0","id":1,"result":{"a":{}}}',
    b'{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"m","data":{"d":[]}}}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}',
    b'[{"jsonrpc":"2.0","id":8,"method":"a"},{"jsonrpc":"2.0","method":"a"},1,{}]',
    b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"a","params":{"t":"\xe4\xb8\xad\xe6\x96\x87"}}',
    b"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    b"[tool] log line",
    b"\x1b[32mok\x1b[0m",
    b"\xef\xbb\xbf{}",
    b"",
]
PARTS = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud800", b"\\udc00", b"\r", b"\0", b"\xff"),
    *(b"null", b"true", b"NaN", b"-", b"1e9", b"0", b'"id":', b'"method":"a"', b'"jsonrpc":"2.0"'),
    *(b'"result":1', b'"error":', b"\xe4\xb8"),
    *(b"[" * 30, b'{"a":' * 30, b"9" * 400, b"x" * 200, b" ", b"\xc3\xa9", b"\xed\xa0\x80", b'"params":{}', b'"id":1,'),
]  # fmt: skip
LIMITS = [
    Limits(),
    Limits(message_bytes=150, depth=6, id_bytes=30, batch_members=3, inbound_requests=3),
    Limits(message_bytes=60, depth=2, id_bytes=1, batch_members=1, inbound_requests=1, outbound_bytes=100),
]


class Params(msgspec.Struct):
    n: int


class Mark(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: str
    method: str
    params: Params


def odd_line(rng: random.Random) -> bytes:
    """A seed with a few changes, or parts put together at random."""
    if rng.random() < 0.15:
        return b"".join(rng.choices(PARTS, k=rng.randrange(12))).replace(b"\n", b"")
    line = bytearray(rng.choice(SEEDS))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(line) + 1)
        match rng.randrange(5):
            case 0:
                line[at:at] = rng.choice(PARTS)
            case 1:
                del line[at : at + rng.randrange(1, 9)]
            case 2:
                line[at : at + 1] = bytes([rng.randrange(256)])
            case 3:
                line[at:at] = line[: rng.randrange(len(line) + 1)]
            case _:
                other = rng.choice(SEEDS)
                line[at:] = other[rng.randrange(len(other) + 1) :]
    return bytes(line).replace(b"\n", b"")


def stream(rng: random.Random) -> tuple[bytes, int]:
    """Odd lines between marks; the bytes and the number of marks."""
    lines, marks = [], 0
    for _ in range(rng.randrange(1, 8)):
        if rng.random() < 0.3:
            lines.append(MARK % marks)
            marks += 1
        else:
            lines.append(odd_line(rng) + b"\n")
    data = b"".join(lines)
    return (data if rng.random() < 0.7 else data + odd_line(rng)), marks


def chunks(rng: random.Random, data: bytes) -> list[bytes]:
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(len(data) // 4 + 2)))
    return [data[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def run(pieces: list[bytes], engine: Engine, *, hot: bool) -> tuple[list[Any], bytes]:
    if hot:
        engine.set_hot(PREFIX, msgspec.json.Decoder(Mark).decode)
    engine.request("own", None)
    engine.request("own", None)
    events = [event for piece in pieces for event in engine.receive(piece)] + engine.end()
    return events, engine.take_replies()


def shown(event: Any) -> str:
    """An event as text, the same for a mark of either path."""
    match event:
        case Mark(params=params):
            return f"mark {params.n}"
        case Notification("mark", msgspec.Raw() as params):
            value = json.loads(bytes(params))
            return f"mark {value.get('n') if isinstance(value, dict) else value}"
        case Request(id, method):
            return f"{id!r} {method!r}"
    return type(event).__name__


def check_answers(sent: bytes) -> None:
    for line in sent.splitlines():
        answer = json.loads(line.decode("utf-8"))
        for one in answer if isinstance(answer, list) else [answer]:
            assert one.keys() == {"jsonrpc", "id", "error"} and one["jsonrpc"] == "2.0", line
    assert not sent or sent.endswith(b"\n")


def check(rng: random.Random) -> None:
    """One input. Raises `AssertionError`, or whatever the engine raises, when something is wrong."""
    data, marks = stream(rng)
    limits, batches, answer_noise = rng.choice(LIMITS), rng.random() < 0.5, rng.random() < 0.5
    engine, chunked = (Engine(limits, batches=batches, answer_noise=answer_noise) for _ in range(2))
    events, sent = run([data], engine, hot=False)
    texts = [shown(event) for event in events]
    other, other_sent = run(chunks(rng, data), chunked, hot=True)
    assert texts == [shown(event) for event in other], data
    assert sent == other_sent, data
    if limits.message_bytes >= len(MARK) and limits.depth > 2:
        assert [text for text in texts if text.startswith("mark")] == [f"mark {n}" for n in range(marks)], data
    check_answers(sent)
    for event in events:
        if isinstance(event, Request):
            engine.response(event.id, b"0")
    assert engine.live_count == 0, data


def main() -> None:
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    for count in range(inputs):
        check(rng)
        if (count + 1) % 50_000 == 0:
            print(f"{count + 1} inputs", flush=True)
    print(f"{inputs} inputs, each read twice: nothing raised, nothing lost")


if __name__ == "__main__":
    main()
