"""What is raised for input that no rule can save, and what its text says."""

import json
import pickle
import sys
from typing import Any

import msgspec
import pytest
from codec_samples import Everything, Needs, Node, Text

from duologue.codec import CodecError, DoesNotFit, NotJson, TooDeep, convert, decode

SECRET = "sk-very-secret"


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"   ", b"{", b'{"id":"a"', b'{"id":"a"} x', b"{'id':1}", b'{"id":NaN}', b'{"count":Infinity}', b"\xff"),
        *(b'{"id":"\xff"}', b'{"id":"\xed\xa0\x80"}', b'\xef\xbb\xbf{"id":"a"}', b'{"id":"a\nb"}', b'{"id":"\\x"}'),
        *(
            b'{"id":1',
            b'{"note":1,"id":"\xff"}',
            b'{"id":1,"x":"\xff"}',
            b'{"id":"\\ud800"',
            b'{"id":01}',
            b'{"id":"a",}',
        ),
    ],
)
def test_what_is_not_json(text: bytes) -> None:
    with pytest.raises(NotJson) as caught:
        decode(Everything, text)
    assert caught.value.path == "$"
    assert caught.value.reason


@pytest.mark.parametrize("text", [b"42", b"[]", b'"x"', b"true"])
def test_json_of_another_kind(text: bytes) -> None:
    with pytest.raises(DoesNotFit, match=r"^\$: expected object, found \w+$"):
        decode(Everything, text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"id":"a","price":1e400}', "$.price"),
        (b'{"id":"a","anything":-1e999}', "$.anything"),
        (b'{"id":"a","count":' + b"9" * 5000 + b"}", "$.count"),
        (b'{"id":3,"x":1e400}', "$"),
        (b'{"id":"a","blocks":[{"type":"text","text":1e400}]}', "$.blocks[0].text"),
    ],
)
def test_a_number_that_no_float_and_no_integer_can_hold(text: bytes, path: str) -> None:
    with pytest.raises(DoesNotFit, match="number") as caught:
        decode(Everything, text)
    assert caught.value.path == path


def test_a_number_out_of_range_in_a_member_that_nobody_reads_does_no_harm() -> None:
    assert decode(Everything, b'{"id":"a","future":1e400}').id == "a"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("member", ["anything", "future", "id"])
def test_deep_nesting_is_an_error_of_its_own(opening: str, member: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    # Python 3.14 goes as deep as the stack is large.
    depth = 1_000_000
    text = f'{{"id":"a","{member}":{opening * depth}1{closing * depth}}}'.encode()
    with pytest.raises(TooDeep):
        decode(Everything, text)


def test_deep_nesting_of_a_type_that_holds_itself() -> None:
    depth = sys.getrecursionlimit() // 4
    text = b'{"name":"a","children":[' * depth + b'{"name":4},{"name":"b"}' + b"]}" * depth
    try:
        tree = decode(Node, text)
    except TooDeep:
        return
    while tree.children:
        tree = tree.children[0]
    assert tree.name == "b"


def test_parsed_json_that_holds_itself_is_too_deep() -> None:
    loop: dict[str, Any] = {"name": "a"}
    loop["children"] = [loop]
    with pytest.raises(TooDeep):
        convert(Node, loop)


def test_where_a_text_stands_in_its_message() -> None:
    with pytest.raises(DoesNotFit) as caught:
        decode(Everything, b'{"id":"a","block":{"type":"text"}}', at="$.params")
    assert caught.value.path == "$.params.block.text"
    with pytest.raises(NotJson) as broken:
        decode(Everything, b"{", at="$.params")
    assert broken.value.path == "$.params"
    with pytest.raises(DoesNotFit) as range_error:
        decode(Everything, b'{"id":"a","price":1e400}', at="$.params")
    assert range_error.value.path == "$.params.price"


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("plain-key", "$.table.plain-key"),
        ("a b", '$.table["a b"]'),
        ("", '$.table[""]'),
        ("\x1b[31m\n", '$.table["\\u001b[31m\\n"]'),
        ("k" * 500, "$.table[" + json.dumps("k" * 60 + "…") + "]"),
    ],
)
def test_names_that_the_peer_chose_cannot_spoil_a_path(key: str, path: str) -> None:
    with pytest.raises(DoesNotFit) as caught:
        decode(Everything, json.dumps({"id": "a", "table": {key: 5}}).encode())
    assert caught.value.path == path


@pytest.mark.parametrize(
    "wire",
    [
        {"id": "a", "strict": [SECRET]},
        {"id": {"k": SECRET}},
        {"id": "a", "count": SECRET},
        {"id": "a", "closed": {"type": SECRET}},
        {"id": "a", "block": {"type": "state", "phase": [SECRET]}},
        {"id": "a", "some": [SECRET]},
    ],
)
def test_no_error_says_a_value(wire: dict[str, Any]) -> None:
    with pytest.raises(CodecError) as caught:
        decode(Everything, json.dumps(wire).encode())
    error: BaseException | None = caught.value
    while error:
        assert SECRET not in str(error)
        # What msgspec says may quote the value, so a traceback must not show it either.
        assert not isinstance(error, msgspec.MsgspecError)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_no_report_says_a_value() -> None:
    losses: list[object] = []
    decode(
        Everything,
        json.dumps({"id": "a", "note": [SECRET], "colour": {"a": SECRET}, "blocks": [SECRET]}).encode(),
        losses.append,
    )
    assert len(losses) == 3
    assert SECRET not in str([str(loss) for loss in losses])


def test_errors_are_value_errors_that_can_be_pickled() -> None:
    error: CodecError = pickle.loads(pickle.dumps(DoesNotFit("$.a", "expected string")))
    assert issubclass(CodecError, ValueError)
    assert (error.path, error.reason, str(error)) == ("$.a", "expected string", "$.a: expected string")


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, msgspec.Raw])
def test_any_buffer_will_do(wrap: Any) -> None:
    assert decode(Text, wrap(b'{"type":"text","text":"x"}')) == Text(text="x")
    assert decode(Needs, wrap(b'{"things":[4]}')).things == []
    assert decode(Text, wrap(b'{"type":"text","text":"\\ud800"}')) == Text(text="\ufffd")
    with pytest.raises(NotJson):
        decode(Text, wrap(b'{"type":"text"'))
