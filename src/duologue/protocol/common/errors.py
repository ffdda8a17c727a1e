"""Errors on the wire."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Int32, Opt, Wire


class ErrorCode(IntEnum):
    """The codes that the specification names. Others are allowed: `Error.code` is a plain number."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTH_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002


class Error(Wire):
    """Why a request failed."""

    code: Int32
    message: str
    data: Opt[Any] = UNSET
