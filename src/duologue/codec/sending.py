"""Values of this side before they leave: what the other side could not read, or would drop, is told to the author.

Wire types judge nothing when they are made, since most are made by the decoder. So a value is written and read again,
in C, as the other side will read it: that takes a third of the time that a conversion without bytes takes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.protocol.base import OpenEnum, decode_hook, encode_hook, words_of_ones_own

from .errors import DoesNotFit, Dropped, NotEncodable, TooDeep, member
from .reading import decoders
from .writing import encode

#: Bytes from which on a value is converted, since its texts are not copied then.
LARGE = 64 * 1024

#: Whether values are held against their types before they leave; see `trust_own_values`.
_checks = True


def trust_own_values() -> None:
    """Let everything leave as it is, from now on and in this process: for a program whose types a type checker holds.

    To learn the types of the first answers takes a tenth of the start of a process.
    """
    global _checks
    _checks = False


def sendable(wanted: Any, value: Any) -> Any:
    """The value of a wire type as the other side reads it: plain strings where enums belong are members, tuples lists.

    Raises `NotEncodable` for what does not fit (members that a lenient reader would drop, words of an enum that are
    neither the protocol's nor begin with an underscore), `TooDeep`.
    """
    if wanted is Any or not _checks:
        return value
    if value.__class__ is not wanted and isinstance(value, msgspec.Struct) and not _may_be(wanted, value):
        raise NotEncodable("$", f"expected {wanted.__name__}, found {type(value).__name__}")
    met = words_of_ones_own.met
    try:
        text = encode(value)
    except NotEncodable as error:
        raise NotEncodable("$", _about(value, error.reason)) from None
    try:
        if len(text) <= LARGE:
            made = decoders[wanted].decode(text)
        else:
            del text  # As large as the value, and not needed any more.
            made = msgspec.convert(_plain(value), wanted, dec_hook=decode_hook)
    except (msgspec.MsgspecError, RecursionError):
        made = _explained(wanted, value, _plain(value))
    if words_of_ones_own.met != met:
        _check_words(value, made, "$")
    return made


def _plain(value: Any) -> Any:
    try:
        return msgspec.to_builtins(value, enc_hook=encode_hook)
    except RecursionError:
        raise TooDeep("$", "the value is nested too deep, or holds itself") from None
    except (TypeError, ValueError, NotImplementedError) as error:
        raise NotEncodable("$", _about(value, str(error))) from None


def _may_be(wanted: Any, value: msgspec.Struct) -> bool:
    """Whether a struct may stand where `wanted` is asked for; of unions the tags tell."""
    is_struct = isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)
    return not is_struct or isinstance(value, wanted)


def _explained(wanted: Any, value: Any, plain: Any) -> Any:
    """The value, if it is only unknown to the strict pass. Raises `NotEncodable` with what a reader would lose."""
    from .salvage import Salvage
    from .shapes import shape_of

    dropped: list[Dropped] = []
    try:
        made = Salvage(dropped, ours=True).whole(shape_of(wanted), plain, "$")
    except DoesNotFit as error:
        raise NotEncodable(error.path, _about(value, error.reason)) from None
    if dropped:
        # What is wrong within it says where by itself.
        path, colon, reason = dropped[0].reason.partition(": ") if dropped[0].reason.startswith("$") else ("", "", "")
        raise NotEncodable(path or dropped[0].path, _about(value, reason if colon else dropped[0].reason))
    return made


def _about(value: Any, problem: str) -> str:
    return f"{problem} (in {type(value).__name__})" if isinstance(value, msgspec.Struct) else problem


def _check_words(value: Any, made: Any, path: str) -> None:
    """Raises `NotEncodable` for a plain string that the enum of its place does not know. A member that was made of such
    a word stands: it came from the other side, or was meant."""
    match made:
        case OpenEnum():
            if not isinstance(value, OpenEnum):
                try:
                    type(made).named(value)
                except ValueError as error:
                    raise NotEncodable(path, str(error)) from None
        case msgspec.Struct():
            for name, key in zip(made.__struct_fields__, made.__struct_encode_fields__, strict=True):
                given = value.get(key) if isinstance(value, dict) else getattr(value, name, None)
                _check_words(given, getattr(made, name), member(path, key))
        case list() if made:
            for index, (given, item) in enumerate(zip(value, made, strict=True)):
                _check_words(given, item, f"{path}[{index}]")
        case dict() if isinstance(value, dict):
            for key, item in made.items():
                _check_words(value.get(key), item, member(path, key))
