"""Bytes, or JSON that is parsed already, to values."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

from duologue.jsonrpc.scan import repair_surrogates
from duologue.late import late_pattern
from duologue.protocol.base import decode_hook

from .errors import DoesNotFit, Dropped, NotJson, Report, TooDeep

T = TypeVar("T")

Json = bytes | bytearray | memoryview | msgspec.Raw

_REFUSED_AT = late_pattern(r"out of range - at `\$(.*)`")


class _Decoders(dict[Any, msgspec.json.Decoder[Any]]):
    def __missing__(self, wanted: Any) -> msgspec.json.Decoder[Any]:
        self[wanted] = msgspec.json.Decoder(wanted, dec_hook=decode_hook)
        return self[wanted]


#: The strict decoders by type, each built when it is first asked for.
decoders = _Decoders()


@overload
def decoder_for(wanted: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def decoder_for(wanted: Any) -> msgspec.json.Decoder[Any]: ...
def decoder_for(wanted: Any) -> msgspec.json.Decoder[Any]:
    """The strict decoder of a type, built when first asked for and then kept. It salvages nothing: use `decode`."""
    return decoders[wanted]


@overload
def decode(wanted: type[T], data: Json, report: Report | None = None, at: str = "$") -> T: ...
@overload
def decode(wanted: Any, data: Json, report: Report | None = None, at: str = "$") -> Any: ...
def decode(wanted: Any, data: Json, report: Report | None = None, at: str = "$") -> Any:
    """The value of a wire type from JSON text. `at`: where the text stands in its message, for paths in errors.

    `report` is told what had to be dropped, once the message as a whole is known to be usable.
    Raises `NotJson`, `DoesNotFit` or `TooDeep`.
    """
    try:
        return decoders[wanted].decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        refusal = str(error)
    dropped: list[Dropped] = []
    return _salvage(wanted, _parse(data, dropped, refusal, at), dropped, report, at)


@overload
def convert(wanted: type[T], value: Any, report: Report | None = None, at: str = "$") -> T: ...
@overload
def convert(wanted: Any, value: Any, report: Report | None = None, at: str = "$") -> Any: ...
def convert(wanted: Any, value: Any, report: Report | None = None, at: str = "$") -> Any:
    """The value of a wire type from JSON that is parsed already, by the rules of `decode`.

    Raises `DoesNotFit` or `TooDeep`.
    """
    try:
        return msgspec.convert(value, wanted, dec_hook=decode_hook)
    except msgspec.ValidationError:
        pass
    except RecursionError:
        raise _too_deep(at) from None
    return _salvage(wanted, value, [], report, at)


def _salvage(wanted: Any, value: Any, dropped: list[Dropped], report: Report | None, at: str) -> Any:
    # Late: most programs meet no message that needs it.
    from .salvage import Salvage
    from .shapes import shape_of

    try:
        result = Salvage(dropped).root(shape_of(wanted), value, at)
    except RecursionError:
        raise _too_deep(at) from None
    if report:
        for loss in dropped:
            report(loss)
    return result


def _parse(data: Json, dropped: list[Dropped], refusal: str, at: str) -> Any:
    """Plain JSON for the slow pass. `refusal` is what the strict pass said."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise _too_deep(at) from None
    except msgspec.ValidationError:
        raise _out_of_range(refusal, at) from None
    except msgspec.DecodeError as error:
        broken = NotJson(at, str(error))
    text = bytes(data)
    mended = repair_surrogates(text)
    if mended == text:
        raise broken
    dropped.append(Dropped(at, "half a surrogate pair, replaced by U+FFFD"))
    return _parse(mended, dropped, refusal, at)


def _out_of_range(refusal: str, at: str) -> DoesNotFit:
    """JSON without a type is refused for its numbers only; the strict pass may have said where."""
    path = _REFUSED_AT.search(refusal)
    return DoesNotFit(at + path[1] if path else at, "a number is out of range")


def _too_deep(at: str) -> TooDeep:
    return TooDeep(at, "the message is nested too deep")
