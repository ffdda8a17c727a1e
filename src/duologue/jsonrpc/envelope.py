"""The outermost object of a message: read strictly in one pass, and explained member by member when that fails."""

from __future__ import annotations

from struct import Struct
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.jsonrpc.messages import Id
from duologue.jsonrpc.scan import repair_text

#: Stands for a member that is not there; compared by identity.
ABSENT: Final = Raw(b"")


class Envelope(msgspec.Struct, gc=False):
    """A message whose own members have the right types. Params, result and error stay JSON text."""

    jsonrpc: Literal["2.0"]
    id: Id | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


class LooseEnvelope(msgspec.Struct, gc=False):
    """Any JSON object, seen as a message; members of no meaning cost no memory, however many there are."""

    jsonrpc: Raw = ABSENT
    id: Raw = ABSENT
    method: Raw = ABSENT
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


class _ErrorObject(msgspec.Struct, gc=False):
    code: int
    message: str
    data: Any = UNSET


class _LooseErrorObject(msgspec.Struct, gc=False):
    code: Raw = ABSENT
    message: Raw = ABSENT
    data: Raw = ABSENT


decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_loose = msgspec.json.Decoder(LooseEnvelope).decode
decode_members = msgspec.json.Decoder(list[Raw]).decode
check_syntax = msgspec.json.Decoder(Raw).decode
encode = msgspec.json.Encoder().encode

# What decoders raise; a number of thousands of digits is out of their range as well.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

# Half the cost of indexing a memoryview.
_unpack_byte = Struct("B").unpack_from

_decode_id = msgspec.json.Decoder(int | str | None).decode
_decode_string = msgspec.json.Decoder(str).decode
_decode_error = msgspec.json.Decoder(_ErrorObject).decode
_decode_loose_error = msgspec.json.Decoder(_LooseErrorObject).decode


def read_id(text: bytes | Raw) -> Id | UnsetType:
    """The id that a JSON text stands for; UNSET when it is not a string, a whole number or null."""
    try:
        id: Id = _decode_id(text)
    except UNREADABLE:
        return UNSET
    return id


def read_string(text: Raw) -> str | None:
    """The string that a JSON text stands for; None when it is no string."""
    try:
        return _decode_string(text)
    except UNREADABLE:
        return None


def read_error(text: Raw) -> RpcError:
    """The error object of an answer. What is missing or of a wrong type is filled in: the caller must hear of it."""
    try:
        exact = _decode_error(text)
        return RpcError(exact.code, exact.message, exact.data)
    except UNREADABLE:
        pass
    try:
        loose = _decode_loose_error(text)
    except UNREADABLE:
        return RpcError(INTERNAL_ERROR, "The peer answered with an error that is not an error object", _read_any(text))
    code = _read_any(loose.code)
    message = read_string(loose.message) or "The peer gave no error message"
    return RpcError(code if type(code) is int else INTERNAL_ERROR, message, _read_any(loose.data))


def _read_any(text: Raw) -> Any:
    """The value of a JSON text; UNSET when there is none, or none that can be held."""
    try:
        return UNSET if text is ABSENT else msgspec.json.decode(text)
    except UNREADABLE:
        return UNSET


def id_text(id: Id) -> bytes:
    """The JSON text of an id."""
    return b"%d" % id if type(id) is int else encode(id)


def id_is_longer_than(id: Any, limit: int) -> bool:
    """Whether the JSON text of an id is over `limit` bytes."""
    if type(id) is int:
        return id.bit_length() > 3 * limit and len(b"%d" % id) > limit
    return isinstance(id, str) and 6 * len(id) + 2 > limit and len(encode(id)) > limit


def error_answer(id: Id, code: int, message: str, data: bytes | None = None) -> bytes:
    """The text of an error answer; `data` is JSON text."""
    more = b"" if data is None else b',"data":' + one_line(data)
    text = b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":%b%b}}'
    return text % (id_text(id), code, _encode_text(message), more)


def _encode_text(text: str) -> bytes:
    """The JSON text of a string that may come from anywhere, such as a file name that is not valid Unicode."""
    try:
        return encode(text)
    except UnicodeEncodeError:
        return encode(repair_text(text))


def one_line(text: bytes) -> bytes:
    """The same JSON text without a line feed: in JSON one is white space between tokens and never part of a string."""
    return text.replace(b"\n", b" ")


def first_byte(text: Raw) -> int:
    """The first byte of a JSON text, which tells what kind of value it is."""
    byte: int = _unpack_byte(text)[0]
    return byte
