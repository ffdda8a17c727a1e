"""Regular expressions that are compiled when they are first used: a start needs few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def late_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What ``re.compile`` gives, not compiled before it is used. A wrong expression is told then."""
    return cast("re.Pattern[AnyStr]", _LatePattern(expression, flags))


class _LatePattern:
    """Gets the attributes of the pattern one by one, as they are asked for."""

    def __init__(self, expression: Any, flags: int) -> None:
        self._asked = expression, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._asked), name)  # `re` keeps what it has compiled.
        self.__dict__[name] = value
        return value
