"""Calls in, bytes out: the lines that are sent, and the ids that are open in each direction."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from duologue.jsonrpc import (
    INTERNAL_ERROR,
    Engine,
    ErrorResponse,
    LimitError,
    Limits,
    LocalProtocolError,
    Malformed,
    Request,
    Response,
    RpcError,
    UnexpectedResponse,
)


def open_request(engine: Engine, id: str, method: str = "m") -> None:
    """Let the peer open a request; `id` is JSON text."""
    events = engine.receive(f'{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}\n'.encode())
    assert [type(event) for event in events] == [Request]


@pytest.mark.req("all-jsonrpc-01", "all-framing-02")
def test_lines_have_the_members_in_a_fixed_order() -> None:
    engine = Engine()
    id, line = engine.request("a/b", b'{"x":1}')
    assert line == b'{"jsonrpc":"2.0","id":%d,"method":"a/b","params":{"x":1}}\n' % id
    assert engine.notification("n", b"[]") == b'{"jsonrpc":"2.0","method":"n","params":[]}\n'
    open_request(engine, "7")
    assert engine.response(7, b"null") == b'{"jsonrpc":"2.0","id":7,"result":null}\n'
    open_request(engine, "7")
    line = engine.error(7, -32601, 'no "x"', b'{"y":2}') or b""
    assert line == b'{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \\"x\\"","data":{"y":2}}}\n'


def test_params_can_be_left_out() -> None:
    engine = Engine()
    assert json.loads(engine.request("m", None)[1]).keys() == {"jsonrpc", "id", "method"}
    assert json.loads(engine.notification("m", None)).keys() == {"jsonrpc", "method"}


@pytest.mark.req("all-framing-02")
def test_ready_made_text_with_line_feeds_goes_on_one_line() -> None:
    engine = Engine()
    pretty = b'{\n  "a": "x\\ny",\r\n  "b": [\n1]\n}'
    open_request(engine, "1")
    open_request(engine, "2")
    lines = [
        engine.request("m", pretty)[1],
        engine.notification("m", pretty),
        engine.response(1, pretty),
        engine.error(2, 1, "two\nlines", pretty),
    ]
    for line in lines:
        assert line is not None
        assert line.count(b"\n") == 1
        assert '{"a": "x\\ny", "b": [1]}' in json.dumps(json.loads(line))


@pytest.mark.req("all-jsonrpc-11", "all-jsonrpc-14")
def test_own_ids_are_whole_numbers_and_never_come_twice() -> None:
    engine = Engine()
    ids = [engine.request("m", None)[0] for _ in range(50)]
    for id in ids[::2]:
        engine.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}\n' % id)
    ids += [engine.request("m", None)[0] for _ in range(50)]
    assert len(set(ids)) == 100
    assert all(type(id) is int and id > 0 for id in ids)


@pytest.mark.req("all-jsonrpc-20")
@pytest.mark.parametrize("method", ["rpc.discover", "rpc."])
def test_names_of_json_rpc_itself_are_refused(method: str) -> None:
    engine = Engine()
    with pytest.raises(LocalProtocolError, match=r"rpc\."):
        engine.request(method, None)
    with pytest.raises(LocalProtocolError):
        engine.notification(method, None)
    assert engine.pending_count == 0


def test_many_method_names_do_not_fill_the_memory() -> None:
    engine = Engine()
    for number in range(1000):
        assert json.loads(engine.notification(f"_x/{number}", None))["method"] == f"_x/{number}"
    assert len(engine._calls) < 1000


@pytest.mark.req("all-jsonrpc-02", "all-jsonrpc-12")
@pytest.mark.parametrize(
    "id",
    [
        "0",
        "-1",
        "7",
        '"7"',
        '"0"',
        '""',
        '"7b1e-uuid"',
        "9007199254740993",
        "18446744073709551616",
        "null",
        '"é"',
        '"\\""',
    ],
)
def test_an_id_comes_back_byte_for_byte(id: str) -> None:
    engine = Engine()
    open_request(engine, id)
    line = engine.response(json.loads(id), b"{}")
    assert line == f'{{"jsonrpc":"2.0","id":{id},"result":{{}}}}\n'.encode()


@pytest.mark.req("all-jsonrpc-02")
@pytest.mark.parametrize("id", ["0", '"x"', "null", "18446744073709551616"])
def test_an_error_answer_has_the_id_too(id: str) -> None:
    engine = Engine()
    open_request(engine, id)
    line = engine.error(json.loads(id), -32601, "Method not found")
    assert line is not None
    assert line.startswith(f'{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,'.encode())


@pytest.mark.req("all-jsonrpc-03")
def test_a_request_is_answered_once() -> None:
    engine = Engine()
    open_request(engine, "1")
    engine.response(1, b"{}")
    for id in (1, "1", None):
        with pytest.raises(LocalProtocolError, match="No request with id"):
            engine.response(id, b"{}")
        with pytest.raises(LocalProtocolError, match="No request with id"):
            engine.error(id, 1, "x")
    open_request(engine, "1")
    assert engine.response(1, b"{}")


@pytest.mark.req("all-framing-01")
def test_a_message_that_is_not_valid_unicode_is_sent_all_the_same() -> None:
    engine = Engine()
    open_request(engine, "1")
    line = engine.error(1, -32603, "no file caf\udce9 \U0001f378")
    assert json.loads((line or b"").decode("utf-8"))["error"]["message"] == "no file caf� 🍸"


def test_an_answer_that_cannot_be_written_leaves_the_request_open() -> None:
    engine = Engine()
    open_request(engine, "1")
    with pytest.raises((TypeError, AttributeError)):
        engine.response(1, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        engine.error(1, "x", "message")  # type: ignore[arg-type]
    assert engine.error(1, -32603, "Internal error")


def test_a_second_live_request_with_one_id_leaves_the_first_alone() -> None:
    engine = Engine()
    open_request(engine, "5", "first")
    (refused,) = engine.receive(b'{"jsonrpc":"2.0","id":5,"method":"second"}\n')
    assert isinstance(refused, Malformed)
    assert json.loads(engine.take_replies())["id"] == 5
    assert engine.is_live(5)
    assert engine.response(5, b"1") == b'{"jsonrpc":"2.0","id":5,"result":1}\n'
    assert not engine.is_live(5)


def test_ids_are_told_apart_by_type_and_direction() -> None:
    engine = Engine()
    own, _ = engine.request("mine", None)
    for id in ("1", '"1"', "null"):
        open_request(engine, id)
    assert (own, engine.pending_count, engine.live_count) == (1, 1, 3)
    engine.response("1", b"0")
    assert engine.is_live(1) and engine.is_live(None) and not engine.is_live("1")
    assert engine.is_pending(own)
    (response,) = engine.receive(b'{"jsonrpc":"2.0","id":1,"result":"x"}\n')
    assert isinstance(response, Response) and bytes(response.result) == b'"x"'
    assert not engine.is_pending(own) and engine.is_live(1)


def test_a_parse_error_touches_no_request() -> None:
    engine = Engine()
    own, _ = engine.request("m", None)
    engine.receive(b"{\n")
    assert json.loads(engine.take_replies())["id"] is None
    assert engine.is_pending(own)


@pytest.mark.req("all-jsonrpc-19")
def test_a_forgotten_request_is_answered_to_nobody() -> None:
    engine = Engine(Limits(pending_requests=1))
    own, _ = engine.request("m", None)
    engine.forget(own)
    engine.forget(own)
    engine.request("m", None)
    events = engine.receive(b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"late"}}\n' % own)
    match events:
        case [UnexpectedResponse(id, RpcError(code=1))]:
            assert id == own
        case _:
            pytest.fail(f"{events}")
    assert engine.take_replies() == b""


def test_too_many_own_requests_name_the_limit() -> None:
    engine = Engine(Limits(pending_requests=2))
    first, _ = engine.request("m", None)
    engine.request("m", None)
    with pytest.raises(LimitError, match=r"pending_requests is 2 .* Limits\(pending_requests=") as caught:
        engine.request("m", None)
    assert (caught.value.limit, caught.value.value) == ("pending_requests", 2)
    engine.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}\n' % first)
    engine.request("m", None)


def test_replies_are_given_once() -> None:
    engine = Engine()
    engine.receive(b"{}\n{}\n")
    assert engine.take_replies().count(b"\n") == 2
    assert engine.take_replies() == b""


def test_two_engines_do_not_argue() -> None:
    one, two = Engine(), Engine()
    one.receive(b'{}\n[]\nx\n{"id":1,"result":1}\n{"jsonrpc":"2.0","id":3}\n{"error":null}\n')
    rounds = 0
    sent = one.take_replies()
    while sent:
        one, two = two, one
        one.receive(sent)
        sent = one.take_replies()
        rounds += 1
    assert rounds == 1


ERRORS: list[tuple[str, tuple[Any, ...], str]] = [
    (
        '{"code":-32603,"message":"Internal error","data":{"details":"Session not found"}}',
        (-32603, "Internal error", {"details": "Session not found"}),
        'Internal error (-32603): {"details":"Session not found"}',
    ),
    ('{"code":1,"message":"m","data":"why"}', (1, "m", "why"), "m (1): why"),
    ('{"code":1,"message":"m","data":null}', (1, "m", None), "m (1): null"),
    ('{"code":1,"message":"m","data":[1,2]}', (1, "m", [1, 2]), "m (1): [1,2]"),
]


@pytest.mark.req("all-jsonrpc-09")
@pytest.mark.parametrize(("text", "kept", "shown"), ERRORS)
def test_an_error_keeps_code_message_and_data(text: str, kept: tuple[Any, ...], shown: str) -> None:
    engine = Engine()
    id, _ = engine.request("m", None)
    (event,) = engine.receive(f'{{"jsonrpc":"2.0","id":{id},"error":{text}}}\n'.encode())
    assert isinstance(event, ErrorResponse) and isinstance(event.error, RpcError)
    assert (event.error.code, event.error.message, event.error.data) == kept
    assert str(event.error) == shown


HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (f'{{"code":7,"message":"m","data":{HUGE}}}', 7, "m"),
        (f'{{"code":{HUGE},"message":"m"}}', INTERNAL_ERROR, "m"),
        (HUGE, INTERNAL_ERROR, "The peer answered with an error that is not an error object"),
        ('{"code":true,"message":""}', INTERNAL_ERROR, "The peer gave no error message"),
    ],
)
def test_an_error_that_cannot_be_held_whole_reaches_its_caller(text: str, code: int, message: str) -> None:
    engine = Engine()
    id, _ = engine.request("m", None)
    (event,) = engine.receive(f'{{"jsonrpc":"2.0","id":{id},"error":{text}}}\n'.encode())
    assert isinstance(event, ErrorResponse) and isinstance(event.error, RpcError)
    assert (event.error.code, event.error.message) == (code, message)
    assert event.error.data is UNSET


def test_the_text_of_an_error_is_bounded() -> None:
    assert str(RpcError(1, "m")) == "m (1)"
    assert len(str(RpcError(1, "m", "x" * 100_000))) < 1100
    assert "object" in str(RpcError(1, "m", object()))
