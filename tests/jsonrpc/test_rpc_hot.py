"""The hot path changes the cost of a message and never its meaning."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from duologue.jsonrpc import Engine, Limits, Malformed, Notification, Request

PREFIX = b'{"jsonrpc":"2.0","method":"s/u",'


class Params(msgspec.Struct):
    text: str
    more: Any = None


class Update(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: str
    method: str
    params: Params


def hot_engine(limits: Limits = Limits()) -> Engine:  # noqa: B008
    engine = Engine(limits)
    engine.set_hot(PREFIX, msgspec.json.Decoder(Update).decode)
    return engine


def meaning(event: Any) -> Any:
    match event:
        case Update():
            return (event.method, {"text": event.params.text})
        case Notification(method, params):
            return (method, json.loads(bytes(params)) if params else None)
        case Request(id, method):
            return (id, method)
        case Malformed(code):
            return code
    raise AssertionError(event)


def test_a_line_with_the_prefix_becomes_the_value_itself() -> None:
    engine = hot_engine()
    events = engine.receive(PREFIX + b'"params":{"text":"x"}}\n' + PREFIX + b'"params":{"text":"y"}}\r\n')
    assert events == [Update("2.0", "s/u", Params("x")), Update("2.0", "s/u", Params("y"))]


SAME = [
    PREFIX + b'"params":{"text":"x"}}',
    PREFIX + b' "params" : {"text":"x"} } ',
    PREFIX + b'"params":{"text":"\\u0078"}}\r',
    b'{"jsonrpc": "2.0", "method": "s/u", "params": {"text": "x"}}',
    b'{"method":"s/u","params":{"text":"x"},"jsonrpc":"2.0"}',
    b' {"jsonrpc":"2.0","method":"s/u","params":{"text":"x"}}',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"s/u","params":{"text":"x"}}',
    b'{"jsonrpc":"2.0","method":"s\\/u","params":{"text":"x"}}',
    PREFIX + b'"params":{"text":"x"},"_meta":{}}',
]


@pytest.mark.parametrize("line", SAME)
def test_spelling_does_not_change_the_meaning(line: bytes) -> None:
    (event,) = hot_engine().receive(line + b"\n")
    assert meaning(event) == ("s/u", {"text": "x"})


HINTS_THAT_FAIL = [
    PREFIX + b'"params":{"text":"x"},"id":1}',
    PREFIX + b'"params":{"text":5}}',
    PREFIX + b'"params":{}}',
    PREFIX + b'"params":"x"}',
    PREFIX + b'"params":null}',
    PREFIX + b'"params":{"text":"x\xff"}}',
    PREFIX + b'"params":{"text":"\\ud800"}}',
    PREFIX + b'"params":{"text":"x"}',
    PREFIX + b'"params":{"text":"x"}}}',
    PREFIX + b'"params":{"text":NaN}}',
    PREFIX + b'"result":1,"params":{"text":"x"}}',
    PREFIX + b'"params":{"text":"x","more":' + b"[" * 300 + b"]" * 300 + b"}}",
    PREFIX,
]


@pytest.mark.parametrize("line", HINTS_THAT_FAIL)
def test_what_the_decoder_refuses_takes_the_general_path(line: bytes) -> None:
    hot, general = hot_engine(), Engine()
    assert [meaning(event) for event in hot.receive(line + b"\n")] == [
        meaning(event) for event in general.receive(line + b"\n")
    ]
    assert hot.take_replies() == general.take_replies()
    assert hot.live_count == general.live_count


@pytest.mark.parametrize("refusal", [None, ValueError("no"), RecursionError(), KeyError(1)])
def test_a_decoder_may_refuse_in_any_way(refusal: Exception | None) -> None:
    def decode(line: bytes) -> object:
        if refusal is not None:
            raise refusal
        return None

    engine = Engine()
    engine.set_hot(PREFIX, decode)
    (event,) = engine.receive(PREFIX + b'"params":{"text":"x"}}\n')
    assert meaning(event) == ("s/u", {"text": "x"})


def test_hot_and_general_events_stay_in_order() -> None:
    engine = hot_engine()
    lines = [PREFIX + b'"params":{"text":"%d"}}' % number for number in range(100)]
    lines[::3] = [line.replace(b'"method"', b' "method"') for line in lines[::3]]
    data = b"\n".join(lines)
    events = [event for at in range(0, len(data), 50) for event in engine.receive(data[at : at + 50])] + engine.end()
    assert [meaning(event)[1]["text"] for event in events] == [str(number) for number in range(100)]
    assert {type(event) for event in events} == {Update, Notification}


def test_the_limits_hold_on_the_hot_path() -> None:
    engine = hot_engine(Limits(message_bytes=100, depth=4))
    long = PREFIX + b'"params":{"text":"' + b"x" * 100 + b'"}}\n'
    deep = PREFIX + b'"params":{"text":"x","more":[[[]]]}}\n'
    flat = PREFIX + b'"params":{"text":"[[[[[[","more":[[]]}}\n'
    events = engine.receive(long + deep + flat)
    assert [type(event) for event in events] == [Malformed, Malformed, Update]


def test_an_empty_prefix_turns_the_hot_path_off() -> None:
    engine = hot_engine()
    engine.set_hot(b"", lambda line: line)
    assert [type(event) for event in engine.receive(SAME[0] + b"\n\n")] == [Notification]
