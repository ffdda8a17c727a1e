"""What is made when it is first asked for: names of a package, and regular expressions. A start needs few of them.

Imports nothing before that: it is loaded first of all.
"""

from __future__ import annotations

# Set here, not imported: type checkers go by the name, and `typing` is not loaded for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from typing import Any, AnyStr


def late_names(package: dict[str, Any], places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], Any]]:
    """`__getattr__` and `__dir__` of a package, given its globals and, for each of its modules, the names from there.

    Type checkers read imports that stand beside it, and so refuse a name that is not among them.
    """

    def find(name: str) -> Any:
        for place, names in places.items():
            if name in names.split():
                from importlib import import_module

                value = package[name] = getattr(import_module(f"{package['__name__']}.{place}"), name)
                return value
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")

    return find, lambda: sorted({*package, *package["__all__"]})


def late_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What ``re.compile`` gives, not compiled before it is used. A wrong expression is told then."""
    made: Any = _LatePattern(expression, flags)
    return made  # type: ignore[no-any-return]


class _LatePattern:
    """Gets the attributes of the pattern one by one, as they are asked for."""

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self._asked: Any = (expression, flags)

    def __getattr__(self, name: str) -> Any:
        import re

        value = getattr(re.compile(*self._asked), name)  # `re` keeps what it has compiled.
        self.__dict__[name] = value
        return value
