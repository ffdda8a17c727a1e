"""What comes out of the engine: one value for each thing that the peer said.

The values are cheap structs that the garbage collector does not track: they hold JSON text and plain values only, so no
cycle can reach back to them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from duologue.jsonrpc.errors import JsonRpcError, LimitError, RpcError

#: The id of a request. Numbers are whole; `None` is the JSON null.
Id: TypeAlias = int | str | None

#: Any of the structs below, or what the decoder of the hot path made of a line.
Event: TypeAlias = Any


class Request(msgspec.Struct, frozen=True, gc=False):
    """A call of the peer that must be answered once; `params` is None when absent or null."""

    id: Id
    method: str
    params: msgspec.Raw | None


class Notification(msgspec.Struct, frozen=True, gc=False):
    """A call of the peer that is never answered; `params` is None when absent or null."""

    method: str
    params: msgspec.Raw | None


class Response(msgspec.Struct, frozen=True, gc=False):
    """The result of a request of this side."""

    id: int
    result: msgspec.Raw


class ErrorResponse(msgspec.Struct, frozen=True, gc=False):
    """The failure of a request of this side; with id None the peer complains about something it could not match.

    `error` is what the caller gets: an `RpcError`, or a `RemoteProtocolError` when the answer itself is broken.
    """

    id: int | None
    error: JsonRpcError


class OversizedResponse(msgspec.Struct, frozen=True, gc=False):
    """An answer to a request of this side that is over a limit and was not read; the caller gets `error`."""

    id: int
    error: LimitError


class UnexpectedResponse(msgspec.Struct, frozen=True, gc=False):
    """An answer to nothing: its id was never sent, is answered already, or is forgotten. It needs no reaction.

    An id that is absent, or no id at all, is None.
    """

    id: Id
    error: RpcError | None


class Noise(msgspec.Struct, frozen=True, gc=False):
    """A line that was never meant as a message, such as a log line; `sample` is its first bytes."""

    sample: bytes
    reason: str


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """A broken message; `code` is the JSON-RPC code of the fault, `sample` its first bytes.

    Where the peer is to be told, the engine has already put the answer among its replies.
    """

    code: int
    reason: str
    sample: bytes
