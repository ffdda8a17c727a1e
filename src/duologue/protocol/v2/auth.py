"""Logging in with version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Lenient, Maybe, Opt, Unknown, open_with
from duologue.protocol.common.auth import AuthEnvVar
from duologue.protocol.common.ids import AuthMethodId
from duologue.protocol.common.terminal import EnvVariable


class AuthMethodAgent(Extensible, kw_only=True):
    """A login that the agent handles by itself."""

    method_id: AuthMethodId
    name: str
    description: Maybe[str] = UNSET


class AuthMethodEnvVar(Extensible, kw_only=True):
    """A login by environment variables that the client sets."""

    method_id: AuthMethodId
    name: str
    vars: Lenient[Items[AuthEnvVar]]
    description: Maybe[str] = UNSET
    link: Maybe[str] = UNSET


class AuthMethodTerminal(Extensible, kw_only=True):
    """A login that runs the agent in a terminal, with more arguments and variables."""

    method_id: AuthMethodId
    name: str
    description: Maybe[str] = UNSET
    args: Opt[Items[str]] = UNSET
    env: Opt[Items[EnvVariable]] = UNSET


class AgentAuthMethod(AuthMethodAgent, tag_field="type", tag="agent", kw_only=True):
    """A login that the agent handles by itself."""


class EnvVarAuthMethod(AuthMethodEnvVar, tag_field="type", tag="env_var", kw_only=True):
    """A login by environment variables."""


class TerminalAuthMethod(AuthMethodTerminal, tag_field="type", tag="terminal", kw_only=True):
    """A login in a terminal."""


#: A way to log in.
if TYPE_CHECKING:
    AuthMethod = AgentAuthMethod | EnvVarAuthMethod | TerminalAuthMethod | Unknown
else:
    AuthMethod = Annotated[AgentAuthMethod | EnvVarAuthMethod | TerminalAuthMethod, open_with(methodId=str, name=str)]


class LoginAuthRequest(Extensible, kw_only=True):
    """Logs in by one of the announced methods."""

    method_id: AuthMethodId


class LoginAuthResponse(Extensible, kw_only=True):
    """The login succeeded."""


class LogoutAuthRequest(Extensible, kw_only=True):
    """Forgets the login."""


class LogoutAuthResponse(Extensible, kw_only=True):
    """The login is forgotten."""
