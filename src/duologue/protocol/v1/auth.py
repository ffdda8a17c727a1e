"""Logging in with version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Lenient, Maybe, Opt, Secretive, Unknown, Untagged
from duologue.protocol.common.auth import AuthEnvVar
from duologue.protocol.common.ids import AuthMethodId


class AuthMethodAgent(Extensible, kw_only=True):
    """A login that the agent handles by itself."""

    id: AuthMethodId
    name: str
    description: Maybe[str] = UNSET


class AuthMethodEnvVar(Extensible, kw_only=True):
    """A login by environment variables that the client sets."""

    id: AuthMethodId
    name: str
    vars: Lenient[Items[AuthEnvVar]]
    description: Maybe[str] = UNSET
    link: Maybe[str] = UNSET


class AuthMethodTerminal(Secretive, kw_only=True):
    """A login that runs the agent in a terminal, with more arguments and variables."""

    hidden = frozenset({"env"})

    id: AuthMethodId
    name: str
    description: Maybe[str] = UNSET
    args: Opt[Items[str]] = UNSET
    env: Opt[dict[str, str]] = UNSET


class AgentAuthMethod(AuthMethodAgent, kw_only=True):
    """A login that the agent handles by itself; has no tag on the wire."""


class EnvVarAuthMethod(AuthMethodEnvVar, tag_field="type", tag="env_var", kw_only=True):
    """A login by environment variables."""


class TerminalAuthMethod(AuthMethodTerminal, tag_field="type", tag="terminal", kw_only=True):
    """A login in a terminal."""


if TYPE_CHECKING:
    AuthMethod = AgentAuthMethod | EnvVarAuthMethod | TerminalAuthMethod | Unknown
else:

    class AuthMethod(Untagged):
        """A way to log in: without a tag (or with ``agent``, as some agents send it) the agent's own."""

        variants = (AgentAuthMethod, EnvVarAuthMethod, TerminalAuthMethod)

        @classmethod
        def pick(cls, raw: Any) -> Any:
            match raw.get("type") if isinstance(raw, dict) else None:
                case "env_var":
                    return EnvVarAuthMethod
                case "terminal":
                    return TerminalAuthMethod
                case str(kind) if kind != "agent":
                    return Unknown
            return AgentAuthMethod


class AuthenticateRequest(Extensible, kw_only=True):
    """Logs in by one of the announced methods."""

    method_id: AuthMethodId


class AuthenticateResponse(Extensible, kw_only=True):
    """The login succeeded."""


class LogoutRequest(Extensible, kw_only=True):
    """Forgets the login."""


class LogoutResponse(Extensible, kw_only=True):
    """The login is forgotten."""
