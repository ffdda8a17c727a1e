"""The class that the author of an agent subclasses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from duologue.jsonrpc.errors import METHOD_NOT_FOUND, RpcError
from duologue.peer.errors import unknown_session, wrong_params
from duologue.peer.extensions import Announcing
from duologue.protocol.common.errors import shortened
from duologue.protocol.common.prompt import StopReason

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection
    from duologue.agent.history import History
    from duologue.agent.nes import Nes
    from duologue.agent.providers import Providers
    from duologue.agent.session import Session
    from duologue.agent.turn import Turn
    from duologue.protocol.changes.memory import AgentExtras
    from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse
    from duologue.protocol.v2.auth import AuthMethod
    from duologue.protocol.v2.capabilities import McpCapabilities, PromptCapabilities
    from duologue.protocol.v2.config import SessionConfigOption

#: What an agent with a `history` does without an override.
BY_HISTORY = frozenset(("resume_session", "delete_session"))


class Agent(Announcing):
    """An agent, written once in the vocabulary of version 2 and served in both versions.

    Override `prompt`; override the rest as needed. A handler may raise `RpcError` to answer with that error; any other
    exception is logged and answered with its type alone. One instance serves one connection.
    """

    #: Sent as the agent's `info`.
    name: str = "agent"
    title: str | None = None
    version: str = "0"
    #: Whether sessions may have more roots than their working directory (`Session.roots`). A client that names any
    #: without that is refused.
    additional_directories: bool = False
    #: How long a cancelled turn may go on before it is left behind, in seconds. What it still says is not heard.
    cancel_seconds: float = 10.0
    #: Suggested edits, and model providers that the client can point elsewhere: announced when they are set.
    nes: Nes | None = None
    providers: Providers | None = None
    #: With one, sessions can be opened again and deleted while the program runs. For longer, override `resume_session`.
    history: History | None = None

    #: Set by the library before the first handler runs.
    connection: AgentConnection

    def announces(self, member: str) -> bool:
        """Whether a client is told of what a member stands for: when it is overridden, or `history` does it."""
        return super().announces(member) or (self.history is not None and member in BY_HISTORY)

    async def prompt(self, turn: Turn) -> StopReason | None:
        """Work on a prompt. Returns why the turn ended (None: `end_turn`); cancelling raises `CancelledError` here."""
        raise RpcError(METHOD_NOT_FOUND, "this agent takes no prompts")

    def prompt_capabilities(self) -> PromptCapabilities:
        """What a prompt may hold, apart from text and resource links. Prompts with more are refused."""
        from duologue.protocol.v2.capabilities import PromptCapabilities

        return PromptCapabilities()

    def mcp_capabilities(self) -> McpCapabilities | None:
        """How MCP servers can be reached; None when no more is offered than version 1 demands (stdio)."""
        return None

    def v1_capabilities(self) -> AgentExtras:
        """What the agent says of itself in version 1 alone: that it takes `session/load`, `list`, `resume` and `close`,
        `logout`, and MCP servers over SSE. What is not said is not found (-32601). Load and resume are said when
        `resume_session` is overridden or there is a `history`, logout when `logout` is."""
        from duologue.protocol.changes.memory import AgentExtras

        reopens = self.announces("resume_session")
        return AgentExtras(load=reopens, resume=reopens, logout=self.announces("logout"))

    def vendor_capabilities(self) -> Mapping[str, Any]:
        """What is announced under `_meta` of the agent's capabilities: one's own methods, by a name of one's own."""
        return {}

    def command(self) -> Sequence[str]:
        """The command line that starts this program: what a login in a terminal runs, with arguments of its own."""
        return (sys.executable, *sys.orig_argv[1:])

    def auth_methods(self) -> Sequence[AuthMethod]:
        """The ways to log in, when there are any. Asked for again at each login and logout.

        A login in a terminal is listed as such only to a client that can do it; others are told what to run.
        """
        return ()

    def auth_required(self, message: str = "Log in first") -> RpcError:
        """The error that asks for a login, with the ways to log in; raise it in any handler or turn."""
        from duologue.agent.login import auth_required

        return auth_required(self, message)

    async def new_session(self, session: Session) -> None:
        """A session was made; prepare it (``session.state``). What is sent here follows the response."""

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        """Reopen a session, and with `replay` send its history as updates, before this returns.

        It may be one that this process still holds. Its `cwd`, `additional_directories` and `mcp_servers` are those of
        the request; when this raises they are what they were. Raise `unknown_session(session.id)` when there is none.
        """
        if self.history is None:
            raise unknown_session(session.id)
        await self.history.reopen(session, replay=replay)

    async def fork_session(self, session: Session, source_id: str) -> None:
        """Make `session`, which is new, go on from a copy of the session `source_id`, which may be a stored one. Its
        `cwd`, roots and MCP servers are those of the request. Raise `unknown_session(source_id)` when there is none."""
        raise unknown_session(source_id)

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        """A page of the sessions that a client may reopen, the last used first; without an override, of the open ones
        and those of `history`.

        `list_page` makes a page of a whole list, cursor and `cwd` included. Raise `RpcError` (-32602) for a cursor that
        is not yours.
        """
        from duologue.agent.listing import list_page, merged, open_sessions

        opened = open_sessions(self.connection)
        return list_page(opened if self.history is None else merged(opened, self.history.infos()), request)

    async def delete_session(self, session_id: str) -> None:
        """Remove a session from what is listed. It is closed by then. One that is not there is no error."""
        if self.history is not None:
            self.history.forget(session_id)

    async def close_session(self, session: Session) -> None:
        """The session was closed, or the connection ended; free what it holds."""

    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        """The config options with their present values; asked for whenever they are told."""
        return ()

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        """Change a config option. What `config_options` then returns is told to the client."""
        told = f"the config option {shortened(config_id)} cannot be changed: the agent has no set_config_option"
        raise wrong_params(told, "configId", configId=config_id)

    async def login(self, method_id: str) -> None:
        """Log in by one of `auth_methods`."""
        raise wrong_params(f"no such auth method: {shortened(method_id)}", "methodId", methodId=method_id)

    async def logout(self) -> None:
        """Log out."""
