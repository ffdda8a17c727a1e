"""Batch arrays: answers gathered in one array, whatever the order in which they are given."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from duologue.jsonrpc import Engine, Notification, Request


def batch(*members: Any) -> bytes:
    return json.dumps(members).encode() + b"\n"


def request(id: Any, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "m", **more}


NOTE = {"jsonrpc": "2.0", "method": "n"}


@pytest.mark.req("v2-jsonrpc-04", "v2-jsonrpc-01")
@pytest.mark.parametrize("order", list(itertools.permutations([1, "a", None])))
def test_answers_come_as_one_array_after_the_last(order: tuple[Any, ...]) -> None:
    engine = Engine(batches=True)
    engine.receive(batch(request(1), request("a"), request(None)))
    sent = [engine.response(id, b"%d" % at) if at else engine.error(id, 5, "no") for at, id in enumerate(order)]
    assert sent[:2] == [None, None]
    array = json.loads(sent[2] or b"")
    assert [answer["id"] for answer in array] == list(order)
    assert array[0]["error"] == {"code": 5, "message": "no"}
    assert array[2]["result"] == 2
    assert engine.take_replies() == b""


@pytest.mark.req("v2-jsonrpc-05", "v2-jsonrpc-07")
def test_invalid_members_are_answered_in_the_same_array() -> None:
    engine = Engine(batches=True)
    events = engine.receive(batch(1, request(7), NOTE, {}, NOTE))
    assert [type(event) for event in events if type(event) in (Request, Notification)] == [
        Request,
        Notification,
        Notification,
    ]
    assert engine.take_replies() == b""
    array = json.loads(engine.response(7, b"true") or b"")
    assert sorted((answer["id"], answer.get("error", {}).get("code")) for answer in array if answer["id"] is None) == [
        (None, -32600),
        (None, -32600),
    ]
    assert [answer for answer in array if answer["id"] == 7] == [{"jsonrpc": "2.0", "id": 7, "result": True}]


@pytest.mark.req("v2-jsonrpc-06")
def test_notifications_alone_are_answered_by_nothing() -> None:
    engine = Engine(batches=True)
    assert len(engine.receive(batch(NOTE, NOTE))) == 2
    assert engine.take_replies() == b""
    engine.receive(batch(request(1)))
    assert json.loads(engine.response(1, b"0") or b"") == [{"jsonrpc": "2.0", "id": 1, "result": 0}]


def test_an_id_twice_in_a_batch_is_refused_in_the_array() -> None:
    engine = Engine(batches=True)
    engine.receive(batch(request(1), request(1)))
    array = json.loads(engine.response(1, b"0") or b"")
    assert {("result" in answer, answer["id"]) for answer in array} == {(True, 1), (False, 1)}


@pytest.mark.req("v2-jsonrpc-07")
def test_bad_params_and_limits_inside_a_batch_stay_in_its_array() -> None:
    engine = Engine(batches=True)
    engine.receive(batch(request(1, params="x"), request("x" * 2000), {"id": 3, "method": "m"}))
    array = json.loads(engine.take_replies())
    assert [(answer["error"]["code"], answer["id"]) for answer in array] == [(-32602, 1), (-32600, None), (-32600, 3)]


def test_two_batches_and_single_requests_do_not_mix() -> None:
    engine = Engine(batches=True)
    engine.receive(batch(request(1), request(2)) + batch(request(3), request(4)))
    engine.receive(json.dumps(request(5)).encode() + b"\n")
    assert engine.response(3, b"0") is None
    assert engine.response(1, b"0") is None
    assert json.loads(engine.response(5, b"0") or b"")["id"] == 5
    assert [answer["id"] for answer in json.loads(engine.response(4, b"0") or b"")] == [3, 4]
    assert [answer["id"] for answer in json.loads(engine.response(2, b"0") or b"")] == [1, 2]


def test_batches_can_be_switched_while_one_is_open() -> None:
    engine = Engine()
    engine.receive(batch(request(1)))
    assert json.loads(engine.take_replies())["error"]["code"] == -32600
    engine.batches = True
    engine.receive(batch(request(1), request(2)))
    engine.batches = False
    assert engine.response(1, b"0") is None
    assert len(json.loads(engine.response(2, b"0") or b"")) == 2
    engine.receive(batch(request(1)))
    assert not engine.is_live(1)


def test_a_lone_surrogate_in_one_member_spoils_no_other() -> None:
    engine = Engine(batches=True)
    events = engine.receive(
        rb'[{"jsonrpc":"2.0","method":"n","params":{"a":"\ud800"}},{"jsonrpc":"2.0","method":"n"}]' + b"\n"
    )
    assert [type(event) for event in events] == [Notification, Notification]
    assert json.loads(bytes(events[0].params)) == {"a": "�"}
