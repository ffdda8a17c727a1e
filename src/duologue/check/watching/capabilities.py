"""What the sides say of themselves in the handshake."""

from __future__ import annotations

from duologue.check.judging import watch
from duologue.check.record import Talk, inside
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side


def _handshake(talk: Talk) -> Seen:
    """The initialize that is the program's part: the request of a client, the result of an agent."""
    for request, answer in talk.answered("initialize", ours=talk.side is Side.AGENT):
        said = answer if talk.side is Side.AGENT else request
        if talk.side is Side.CLIENT or "result" in answer.json:
            yield said, ""


def _part(talk: Talk) -> Seen:
    return (pair for pair in _handshake(talk) if (talk.version or talk.proposed) == 1)


@watch("v1-initialize-04", Side.AGENT)
def tells_capabilities(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        yield said, "" if "agentCapabilities" in said.result else "agentCapabilities is missing"


@watch("v1-initialize-05", Side.AGENT)
def says_who_it_is(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        yield said, "" if said.result.get("agentInfo") is not None else "agentInfo is missing"


@watch("v1-initialize-06", Side.AGENT)
def states_what_it_can(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        told = said.result.get("agentCapabilities")
        if isinstance(told, dict):
            missing = [name for name in ("loadSession", "promptCapabilities") if name not in told]
            yield said, f"nothing is said of {' and '.join(missing)}" if missing else ""


@watch("v1-initialize-03", Side.CLIENT)
def client_says_who_it_is(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        yield said, "" if said.params.get("clientInfo") is not None else "clientInfo is missing"


@watch("v1-initialize-06", Side.CLIENT)
def client_states_what_it_can(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        told = said.params.get("clientCapabilities")
        missing = [name for name in ("fs", "terminal") if not isinstance(told, dict) or name not in told]
        yield said, f"nothing is said of {' and '.join(missing)}" if missing else ""


@watch("v1-mcp-05", Side.AGENT)
def http_servers(talk: Talk) -> Seen:
    for said, _ in _part(talk):
        assert said is not None
        if isinstance(said.result.get("agentCapabilities"), dict):
            told = inside(said.result, "agentCapabilities", "mcpCapabilities", "http")
            yield said, "" if told is True else "MCP servers over http are not supported"


def _methods(talk: Talk) -> Seen:
    """The answers to initialize that list ways to log in through a terminal."""
    for said, _ in _handshake(talk):
        assert said is not None
        methods = said.result.get("authMethods")
        if isinstance(methods, list) and any(isinstance(m, dict) and m.get("type") == "terminal" for m in methods):
            yield said, ""


@watch("v1u-auth-01", Side.AGENT)
def terminal_login_where_offered(talk: Talk) -> Seen:
    offered = inside(talk.capabilities(Side.CLIENT), "auth", "terminal") is True
    yield from _terminal_login(talk, offered)


@watch("v2u-auth-01", Side.AGENT)
def terminal_login_where_marked(talk: Talk) -> Seen:
    offered = isinstance(inside(talk.capabilities(Side.CLIENT), "auth", "terminal"), dict)
    yield from _terminal_login(talk, offered)


def _terminal_login(talk: Talk, offered: bool) -> Seen:
    if talk.version is None:
        return
    yield None, ""
    for said, _ in _methods(talk):
        yield said, "" if offered else "a login in a terminal is listed for a client without auth.terminal"
