"""Whether a message of an agent is what the agreed version's types say, no more and no less."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import msgspec

from duologue import codec
from duologue.protocol.base import OpenEnum, Unknown
from duologue.protocol.method import Side
from duologue.protocol.version import V1, V2


class NotConforming(AssertionError):
    """The message, and what is wrong with it."""


def check_message(version: int, message: Mapping[str, Any], asked: Mapping[Any, str]) -> None:
    """Raises `NotConforming`. `asked` has the methods of the client's requests by id."""
    for problem in problems(version, message, asked):
        raise NotConforming(f"{problem}: {json.dumps(message)[:500]}")


def problems(version: int, message: Mapping[str, Any], asked: Mapping[Any, str]) -> Iterator[str]:
    if asked.get(message.get("id")) == "initialize" and "result" in message:
        # What is agreed is in the answer itself.
        version = message["result"]["protocolVersion"]
    spoken = V1 if version == 1 else V2
    name = message.get("method")
    if name is not None:
        yield from _unnamed(message, {"jsonrpc", "id", "method", "params"})
        method = spoken.request(Side.CLIENT, name) if "id" in message else spoken.notification(Side.CLIENT, name)
        if method is not None:
            yield from misfits(method.params, message.get("params", {}))
        elif not name.startswith("_"):
            yield f"no such method: {name}"
    elif "error" in message:
        yield from _unnamed(message, {"jsonrpc", "id", "error"})
        yield from _error_problems(message["error"])
    else:
        yield from _unnamed(message, {"jsonrpc", "id", "result"})
        answered = spoken.request(Side.AGENT, asked.get(message.get("id"), ""))
        if answered is not None:
            yield from misfits(answered.result, message.get("result"))


def misfits(wanted: Any, value: Any) -> Iterator[str]:
    """What a value has that its type has not, or has otherwise."""
    losses: list[str] = []
    try:
        decoded = codec.decode(wanted, json.dumps(value).encode(), lambda loss: losses.append(str(loss)))
    except codec.CodecError as error:
        yield str(error)
        return
    yield from losses
    again = json.loads(codec.encode(decoded))
    if again != value:
        yield f"a member that the type lacks: {json.dumps(again)[:500]}"
    yield from _invented(decoded)


def _invented(value: Any) -> Iterator[str]:
    """Values that the specification does not name and that do not begin with an underscore."""
    match value:
        case Unknown(raw=raw):
            tags = [raw.get(tag) for tag in ("type", "sessionUpdate", "mode", "action", "outcome") if tag in raw]
            if not any(str(tag).startswith("_") for tag in tags):
                yield f"an invented variant: {raw}"
        case OpenEnum():
            if not value.known and not value.startswith("_"):
                yield f"an invented value: {value}"
        case Enum():
            return
        case msgspec.Struct():
            for field in value.__struct_fields__:
                if field != "meta":
                    yield from _invented(getattr(value, field))
        case dict():
            for item in value.values():
                yield from _invented(item)
        case list() | tuple():
            for item in value:
                yield from _invented(item)


def _error_problems(error: Mapping[str, Any]) -> Iterator[str]:
    yield from _unnamed(error, {"code", "message", "data"})
    if not isinstance(error.get("code"), int) or isinstance(error.get("code"), bool):
        yield "the code of an error is an integer"
    text = error.get("message")
    if not isinstance(text, str) or not text or "\n" in text or len(text) > 300:
        yield "the message of an error is one short sentence"


def _unnamed(members: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    if not members.keys() <= known:
        yield f"members that no message has: {sorted(members.keys() - known)}"
