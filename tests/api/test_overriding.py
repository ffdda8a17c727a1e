"""A class that cannot work says so where it is defined, and a class in place of an instance where it is given."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from duologue import Agent, Client, connect, run, serve
from duologue.agent import Nes, Providers, handles
from duologue.client import LocalFiles, LocalTerminals, Policy
from duologue.peer.extensions import Announcing
from duologue.protocol.method import Notification, Request
from duologue.testing import connected
from duologue.transports.memory import memory_pair

BASES: list[type] = [Agent, Client, Nes, Providers]
PING: Request[Any, Any] = Request.extension("_x/ping", dict, dict)
HEARD: Notification[Any] = Notification.extension("_x/heard", dict)


def overridable(base: type, *, awaited: bool) -> list[str]:
    """The functions of a base that a subclass may give anew."""
    return [
        name
        for name, value in vars(base).items()
        if inspect.isfunction(value) and not name.startswith("_") and inspect.iscoroutinefunction(value) is awaited
    ]


def places(*, awaited: bool) -> list[tuple[type, str]]:
    return [(base, name) for base in BASES for name in overridable(base, awaited=awaited)]


def define(base: type, name: str, function: Callable[..., Any]) -> type:
    return type("Mine", (base,), {name: function})


def plain(self: Any, *given: Any, **named: Any) -> None: ...


async def awaited(self: Any, *given: Any, **named: Any) -> None: ...


async def yields(self: Any, *given: Any, **named: Any) -> Any:
    yield None


async def hears(self: Any, turn: Any) -> None: ...


async def answers(self: Any, session: Any, request: Any) -> None: ...


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        return function(*given, **named)

    return call


def in_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(function, *given, **named)

    return call


def test_there_are_handlers_of_each_kind() -> None:
    assert {"prompt", "request_permission", "suggest", "changed"} <= {name for _, name in places(awaited=True)}
    assert {"config_options", "on_update", "opened"} <= {name for _, name in places(awaited=False)}


@pytest.mark.parametrize(("base", "name"), places(awaited=True))
@pytest.mark.parametrize("function", [plain, yields, wrapped(plain)])
def test_a_handler_that_is_awaited_must_be_async(base: type, name: str, function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=re.escape(f"Mine.{name} must be async def (and have no yield)")):
        define(base, name, function)


@pytest.mark.parametrize(("base", "name"), places(awaited=True))
def test_an_async_handler_is_taken_however_it_is_wrapped(base: type, name: str) -> None:
    define(base, name, awaited)
    define(base, name, wrapped(awaited))
    define(base, name, in_thread(plain))
    define(base, name, wrapped(in_thread(plain)))


@pytest.mark.parametrize(("base", "name"), places(awaited=False))
def test_what_is_not_awaited_must_not_be_async(base: type, name: str) -> None:
    define(base, name, plain)
    for function in (awaited, yields):
        with pytest.raises(TypeError, match=f"Mine.{name} must be def, not async def: nothing awaits it"):
            define(base, name, function)


def test_a_handler_takes_what_it_is_given() -> None:
    async def nothing(self: Any) -> None: ...
    async def no_name(self: Any, session: Any, *, again: bool) -> None: ...
    async def other_words(me: Any, t: Any, more: int = 0, *, replay: bool = False) -> None: ...

    with pytest.raises(TypeError, match=re.escape("Mine.prompt must take (self, turn)")):
        define(Agent, "prompt", nothing)
    with pytest.raises(TypeError, match=re.escape("Mine.resume_session must take (self, session, *, replay)")):
        define(Agent, "resume_session", no_name)
    define(Agent, "prompt", other_words)
    define(Agent, "resume_session", other_words)


def test_a_class_between_is_held_to_the_same() -> None:
    class Between(Agent):
        pass

    with pytest.raises(TypeError, match=r"Mine\.prompt must be async def"):
        define(Between, "prompt", plain)


def test_functions_of_ones_own_are_ones_own_matter() -> None:
    define(Agent, "helper", plain)
    define(Agent, "_prompt", plain)
    define(Announcing, "prompt", plain)


@pytest.mark.parametrize("method", [PING, HEARD])
@pytest.mark.parametrize("function", [plain, yields])
def test_a_handler_of_ones_own_method_must_be_async(method: Any, function: Callable[..., Any]) -> None:
    decorate: Any = handles(method)
    with pytest.raises(TypeError, match=f"{function.__name__} must be async def"):
        decorate(function)
    decorate(awaited)


@pytest.mark.parametrize("given", ["_x/ping", plain, None])
def test_a_handler_is_of_a_method(given: Any) -> None:
    with pytest.raises(TypeError, match=r"a method that Request\.extension or Notification\.extension made"):
        handles(given)


class Echo(Agent):
    async def prompt(self, turn: Any) -> None: ...


class Mine(Client):
    pass


async def test_an_agent_is_an_instance() -> None:
    with pytest.raises(TypeError, match=re.escape("serve takes an instance: write Echo(), not Echo")):
        await serve(Echo, memory_pair()[0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="serve takes an instance of a subclass of Agent, not Mine"):
        await serve(Mine(), memory_pair()[0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="write Echo"):
        async with connected(Echo):  # type: ignore[arg-type]
            pass


def test_run_leaves_the_output_alone_when_it_has_no_agent(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TypeError, match="write Echo"):
        run(Echo)  # type: ignore[arg-type]
    print("still here")
    assert "still here" in capfd.readouterr().out


async def test_a_client_is_an_instance() -> None:
    with pytest.raises(TypeError, match=re.escape("connect(client=...) takes an instance: write Mine(), not Mine")):
        async with connected(Echo(), Mine):  # type: ignore[arg-type]
            pass
    with pytest.raises(TypeError, match="instance of a subclass of Client, not bool"):
        async with connected(Echo(), False):  # type: ignore[arg-type]
            pass


@pytest.mark.parametrize(
    ("agent", "problem"),
    [
        ("some-agent --acp", "as a list of strings.*not str"),
        (Echo, "not Echo; for an Agent of this process see duologue.testing.connected"),
        (Echo(), "not Echo; for an Agent of this process"),
        (None, "not NoneType"),
        ([], "the agent's command is a list of strings"),
        (["agent", 3], "the agent's command is a list of strings"),
        (lambda: None, "must return a Transport, not NoneType"),
    ],
)
async def test_what_is_connected_to(agent: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        async with connect(agent):
            pass


@pytest.mark.parametrize(
    ("member", "value", "problem"),
    [
        ("nes", Nes, "Agent.nes takes an instance: write Nes"),
        ("providers", Providers, "Agent.providers takes an instance: write Providers"),
    ],
)
async def test_what_an_agent_has_is_an_instance(member: str, value: Any, problem: str) -> None:
    agent = Echo()
    setattr(agent, member, value)
    with pytest.raises(TypeError, match=problem):
        await serve(agent, memory_pair()[0])


def test_providers_are_providers() -> None:
    with pytest.raises(TypeError, match="Providers takes an instance of a subclass of Provider, not str"):
        Providers("openai")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("member", "value", "problem"),
    [
        ("files", LocalFiles, "Client.files takes an instance: write LocalFiles"),
        ("terminals", LocalTerminals, "Client.terminals takes an instance: write LocalTerminals"),
        ("policy", ["allow read"], "Client.policy takes an instance of a subclass of Policy, not list"),
        ("policy", Policy, "Client.policy takes an instance: write Policy"),
    ],
)
async def test_what_a_client_has_is_an_instance(member: str, value: Any, problem: str) -> None:
    client = Mine()
    setattr(client, member, value)
    with pytest.raises(TypeError, match=problem):
        async with connected(Echo(), client):
            pass


@pytest.mark.parametrize(
    ("base", "function", "name", "meant"),
    [
        (Agent, hears, "promt", "prompt"),
        (Agent, hears, "new_sesion", "new_session"),
        (Client, answers, "request_permision", "request_permission"),
    ],
)
def test_a_misspelt_override_is_warned_of(base: type, function: Any, name: str, meant: str) -> None:
    with pytest.warns(UserWarning, match=rf"Mine\.{name} overrides nothing: is {meant} meant\?") as told:
        kind = define(base, name, function)
    assert told[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        define(kind, name, function)  # What the parent has is overridden.


def test_what_only_looks_alike_is_no_override() -> None:
    with warnings.catch_warnings(action="error"):
        define(Agent, "_promt", hears)
        define(Agent, "promt", plain)  # It takes other arguments, and nothing awaits it.
        define(Agent, "load_session", hears)
        define(Agent, "promt", "a text")  # type: ignore[arg-type]
