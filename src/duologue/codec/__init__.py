"""Bytes to values and back: lenient in, strict out, nothing lost.

A message is decoded in one strict pass in C. Only one that fails is walked again, slowly, and loses no more than what
its schema allows: an optional value or a list item that does not fit. Such losses are told to the `report` callback.

What to know when you use it:

- Unknown variants of an open union become `Unknown`, unknown enum values stay enum members, ``_meta`` is kept: all of
  them encode back unchanged. Members at the root of a type that this revision does not know are ignored, as the
  specification wants; who forwards a message unchanged forwards its bytes.
- Numbers are not guessed: ``"2"`` is no integer and ``true`` is not 1. ``1.0`` is the integer 1, as in JSON Schema.
- The last of two members with the same name counts.
- ``NaN`` and the infinities have no JSON form and are encoded as null.
- Lone surrogates become U+FFFD in both directions.
"""

from .errors import CodecError, DoesNotFit, Dropped, NotEncodable, NotJson, Report, TooDeep
from .reading import convert, decode, decoder_for
from .sending import sendable
from .writing import encode, encode_into

__all__ = [
    "CodecError",
    "DoesNotFit",
    "Dropped",
    "NotEncodable",
    "NotJson",
    "Report",
    "TooDeep",
    "convert",
    "decode",
    "decoder_for",
    "encode",
    "encode_into",
    "sendable",
]
