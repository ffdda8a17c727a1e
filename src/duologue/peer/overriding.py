"""What an author's class overrides, checked when it is defined, and not in the middle of a turn."""

from __future__ import annotations

import inspect
import warnings
from types import FunctionType
from typing import Any


def check_overrides(kind: type, base: type) -> None:
    """Raises `TypeError` for a function of `kind` that cannot stand for the one of `base` which it overrides: one that
    is not `async` where that is, or the other way round, and one that does not take the same arguments. Warns of one
    whose name is nearly that of such a function, since it is never called."""
    for name, value in vars(kind).items():
        if name.startswith("_") or not isinstance(value, FunctionType):
            continue
        overridden = vars(base).get(name)
        if not isinstance(overridden, FunctionType):
            if not any(hasattr(parent, name) for parent in kind.__bases__) and (meant := _meant(value, name, base)):
                told = f"{kind.__name__}.{name} overrides nothing: is {meant} meant? (If not, call it _{name}.)"
                warnings.warn(told, stacklevel=3)
            continue
        where = f"{kind.__name__}.{name}"
        if inspect.iscoroutinefunction(overridden):
            check_async(where, value)
        elif inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
            raise TypeError(f"{where} must be def, not async def: nothing awaits it")
        _check_arguments(where, value, overridden)


def _meant(value: FunctionType, name: str, base: type) -> str | None:
    """The function of `base` that a name stands for with a letter or two wrong. One that takes other arguments, or is
    `async` where this is not, is not meant."""
    near = [
        each
        for each, function in vars(base).items()
        if abs(len(each) - len(name)) <= 2
        and len(set(each) ^ set(name)) <= 2
        and isinstance(function, FunctionType)
        and not each.startswith("_")
        and inspect.iscoroutinefunction(function) == inspect.iscoroutinefunction(value)
        and function.__code__.co_argcount == value.__code__.co_argcount
    ]
    if not near:
        return None
    from difflib import get_close_matches  # Only the few names that come so far need it.

    return next(iter(get_close_matches(name, near, 1, 0.85)), None)


def check_async(where: str, value: Any) -> None:
    """Raises `TypeError` for what cannot be called and awaited; of a decorated function it is enough that the decorator
    is async, or what it wraps.

    A lambda stands: it cannot be async itself, and what it gives is known when it is called.
    """
    function = inspect.unwrap(getattr(value, "__func__", value), stop=inspect.iscoroutinefunction)
    is_plain = isinstance(function, FunctionType) and not inspect.iscoroutinefunction(function)
    if not callable(value) or (is_plain and function.__name__ != "<lambda>"):
        raise TypeError(f"{where} must be async def (and have no yield)")


def check_instance(value: object, kind: type, use: str) -> None:
    """Raises `TypeError` for what is no instance of `kind`; `use` is the call that it was given to."""
    if isinstance(value, kind):
        return
    if isinstance(value, type):
        wanted = f"an instance: write {value.__name__}(), not {value.__name__}"
    else:
        wanted = f"an instance of a subclass of {kind.__name__}, not {type(value).__name__}"
    raise TypeError(f"{use} takes {wanted}")


def _check_arguments(where: str, value: FunctionType, overridden: FunctionType) -> None:
    """By the names of its own the library calls keyword arguments alone; the others go by their place."""
    if _named(value) == _named(overridden):  # As most are; it saves the time that signatures take.
        return
    wanted = list(inspect.signature(overridden).parameters.values())
    by_place = [each.name for each in wanted if each.kind is not each.KEYWORD_ONLY]
    by_name = {each.name: None for each in wanted if each.kind is each.KEYWORD_ONLY}
    try:
        inspect.signature(value).bind(*by_place, **by_name)
    except TypeError:
        taken = ", ".join([*by_place, *(["*", *by_name] if by_name else [])])
        raise TypeError(f"{where} must take ({taken})") from None


def _named(function: FunctionType) -> tuple[object, ...]:
    code = function.__code__
    return (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
    )
