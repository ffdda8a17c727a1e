"""Random messages, whole and damaged: each is read or refused by an error of the codec, and nothing else happens."""

import json
from typing import Any

import msgspec
import pytest
from codec_samples import Everything
from codec_strategies import damaged, fitting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duologue.codec import CodecError, Dropped, convert, decode, decoder_for, encode
from duologue.protocol.method import Request
from duologue.protocol.version import V1, V2

SETTINGS = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def wire_types() -> list[Any]:
    """The types of params and results of both versions, each once, under a method that names it."""
    names: dict[Any, str] = {}
    for version in (V1, V2):
        for method in version.methods.values():
            names.setdefault(method.params, f"{version.name}-{method.name}-params")
            if isinstance(method, Request):
                names.setdefault(method.result, f"{version.name}-{method.name}-result")
    return [pytest.param(wanted, id=name) for wanted, name in names.items()]


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def check_whole(wanted: Any, value: Any) -> None:
    """A message that fits is read by the strict pass, loses nothing, and goes out with the same members."""
    losses: list[Dropped] = []
    result = decode(wanted, text_of(value), losses.append)
    assert not losses
    assert result == decoder_for(wanted).decode(text_of(value)) == convert(wanted, value)
    assert decode(wanted, encode(result)) == result
    assert kept(value, json.loads(encode(result)))


def kept(before: Any, after: Any) -> bool:
    """Whether all that was there is there still; defaults may have been added."""
    match before, after:
        case dict(), dict():
            return all(key in after and kept(item, after[key]) for key, item in before.items())
        case list(), list():
            return len(before) == len(after) and all(map(kept, before, after))
        case _:
            return bool(before == after) and isinstance(before, bool) == isinstance(after, bool)


def check_damaged(wanted: Any, text: bytes) -> None:
    try:
        result = decode(wanted, text)
    except CodecError as error:
        assert error.path.startswith("$")
        assert error.reason
        return
    assert decode(wanted, encode(result)) == result
    assert convert(wanted, msgspec.json.decode(encode(result))) == result


@pytest.mark.parametrize("wanted", [pytest.param(Everything, id="samples"), *wire_types()])
@SETTINGS
@given(data=st.data())
def test_messages_whole_and_damaged(wanted: Any, data: st.DataObject) -> None:
    whole = fitting(wanted)
    check_whole(wanted, data.draw(whole))
    check_damaged(wanted, text_of(data.draw(damaged(whole))))


@settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_damaged_bytes(data: st.DataObject) -> None:
    text = bytearray(text_of(data.draw(fitting(Everything))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 2))
        text[place : place + length] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b"\\ud800", b"\\", b'"', b"{"])
        )
    check_damaged(Everything, bytes(text))
