"""Whether a value fits a config option."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.peer.errors import wrong_params
from duologue.protocol.common.errors import shortened
from duologue.protocol.v2.config import (
    BooleanConfigOption,
    SelectConfigOption,
    SessionConfigOption,
    SetBooleanConfigOption,
    SetIdConfigOption,
    offered_values,
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
        raise wrong_params(f"{shortened(wanted.config_id)} does not take this value", "value")
    raise wrong_params(f"no such config option: {shortened(wanted.config_id)}", "configId")
