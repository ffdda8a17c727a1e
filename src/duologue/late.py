"""Names of a package that are loaded when they are first asked for. Imports nothing: it is loaded first of all."""

from __future__ import annotations

# Set here, not imported: type checkers go by the name, and `typing` is not loaded for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


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
