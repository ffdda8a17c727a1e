"""Questions about text that is not parsed, compared with the slow and obvious answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.jsonrpc import scan

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('[]{},"\\x é', max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[]{},"\\x', max_size=4), inner, max_size=4),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(depth_of, value.values() if isinstance(value, dict) else value), default=0)


def values_in(value: Any) -> int:
    """What arrays and objects hold; an empty one counts for one more."""
    if not isinstance(value, list | dict):
        return 0
    items = list(value.values()) if isinstance(value, dict) else value
    return max(len(items), 1) + sum(map(values_in, items))


@pytest.fixture(params=[4, 5, 7, 64 * 1024], autouse=True, scope="module")
def piece(request: pytest.FixtureRequest) -> Any:
    """Scan in pieces of several sizes, so that cuts fall into escapes and strings."""
    whole, scan.PIECE = scan.PIECE, request.param
    yield
    scan.PIECE = whole


@given(JSON, st.booleans())
def test_depth(value: Any, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped).encode()
    depth = depth_of(value)
    for limit in {1, 2, depth, depth + 1, max(1, depth - 1)} - {0}:
        assert scan.deeper_than(text, limit) == (depth > limit)


@given(st.lists(JSON, max_size=8))
def test_members(array: list[Any]) -> None:
    text = json.dumps(array).encode()
    for limit in range(1, 10):
        assert scan.more_members_than(text, limit) == (len(array) > limit)


@given(JSON)
def test_values(value: Any) -> None:
    text = json.dumps(value).encode()
    for limit in range(1, 30):
        assert scan.more_values_than(text, limit) == (values_in(value) > limit)


@given(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_utf8(text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError:
        assert not scan.is_utf8(text)
    else:
        assert scan.is_utf8(text)


UNITS = st.sampled_from(["\\\\", "\\ud83c", "\\udf78", "\\uD800", "\\uDFff", "x", "\\n", '\\"', "\\u0041", "ud800"])


@given(st.lists(UNITS, max_size=12).map("".join))
def test_lone_surrogates(units: str) -> None:
    text = f'"{units}"'.encode()
    repaired = scan.repair_surrogates(text)
    # The reference joins pairs and leaves lone halves, which are then replaced one by one.
    expected = "".join("�" if "\ud800" <= unit <= "\udfff" else unit for unit in json.loads(text))
    assert json.loads(repaired) == expected
    assert len(repaired) == len(text)


def test_a_deep_text_of_many_pieces_is_scanned() -> None:
    text = b'{"a":"' + b"[" * 100_000 + b'","b":' + b"[" * 400 + b"]" * 400 + b"}"
    assert scan.deeper_than(text, 400)
    assert not scan.deeper_than(text, 401)


@pytest.mark.parametrize("line", [b"{", b' {"a', b"{}", b"[", b"[ {", b"[[", b"[]"])
def test_a_message_that_is_cut_short_looks_like_one(line: bytes) -> None:
    assert scan.looks_like_message(line)


@pytest.mark.parametrize("line", [b"[tool]", b"{tool}", b"[1/2]", b"x{", b"\x1b[32m", b""])
def test_a_log_line_does_not_look_like_a_message(line: bytes) -> None:
    assert not scan.looks_like_message(line)


HEADS: list[tuple[bytes, scan.Glance]] = [
    (b'{"id":7,"method":"m","params":{', scan.Glance(b"7", True, False)),
    (b'{"id":7,"result":', scan.Glance(b"7", False, True)),
    (b'{"id":7,"error"', scan.Glance(b"7", False, False)),
    (b'{ "id" : "a\\"b" , "params" : [', scan.Glance(b'"a\\"b"', True, False)),
    (b'{"x":{"id":1,"method":2},"y":[[]],"id":7,"result":"cut', scan.Glance(b"7", False, True)),
    (b'{"result":{"id":1},"id":7', scan.Glance(None, False, True)),
    (b'{"result":1,"id":"cu', scan.Glance(None, False, True)),
    (b'{"result":"id","error":{"method":1', scan.Glance(None, False, True)),
    (b'{"id":{},"method":"m",', scan.Glance(None, True, False)),
    (b'[{"id":7,"method":"m"},', scan.Glance(None, False, False)),
    (b'"id":7,"method":"m",', scan.Glance(None, False, False)),
    (b'{"a"', scan.Glance(None, False, False)),
    (b"{", scan.Glance(None, False, False)),
]


@pytest.mark.parametrize(("head", "expected"), HEADS)
def test_what_the_head_of_a_message_tells(head: bytes, expected: scan.Glance) -> None:
    assert scan.glance(head, b"") == expected


@pytest.mark.parametrize(
    ("tail", "id"),
    [
        (b'x","id":7}', b"7"),
        (b'}, "id" : "q" }\r\n', b'"q"'),
        (b'1,"id":null}', b"null"),
        (b'1,"id":-7}', b"-7"),
        (b'x","id":7}}', None),
        (b'x,\\"id\\":7}', None),
        (b'1,"id":7}]', None),
        (b'1,"id":1.5}', None),
    ],
)
def test_what_the_end_of_a_message_tells(tail: bytes, id: bytes | None) -> None:
    assert scan.glance(b'{"result":', tail) == scan.Glance(id, False, True)
