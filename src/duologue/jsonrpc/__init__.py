"""The silent engine: bytes in, events out; calls in, bytes out.

It performs no input or output and starts nothing. It knows no protocol above JSON-RPC 2.0, no revision of one, and not
at which end of a connection it runs: what differs is told to it.
"""

from duologue.jsonrpc.engine import Engine
from duologue.jsonrpc.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JsonRpcError,
    LimitError,
    LocalProtocolError,
    RemoteProtocolError,
    RpcError,
)
from duologue.jsonrpc.limits import Limits
from duologue.jsonrpc.messages import (
    ErrorResponse,
    Event,
    Id,
    Malformed,
    Noise,
    Notification,
    OversizedResponse,
    Request,
    Response,
    UnexpectedResponse,
)

__all__ = [
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "Engine",
    "ErrorResponse",
    "Event",
    "Id",
    "JsonRpcError",
    "LimitError",
    "Limits",
    "LocalProtocolError",
    "Malformed",
    "Noise",
    "Notification",
    "OversizedResponse",
    "RemoteProtocolError",
    "Request",
    "Response",
    "RpcError",
    "UnexpectedResponse",
]
