"""What the sides say of themselves in the handshake."""

from __future__ import annotations

from collections.abc import Iterator

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk, inside
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side


def _handshake(talk: Talk) -> Iterator[Said]:
    """What of initialize is the program's part: the request of a client, the result of an agent."""
    for request, answer in talk.answered("initialize", ours=talk.side is Side.AGENT):
        if talk.side is Side.CLIENT:
            yield request
        elif "result" in answer.json:
            yield answer


def _part(talk: Talk) -> Iterator[tuple[Said, Json]]:
    """The same of version 1, each with its content."""
    if (talk.version or talk.proposed) == 1:
        for said in _handshake(talk):
            yield said, said.result if talk.side is Side.AGENT else said.params


@watch("v1-initialize-04", Side.AGENT)
def tells_capabilities(talk: Talk) -> Seen:
    for said, part in _part(talk):
        yield said, "" if "agentCapabilities" in part else "agentCapabilities is missing"


@watch("v1-initialize-05", Side.AGENT)
@watch("v1-initialize-03", Side.CLIENT)
def says_who_it_is(talk: Talk) -> Seen:
    name = f"{talk.side.value}Info"
    for said, part in _part(talk):
        yield said, "" if part.get(name) is not None else f"{name} is missing"


#: What each side has to say of itself, whether it can or not.
STATED = {Side.AGENT: ("loadSession", "promptCapabilities"), Side.CLIENT: ("fs", "terminal")}


@watch("v1-initialize-06", Side.AGENT, Side.CLIENT)
def states_what_it_can(talk: Talk) -> Seen:
    for said, part in _part(talk):
        told = part.get(f"{talk.side.value}Capabilities", {} if talk.side is Side.CLIENT else None)
        # An agent without any breaks another requirement; a client may leave them out.
        if isinstance(told, dict):
            missing = [name for name in STATED[talk.side] if name not in told]
            yield said, f"nothing is said of {' and '.join(missing)}" if missing else ""


@watch("v1-mcp-05", Side.AGENT)
def http_servers(talk: Talk) -> Seen:
    for said, part in _part(talk):
        if isinstance(part.get("agentCapabilities"), dict):
            told = inside(part, "agentCapabilities", "mcpCapabilities", "http")
            yield said, "" if told is True else "MCP servers over http are not supported"


def _methods(talk: Talk) -> Seen:
    """The answers to initialize that list ways to log in through a terminal."""
    for said in _handshake(talk):
        methods = said.result.get("authMethods")
        if isinstance(methods, list) and any(isinstance(m, dict) and m.get("type") == "terminal" for m in methods):
            yield said, ""


@watch("v1u-auth-01", Side.AGENT)
def terminal_login_where_offered(talk: Talk) -> Seen:
    offered = talk.offered(Side.CLIENT, "auth", "terminal") is True
    yield from _terminal_login(talk, offered)


@watch("v2u-auth-01", Side.AGENT)
def terminal_login_where_marked(talk: Talk) -> Seen:
    offered = isinstance(talk.offered(Side.CLIENT, "auth", "terminal"), dict)
    yield from _terminal_login(talk, offered)


def _terminal_login(talk: Talk, offered: bool) -> Seen:
    if talk.version is None:
        return
    yield None, ""
    for said, _ in _methods(talk):
        yield said, "" if offered else "a login in a terminal is listed for a client without auth.terminal"
