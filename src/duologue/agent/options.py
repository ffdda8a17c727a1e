"""Whether a value fits a config option."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duologue.jsonrpc.errors import INVALID_PARAMS, RpcError
from duologue.protocol.common.config import SessionConfigSelectOption
from duologue.protocol.v2.config import (
    BooleanConfigOption,
    SelectConfigOption,
    SessionConfigOption,
    SetBooleanConfigOption,
    SetIdConfigOption,
)


def check_option(options: Sequence[SessionConfigOption], wanted: SetIdConfigOption | SetBooleanConfigOption) -> None:
    """Raises `RpcError` (invalid params) when there is no such option, or it does not take the value."""
    for option in options:
        if getattr(option, "config_id", None) != wanted.config_id:
            continue
        match option, wanted:
            case SelectConfigOption(), SetIdConfigOption():
                if any(offered.value == wanted.value for offered in offered_values(option)):
                    return
            case BooleanConfigOption(), SetBooleanConfigOption():
                return
        raise RpcError(INVALID_PARAMS, f"{wanted.config_id} does not take this value", {"path": "$.value"})
    raise RpcError(INVALID_PARAMS, f"no such config option: {wanted.config_id}", {"path": "$.configId"})


def offered_values(option: SelectConfigOption) -> Iterator[SessionConfigSelectOption]:
    """The values of a selection, grouped or not."""
    for entry in option.options:
        if isinstance(entry, SessionConfigSelectOption):
            yield entry
        else:
            yield from entry.options
