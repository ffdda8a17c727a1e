"""The model of `--model` among those that an agent offers."""

from __future__ import annotations

from collections.abc import Callable

from duologue.cli.screen import one_line
from duologue.errors import DuologueError
from duologue.protocol.common.config import SessionConfigSelectOption
from duologue.protocol.v2.config import SelectConfigOption, offered_values

#: Models that are named where another one was asked for.
NAMED = 20


class NoModel(DuologueError):
    """The agent does not have the model that was asked for; the text names those that it has."""


def model_value(option: SelectConfigOption, wanted: str) -> str:
    """The value to choose: by itself, by the name that people see, or by what follows its provider.

    Raises `NoModel`.
    """
    offered = list(offered_values(option))
    ways: tuple[Callable[[SessionConfigSelectOption], bool], ...] = (
        lambda each: each.value == wanted,
        lambda each: each.name.casefold() == wanted.casefold(),
        lambda each: each.value.endswith(f":{wanted}"),
    )
    for fits in ways:
        for each in offered:
            if fits(each):
                return each.value
    names = ", ".join(one_line(each.value) for each in offered[:NAMED])
    raise NoModel(f"--model {wanted}: this agent does not have it; it has {names}")
