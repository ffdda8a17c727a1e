"""What is entered with `async with`, and says so to those who write something else."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Entered:
    """A base for async context managers. `with` and `await` raise `TypeError` with the line to write."""

    #: That line.
    _entering: str

    # Hidden from type checkers, which find these mistakes by the methods that are not there.
    if not TYPE_CHECKING:

        def __enter__(self) -> NoReturn:
            raise TypeError(f"write {self._entering}")

        def __exit__(self, *_: object) -> None: ...

        def __await__(self) -> NoReturn:
            raise TypeError(f"write {self._entering}")


class _Managed(Entered, AbstractAsyncContextManager[T]):
    def __init__(self, manager: AbstractAsyncContextManager[T], entering: str) -> None:
        self._manager = manager
        self._entering = entering

    async def __aenter__(self) -> T:
        return await self._manager.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._manager.__aexit__(kind, error, trace)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"no {name} before it is entered: write {self._entering}")


def entered(entering: str) -> Callable[[Callable[P, AsyncIterator[T]]], Callable[P, AbstractAsyncContextManager[T]]]:
    """`contextlib.asynccontextmanager` for what authors call; `entering` is the line to write."""

    def decorate(function: Callable[P, AsyncIterator[T]]) -> Callable[P, AbstractAsyncContextManager[T]]:
        opened: Callable[P, AbstractAsyncContextManager[T]] = asynccontextmanager(function)

        @functools.wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> AbstractAsyncContextManager[T]:
            return _Managed(opened(*args, **options), entering)

        return called

    return decorate
