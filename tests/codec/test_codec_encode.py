"""The way out: three states of a member, what is unknown, and values that have no JSON form."""

import json
from typing import Any

import msgspec
import pytest
from codec_samples import Block, Colour, Everything, Needs, Node, Phase, Plain, State, Text
from msgspec import UNSET

from duologue.codec import CodecError, NotEncodable, TooDeep, decode, encode, encode_into
from duologue.protocol.base import Unknown


def test_absent_null_and_a_value_are_three_things() -> None:
    assert encode(Text(text="x")) == b'{"type":"text","text":"x"}'
    assert json.loads(encode(Text(text="x", hints=None))) == {"type": "text", "text": "x", "hints": None}
    assert json.loads(encode(Text(text="", meta={}))) == {"type": "text", "text": "", "_meta": {}}


def test_required_members_are_written_when_they_are_empty() -> None:
    assert json.loads(encode(Plain(command="", args=[]))) == {"command": "", "args": []}
    assert json.loads(encode(decode(Needs, b"{}"))) == {"things": [], "inner": {}}


def test_a_default_other_than_unset_is_written() -> None:
    assert json.loads(encode(Everything(id="a"))) == {"id": "a", "count": 0, "table": {}}


def test_enum_members_known_or_not_are_written_as_their_value() -> None:
    assert encode([Colour.RED, Colour("_x"), Phase.ON]) == b'["red","_x","on"]'
    assert encode({Colour("_k"): 1}) == b'{"_k":1}'


def test_an_unknown_variant_is_written_as_it_came() -> None:
    raw = {"type": "z", "a": [1, None]}
    assert encode(Unknown(raw)) == b'{"type":"z","a":[1,null]}'
    assert encode([Unknown({"in": [Unknown(raw)]})]) == b'[{"in":[{"type":"z","a":[1,null]}]}]'


def test_raw_json_is_passed_on_byte_for_byte() -> None:
    raw = b'{ "a": 1.0, "a": 1e400 }'
    assert encode(Everything(id="x", anything=msgspec.Raw(raw), table={})).count(raw) == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_without_a_json_form_are_null(number: float) -> None:
    assert encode([number]) == b"[null]"


HALF = "\ud800"


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (f"a{HALF}b", '"a�b"'),
        ("\ud83c\udf78", '"🍸"'),
        ("\udf78\ud83c", '"��"'),
        (Text(text=HALF, meta={HALF: [HALF]}), None),
        ([Colour(HALF)], '["�"]'),
        (Unknown({"type": HALF}), '{"type":"�"}'),
        ((HALF, 1, None, True, 1.5), '["�",1,null,true,1.5]'),
        ({"raw": msgspec.Raw(b"1.0"), "text": HALF}, '{"raw":1.0,"text":"�"}'),
        ([Phase.ON, HALF], '["on","�"]'),
    ],
)
def test_halves_of_surrogate_pairs_never_go_out(value: Any, wire: str | None) -> None:
    written = encode(value).decode("utf-8")
    if wire is None:
        assert json.loads(written) == {"type": "text", "text": "�", "_meta": {"�": ["�"]}}
    else:
        assert written == wire


def test_unset_members_stay_absent_when_a_text_is_mended() -> None:
    value = Everything(id=HALF, block=State(phase=Phase.ON), note=None, table={})
    assert json.loads(encode(value)) == {
        "id": "�",
        "count": 0,
        "note": None,
        "table": {},
        "block": {"type": "state", "phase": "on"},
    }
    assert value.id == HALF


@pytest.mark.parametrize("value", [object(), UNSET, [UNSET], {(1,): 2}, {"a": iter("ab")}, [HALF, object()], 1j])
def test_what_has_no_json_form(value: Any) -> None:
    with pytest.raises(NotEncodable) as caught:
        encode(value)
    assert caught.value.reason
    with pytest.raises(NotEncodable):
        encode_into(value, bytearray())


def loop() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


def deep() -> Node:
    node = Node(name="leaf")
    for _ in range(100_000):
        node = Node(name="n", children=[node])
    return node


@pytest.mark.parametrize("make", [loop, lambda: [HALF, loop()], deep])
def test_a_value_that_holds_itself_or_is_nested_too_deep(make: Any) -> None:
    value = make()
    with pytest.raises(TooDeep):
        encode(value)
    with pytest.raises(CodecError):
        encode_into(value, bytearray())
    while isinstance(value, Node):
        # Free the chain link by link: the interpreter frees nested values by recursion.
        value = value.children[0] if value.children else None


def test_writing_into_a_buffer_appends() -> None:
    buffer = bytearray(b"head ")
    encode_into(Text(text="x"), buffer)
    encode_into(Text(text=HALF), buffer)
    assert buffer.decode() == 'head {"type":"text","text":"x"}{"type":"text","text":"�"}'


def test_a_failed_write_leaves_the_buffer_as_it_was() -> None:
    buffer = bytearray(b"head")
    with pytest.raises(NotEncodable):
        encode_into(["x" * 5000, object()], buffer)
    assert buffer == b"head"


def test_decoded_blocks_go_out_as_they_came() -> None:
    wire = b'{"type":"state","_meta":{"b":1,"a":2},"phase":"off","reason":null}'
    assert decode(Block, encode(decode(Block, wire))) == decode(Block, wire)
    assert json.loads(encode(decode(Block, wire))) == json.loads(wire)
