"""The ways to log in, as a client is told of them, and the error that asks for it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from duologue import codec
from duologue.jsonrpc.errors import METHOD_NOT_FOUND, RpcError
from duologue.local.arguments import several
from duologue.peer import Scope
from duologue.peer.errors import wrong_params
from duologue.protocol.base import Unknown
from duologue.protocol.common.errors import ErrorCode, shortened
from duologue.protocol.conventions import TERMINAL_AUTH
from duologue.protocol.v2.auth import (
    AgentAuthMethod,
    AuthMethod,
    LoginAuthRequest,
    LoginAuthResponse,
    LogoutAuthRequest,
    LogoutAuthResponse,
    TerminalAuthMethod,
)
from duologue.protocol.v2.capabilities import ClientCapabilities, TerminalAuthCapabilities
from duologue.protocol.version import V1

if TYPE_CHECKING:
    from duologue.agent.agent import Agent


def auth_required(agent: Agent, message: str) -> RpcError:
    """The error that asks for a login; its data has the ways, as they were told in `initialize`."""
    connection = agent.connection
    shown: list[Any] = shown_methods(agent, connection.client_capabilities)
    if connection.peer.version is V1:
        from duologue.protocol.changes.auth import method_down

        shown = [method_down(method) for method in shown]
    return RpcError(ErrorCode.AUTH_REQUIRED.value, message, {"authMethods": shown})


def shown_methods(agent: Agent, client: ClientCapabilities) -> list[AuthMethod]:
    """The ways to log in as this client is told of them. Raises `ValueError` for ways that may not be told."""
    given = several(agent.auth_methods(), "what auth_methods returns")
    methods: list[AuthMethod] = codec.sendable(list[AuthMethod], given)
    _check(methods)
    return [_shown(agent, method, client) if isinstance(method, TerminalAuthMethod) else method for method in methods]


def _shown(agent: Agent, method: TerminalAuthMethod, client: ClientCapabilities) -> AuthMethod:
    """A login in a terminal, or for a client without one the words to do it by hand."""
    command = [*agent.command(), *(method.args or ())]
    env = {variable.name: variable.value for variable in method.env or ()}
    if client.meta and client.meta.get(TERMINAL_AUTH) is True:
        run = {"command": command[0], "args": command[1:], "env": env, "label": method.name}
        method = msgspec.structs.replace(method, meta={TERMINAL_AUTH: run, **(method.meta or {})})
    if client.auth and isinstance(client.auth.terminal, TerminalAuthCapabilities):
        return method
    words = shlex.join([*(f"{name}={value}" for name, value in env.items()), *command])
    told = f"{method.description} " if method.description else ""
    return AgentAuthMethod(
        method_id=method.method_id,
        name=method.name,
        description=f"{told}Run this in a terminal, then log in again: {words}",
        meta=method.meta,
    )


def _check(methods: Sequence[AuthMethod]) -> None:
    ids = [_id(method) for method in methods]
    if len(set(ids)) < len(ids):
        raise ValueError(f"two ways to log in have the same id: {ids}")
    for method in methods:
        if isinstance(method, Unknown) and not str(method.raw.get("type")).startswith("_"):
            raise ValueError("a way to log in of one's own type: the type begins with an underscore")
        names = [variable.name for variable in method.env or ()] if isinstance(method, TerminalAuthMethod) else []
        if len(set(names)) < len(names):
            raise ValueError(f"{_id(method)}: a variable is named twice")


def _id(method: AuthMethod) -> Any:
    return method.raw.get("methodId") if isinstance(method, Unknown) else method.method_id


class Logins:
    """Answers login and logout, for as long as the agent has a way to log in."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def login(self, params: LoginAuthRequest, scope: Scope) -> LoginAuthResponse:
        if params.method_id not in map(_id, self._methods(scope)):
            problem = f"no such auth method: {shortened(params.method_id)}"
            raise wrong_params(problem, "methodId", methodId=params.method_id)
        await self._agent.login(params.method_id)
        return LoginAuthResponse()

    async def logout(self, params: LogoutAuthRequest, scope: Scope) -> LogoutAuthResponse:
        self._methods(scope)
        await self._agent.logout()
        return LogoutAuthResponse()

    def _methods(self, scope: Scope) -> Sequence[AuthMethod]:
        methods = self._agent.auth_methods()
        if not methods:
            name = scope.wire.name
            raise RpcError(METHOD_NOT_FOUND, f"{name}: this agent has nothing to log in to", {"method": name})
        return methods
