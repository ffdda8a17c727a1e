"""Logging in to an agent: by itself, by variables that it is started with, or in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from duologue.client.errors import LoginFailed
from duologue.jsonrpc.errors import RpcError
from duologue.peer.errors import NotOffered
from duologue.protocol import conventions
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import (
    AgentAuthMethod,
    AuthMethod,
    EnvVarAuthMethod,
    LoginAuthRequest,
    LogoutAuthRequest,
    TerminalAuthMethod,
)
from duologue.protocol.version import V1

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Login:
    """The way to log in that was chosen, with the variables that it asks for. Nothing of it is stored or shown."""

    method_id: str
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class TerminalLogin:
    """A program to run in a terminal; the variables are added to the environment of the agent."""

    command: Sequence[str]
    variables: Mapping[str, str] = field(repr=False)


class Logins:
    """Logs in on one connection, and repeats what was blocked."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._one_at_a_time = asyncio.Lock()
        self._count = 0

    async def retried(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call; when the agent asks for a login, let the client log in and make it once more."""
        before = self._count
        try:
            return await call()
        except RpcError as error:
            if error.code != ErrorCode.AUTH_REQUIRED or not self._connection.client.announces("log_in"):
                raise
            async with self._one_at_a_time:
                # Another call may have been blocked too, and have logged in meanwhile.
                if self._count == before:
                    login = await self._connection.client.log_in(self._connection)
                    if login is None:
                        raise
                    await self.log_in(login)
        return await call()

    async def log_in(self, login: Login) -> None:
        """Log in by one method. Raises `NotOffered`, `LoginFailed`, `ValueError`, `RpcError`."""
        method = self._method(login.method_id)
        if not isinstance(method, EnvVarAuthMethod) and login.variables:
            raise ValueError(f"{login.method_id} takes no variables")
        match method:
            case EnvVarAuthMethod():
                await self._with_variables(method, login.variables)
            case TerminalAuthMethod():
                await self._in_terminal(self.terminal_login(method))
            case AgentAuthMethod(meta={conventions.TERMINAL_AUTH: {"command": str()}}) if self._runs_terminals:
                await self._in_terminal(self.terminal_login(method))
            case _:
                await self._ask(login.method_id)
        self._count += 1

    async def log_out(self) -> None:
        """Raises `NotOffered`, `RpcError`."""
        self._connection.need(v2.AUTH_LOGOUT)
        await self._connection.peer.request(v2.AUTH_LOGOUT, LogoutAuthRequest())

    def terminal_login(self, method: AuthMethod) -> TerminalLogin:
        """What to run for a login in a terminal: the agent's own command with more arguments and variables, or the one
        that it tells. Raises `NotOffered` where there is none."""
        match method:
            case TerminalAuthMethod(args=args, env=env):
                command = self._connection.command
                if command is None:
                    raise NotOffered("a login in a terminal needs an agent that is started by a command")
                return TerminalLogin([*command, *(args or ())], {each.name: each.value for each in env or ()})
            case AgentAuthMethod(meta={conventions.TERMINAL_AUTH: {"command": str(command), **told}}):
                return TerminalLogin([command, *_texts(told.get("args"))], _variables(told.get("env")))
        raise NotOffered("this is no login in a terminal")

    @property
    def _runs_terminals(self) -> bool:
        return self._connection.client.announces("run_in_terminal")

    def _method(self, method_id: str) -> AuthMethod:
        for method in self._connection.auth_methods:
            if isinstance(method, AgentAuthMethod | EnvVarAuthMethod | TerminalAuthMethod):
                if method.method_id == method_id:
                    return method
            elif method.raw.get("methodId") == method_id:
                raise NotOffered(f"{method_id}: this client knows no login of type {method.raw.get('type')!r}")
        raise NotOffered(f"{method_id}: the agent offers no such login")

    async def _ask(self, method_id: str) -> None:
        await self._connection.peer.request(v2.AUTH_LOGIN, LoginAuthRequest(method_id=method_id))

    async def _with_variables(self, method: EnvVarAuthMethod, given: Mapping[str, str]) -> None:
        known = {variable.name: variable for variable in method.vars}
        missing = [name for name, variable in known.items() if not variable.optional and not given.get(name)]
        if missing or not given.keys() <= known.keys():
            raise ValueError(f"{method.method_id} takes the variables {', '.join(known)}; missing: {missing}")
        await self._connection.reconnect(given)
        if self._connection.version is V1:
            # There an agent reads its variables when it is told to; version 2 has no such request for them.
            await self._ask(method.method_id)

    async def _in_terminal(self, login: TerminalLogin) -> None:
        if not self._runs_terminals:
            raise NotOffered("override run_in_terminal to log in in a terminal")
        status = await self._connection.client.run_in_terminal(login)
        if status != 0:
            raise LoginFailed(f"the login in the terminal ended with status {status}")
        await self._connection.reconnect({})


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _variables(value: Any) -> dict[str, str]:
    return {name: text for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
