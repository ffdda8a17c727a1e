"""Numbers, texts and names: what is taken as it is, what is mended, and what is refused."""

import json
import subprocess
import sys
from typing import Any, assert_type

import pytest
from codec_samples import Everything, Text
from msgspec import UNSET

from duologue.codec import CodecError, DoesNotFit, Dropped, convert, decode, decoder_for, encode


def count(number: str) -> Any:
    return decode(Everything, f'{{"id":"a","count":{number}}}'.encode()).count


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1", 1),
        ("1.0", 1),
        ("-2e2", -200),
        ("-0.0", 0),
        ("9223372036854775807", 2**63 - 1),
        ("9007199254740991.0", 2**53 - 1),
    ],
)
def test_integers(number: str, value: int) -> None:
    assert count(number) == value
    assert type(count(number)) is int


@pytest.mark.parametrize(
    "number", ["1.5", "1e300", '"2"', "true", "null1", "9223372036854775808", "9007199254740992.0", "[1]"]
)
def test_what_is_no_integer(number: str) -> None:
    with pytest.raises(CodecError):
        count(number)


def test_a_bound_of_64_bits_without_sign() -> None:
    largest = 2**64 - 1
    assert decode(Everything, f'{{"id":"a","big":{largest}}}'.encode()).big == largest
    assert decode(Everything, f'{{"id":"a","big":{largest},"note":1}}'.encode()).big == largest
    assert encode(Everything(id="a", big=largest, table={})).count(str(largest).encode()) == 1


def test_huge_integers_in_free_members_keep_each_digit() -> None:
    number = "9" * 40
    value = decode(Everything, f'{{"id":"a","anything":{number},"note":1}}'.encode())
    assert f'"anything":{number}'.encode() in encode(value)


def test_a_boolean_is_no_number_and_a_number_no_boolean() -> None:
    with pytest.raises(DoesNotFit, match="expected number, found boolean"):
        decode(Everything, b'{"id":"a","price":true}')
    assert decode(Everything, b'{"id":"a","on":1}').on is UNSET


def test_the_last_of_two_members_with_one_name_counts() -> None:
    assert decode(Everything, b'{"id":"a","id":"b"}').id == "b"
    assert decode(Everything, b'{"id":"a","note":"x","note":5}').note is UNSET
    assert decode(Everything, b'{"id":7,"id":"b"}').id == "b"


# --- Halves of pairs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"a\ud800b", "a�b"),
        (r"\ud800", "�"),
        (r"\uDfFf", "�"),
        (r"\udc00\ud800", "��"),
        (r"\ud800\ud800", "��"),
        (r"\ud800\u0041", "�A"),
        (r"\ud83c\udf78 \ud83c", "🍸 �"),
        (r"\ud800\ud83c\udf78", "�🍸"),
        (r"\ud83c\udf78\udf78", "🍸�"),
        (r"\\ud800 \ud800", "\\ud800 �"),
        (r"\\\ud800", "\\�"),
        (r"\\\\ud800\n\"\ud800", '\\\\ud800\n"�'),
        (r"\ud800\\udc00", "�\\udc00"),
    ],
)
def test_halves_are_replaced_and_pairs_and_backslashes_are_not(escaped: str, text: str) -> None:
    told: list[Dropped] = []
    value = decode(Text, f'{{"type":"text","text":"{escaped}"}}'.encode(), told.append)
    assert value == Text(text=text)
    assert [loss.path for loss in told] == ["$"]
    assert encode(value).decode("utf-8")


def test_halves_are_mended_beside_other_damage() -> None:
    told: list[Dropped] = []
    value = decode(Everything, rb'{"id":"a","note":5,"anything":"\udbff"}', told.append)
    assert (value.note, value.anything) == (UNSET, "�")
    assert [loss.path for loss in told] == ["$", "$.note"]


def test_halves_in_names_and_in_what_is_ignored() -> None:
    assert decode(Everything, rb'{"id":"a","anything":{"\ud800":1}}').anything == {"�": 1}
    assert decode(Everything, rb'{"id":"a","future":"\ud800"}') == Everything(id="a")


def test_escapes_of_whole_characters_are_left_alone() -> None:
    told: list[Dropped] = []
    text = decode(Text, rb'{"type":"text","text":"\ud83c\udf78 \u00e9 \\ud800"}', told.append).text
    assert text == "🍸 é \\ud800"
    assert told == []


def test_mending_is_linear() -> None:
    # Hundreds of thousands of escapes must not take a walk each over the rest of the text.
    body = rb"\\ud800\ud83c\udf78\n" * 100_000
    value = decode(Text, b'{"type":"text","text":"' + body + rb'\ud800"}')
    assert len(value.text) == 8 * 100_000 + 1


def test_any_text_comes_back_as_it_was() -> None:
    text = "".join(map(chr, [*range(0x300), 0x2028, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF]))
    wire = encode(Text(text=text))
    assert decode(Text, wire).text == text
    assert json.loads(wire)["text"] == text


# --- Decoders --------------------------------------------------------------------------------------------------------


def test_decoders_are_built_late_and_kept() -> None:
    assert decoder_for(Text) is decoder_for(Text)
    assert_type(decode(Text, b'{"type":"text","text":""}'), Text)
    assert_type(convert(Text, {"type": "text", "text": ""}), Text)
    code = """
import sys, duologue.codec as codec
from duologue.codec import reading
assert not reading.decoders
late = [name for name in sys.modules if name.startswith(("duologue.protocol.", "duologue.codec.s"))]
print(*sorted(late))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["duologue.codec.sending", "duologue.codec.surrogates", "duologue.protocol.base"]
