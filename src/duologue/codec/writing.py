"""Values to bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.protocol.base import encode_hook

from .errors import NotEncodable, TooDeep
from .surrogates import mend

_encoder = msgspec.json.Encoder(enc_hook=encode_hook)
_encode = _encoder.encode


def encode(value: Any) -> bytes:
    """The JSON text of a wire value: unset members left out, ``None`` as null, the rest always written.

    Raises `NotEncodable` or `TooDeep`.
    """
    try:
        return _encode(value)
    except UnicodeEncodeError:
        pass
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise _explained(error) from None
    try:
        return _encode(mend(value))
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise _explained(error) from None


def encode_into(value: Any, buffer: bytearray) -> None:
    """Appends what `encode` returns to `buffer`; on an error the buffer is as it was."""
    start = len(buffer)
    try:
        _encoder.encode_into(value, buffer, -1)
    except (TypeError, ValueError, NotImplementedError, RecursionError):
        del buffer[start:]
        buffer += encode(value)


def _explained(error: Exception) -> NotEncodable | TooDeep:
    if isinstance(error, RecursionError):
        return TooDeep("$", "the value is nested too deep, or holds itself")
    return NotEncodable("$", str(error))
