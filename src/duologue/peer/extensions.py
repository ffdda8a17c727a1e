"""What the classes that authors subclass have in common: members that they override, methods of one's own (`_name`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar, overload

from duologue.peer.calls import Scope
from duologue.peer.overriding import check_async, check_overrides
from duologue.protocol.method import Method, Notification, Request

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")

_MARK = "__duologue_handles__"

Handler = Callable[[S, P], Awaitable[R]]


class Announcing:
    """The base of `Agent` and `Client`, whose members are announced when an author has overridden them."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for base in cls.__mro__[1:]:
            if Announcing in base.__bases__:
                check_overrides(cls, base)

    def announces(self, member: str) -> bool:
        """Whether the other side is told of what a member stands for: when it is overridden. Override this where that
        depends on more, such as on settings."""
        base = next(kind for kind in type(self).__mro__ if Announcing in kind.__bases__)
        return getattr(type(self), member) is not getattr(base, member)


@overload
def handles(method: Request[P, R]) -> Callable[[Handler[S, P, R]], Handler[S, P, R]]: ...
@overload
def handles(method: Notification[P]) -> Callable[[Handler[S, P, None]], Handler[S, P, None]]: ...
def handles(method: Any) -> Any:
    """Let a function of an `Agent` or a `Client` answer (or hear) a method of one's own, which
    `Request.extension` or `Notification.extension` made. It takes the params, and returns the result. Raises
    `TypeError` for a function that is not `async`."""
    if not isinstance(method, Request | Notification):
        raise TypeError("handles takes a method that Request.extension or Notification.extension made")

    def mark(function: Any) -> Any:
        check_async(function.__qualname__, function)
        setattr(function, _MARK, method)
        return function

    return mark


def handlers_of(owner: object) -> Iterator[tuple[Method, Callable[[Any], Awaitable[Any]]]]:
    """The methods that the functions of an object handle, each with its function; an override goes on handling."""
    marked: dict[str, Method] = {}
    for kind in reversed(type(owner).__mro__):
        marked |= {name: getattr(value, _MARK) for name, value in vars(kind).items() if hasattr(value, _MARK)}
    for name, method in marked.items():
        yield method, getattr(owner, name)


def as_request_handler(function: Callable[[P], Awaitable[R]]) -> Callable[[P, Scope], Awaitable[R]]:
    """The function as `Peer.handle` takes it."""

    async def answer(params: P, scope: Scope) -> R:
        return await function(params)

    return answer
