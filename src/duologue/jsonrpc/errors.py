"""What can go wrong on a JSON-RPC connection.

DuologueError
└── JsonRpcError
    ├── LocalProtocolError    this side broke a rule: a bug in the calling program
    ├── RemoteProtocolError   the peer broke a rule; carries the code that names the rule
    ├── LimitError            a limit of this side was reached; names the limit and how to raise it
    └── RpcError              the peer answered a request with an error, or a handler wants to
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from duologue.errors import DuologueError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

#: Characters of `data` that the text of an `RpcError` shows; the attribute keeps all of it.
SHOWN_DATA = 1000


class JsonRpcError(DuologueError):
    """Root of everything that goes wrong on a connection; settings that make no sense are a ValueError."""


class LocalProtocolError(JsonRpcError):
    """Raised when the calling program breaks a rule, such as answering a request twice."""


class RemoteProtocolError(JsonRpcError):
    """What the caller of a request gets when the peer's answer breaks a rule; the text says which. (A request of the
    peer that breaks one is answered with an error.)"""


class LimitError(JsonRpcError):
    """Raised or reported when something is over a limit of `duologue.jsonrpc.Limits`."""

    def __init__(self, limit: str, value: int, problem: str) -> None:
        super().__init__(f"{problem}: the limit {limit} is {value} here; raise it with Limits({limit}=...)")
        self.limit = limit
        self.value = value
        self.problem = problem


class RpcError(JsonRpcError):
    """An error answer with its code, message and data as they are on the wire.

    `data` is a decoded JSON value, or ``msgspec.UNSET`` when the answer has none. The text shows all three, since the
    cause is often told in `data` only.
    """

    def __init__(self, code: int, message: str, data: Any = UNSET) -> None:
        if not isinstance(code, int) or not isinstance(message, str):
            raise TypeError("an RpcError has a number and a text: RpcError(-32000, 'Log in first')")
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        text = f"{self.message} ({self.code})"
        return text if self.data is UNSET else f"{text}: {_shown(self.data)}"


def _shown(data: Any) -> str:
    try:
        text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(data)
    return text if len(text) <= SHOWN_DATA else f"{text[:SHOWN_DATA]}…"
