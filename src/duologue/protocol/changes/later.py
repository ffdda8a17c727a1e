"""Functions of the table whose module is loaded when one of them is first asked for: a start changes few messages.

With `duologue.late`, a module is loaded to give one of its names. A row of the table names its functions long before
one of them is called: so here something stands for the function until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class LaterFunction:
    """Stands for a function of a module of this package."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        function: Callable[..., Any] = getattr(import_module(f"duologue.protocol.changes.{self._module}"), self._name)
        return function

    def __call__(self, *given: Any) -> Any:
        return self.load()(*given)


class Later:
    """Stands for a module of this package; what is asked of it must be a function."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> LaterFunction:
        # One for each function, however often it is asked for.
        function = self.__dict__[name] = LaterFunction(self._module, name)
        return function


class Loading(dict[Any, Any]):
    """A table of functions; one whose module is loaded late takes its own place when it is first asked for. ``[key]``
    gives None where nothing stands."""

    def __init__(self, functions: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self._functions = functions

    def __missing__(self, key: Any) -> Callable[..., Any] | None:
        function = self._functions.get(key)
        if function is None:
            return None
        self[key] = found = function.load() if isinstance(function, LaterFunction) else function
        return found
