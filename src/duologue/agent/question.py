"""A question that an agent asks: it is to be awaited."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import TracebackType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


class Question(Coroutine[Any, Any, T]):
    """Asks when it is awaited. It has no truth of its own: an ``if`` that forgot to await it would take any answer for
    yes, without having asked."""

    __slots__ = ("_asking",)

    def __init__(self, asking: Coroutine[Any, Any, T]) -> None:
        self._asking = asking

    def __bool__(self) -> NoReturn:
        self._asking.close()
        raise TypeError("nothing was asked yet: await the question, and go by its answer")

    def __await__(self) -> Generator[Any, Any, T]:
        return self._asking.__await__()

    def send(self, value: Any) -> Any:
        return self._asking.send(value)

    def throw(self, kind: Any, value: Any = None, trace: TracebackType | None = None) -> Any:
        return self._asking.throw(kind if value is None else value)

    def close(self) -> None:
        self._asking.close()
