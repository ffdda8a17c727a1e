"""Errors on the wire."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Opt, Wire


class ErrorCode(IntEnum):
    """The codes that the specification names; others of 32 bits become members that encode back unchanged."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTH_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002

    @classmethod
    def _missing_(cls, value: object) -> ErrorCode | None:
        if not isinstance(value, int) or not -(2**31) <= value < 2**31:
            return None
        member = int.__new__(cls, value)
        member._name_ = str(value)
        member._value_ = value
        return member


class Error(Wire, kw_only=True):
    """Why a request failed."""

    code: ErrorCode
    message: str
    data: Opt[Any] = UNSET


def session_not_found(session_id: str) -> tuple[ErrorCode, str, dict[str, str]]:
    """Code, message and data of the error that answers a request for a session which does not exist."""
    return ErrorCode.RESOURCE_NOT_FOUND, f"Session not found: {shortened(session_id)}", {"sessionId": session_id}


def shortened(text: str) -> str:
    """A text of the other side as an error shows it: the message of an error is one short line."""
    line = "".join(char if char.isprintable() else " " for char in text[:100])
    return line if len(text) <= 100 else f"{line}..."
