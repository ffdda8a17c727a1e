"""Functions of the table whose module is loaded when one of them is first called: a start changes few messages."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """Stands for a module of this package; what is asked of it must be a function."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        loaded: Callable[..., Any] | None = None

        def change(*given: Any) -> Any:
            nonlocal loaded
            if loaded is None:
                loaded = getattr(import_module(f"duologue.protocol.changes.{self._module}"), name)
            return loaded(*given)

        self.__dict__[name] = change  # One function, however often it is asked for.
        return change
