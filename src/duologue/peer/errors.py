"""What a peer raises.

DuologueError
├── ConnectionClosed      the connection ended before, or while, the caller waited
├── NotOffered            the other side has not announced what was to be asked of it
└── JsonRpcError          see `duologue.jsonrpc.errors`
    ├── RpcError          the other side answered with an error (or: answer with this error, raised by a handler)
    │   └── HandlerError  a handler of this side failed
    └── LimitError        a limit of this side was reached
"""

from __future__ import annotations

from duologue.errors import DuologueError
from duologue.jsonrpc.errors import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from duologue.protocol.common.errors import ErrorCode, session_not_found
from duologue.transports.base import Closed

#: A request was cancelled by `$/cancel_request` and its handler gave no answer of its own.
REQUEST_CANCELLED = ErrorCode.REQUEST_CANCELLED.value


class ConnectionClosed(DuologueError):
    """The connection is closed. `reason` has the exit code and the tail of the other side's stderr when known."""

    def __init__(self, reason: Closed) -> None:
        super().__init__(str(reason))
        self.reason = reason


class NotOffered(DuologueError):
    """Raised before anything is sent, for what the other side has not announced; the text says what that is."""


class HandlerError(RpcError):
    """A handler of this side failed with an exception of its own; the other side is told no more than its type."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(INTERNAL_ERROR, "Internal error", {"details": type(cause).__name__})


def unknown_session(session_id: str) -> RpcError:
    """The error that answers a request for a session which does not exist."""
    return RpcError(*session_not_found(session_id))


def wrong_params(problem: str, member: str, **more: str) -> RpcError:
    """The error that answers params which fit their type and cannot be served. `member` is the one that is wrong, as on
    the wire (``prompt[1]``); `data.path` then begins as where something does not fit. `more` joins it in `data`."""
    return RpcError(INVALID_PARAMS, problem, {**more, "path": f"$.params.{member}"})
