"""MCP servers that a client lends over the connection, and providers that it configures."""

from __future__ import annotations

from duologue.check.judging import watch
from duologue.check.record import Talk, inside
from duologue.check.watching.lines import EITHER, Seen
from duologue.check.watching.sessions import OPENING, calls_where_offered
from duologue.protocol.method import Side

# --- MCP --------------------------------------------------------------------------------------------------------------


@watch("allu-mcp-01", Side.CLIENT)
def one_server_an_id(talk: Talk) -> Seen:
    names: dict[object, object] = {}
    for said in talk.theirs:
        servers = said.params.get("mcpServers") if said.method in OPENING else None
        here: set[object] = set()
        for server in servers if isinstance(servers, list) else []:
            if inside(server, "type") == "acp":
                id, name = str(server.get("serverId")), server.get("name")
                twice = id in here or names.setdefault(id, name) != name
                here.add(id)
                yield said, "two servers have one serverId" if twice else ""


@watch("allu-mcp-03", Side.CLIENT)
def connections_told_apart(talk: Talk) -> Seen:
    seen: set[object] = set()
    for _, answer in talk.answered("mcp/connect", ours=True):
        id = answer.result.get("connectionId")
        if isinstance(id, str):
            yield answer, "two connections have one connectionId" if id in seen else ""
            seen.add(id)


@watch("allu-mcp-05", *EITHER)
def requests_and_notifications(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method == "mcp/message" and isinstance(inner := said.params.get("method"), str):
            tells = inner.startswith("notifications/")
            problem = f"{inner} of MCP is sent as a {'request' if said.asks else 'notification'}"
            yield said, problem if tells is said.asks else ""


@watch("allu-mcp-09", Side.AGENT)
def nothing_after_the_end(talk: Talk) -> Seen:
    ended: set[str] = set()
    for said in talk.theirs:
        id = str(said.params.get("connectionId"))
        if said.method in {"mcp/message", "mcp/disconnect"}:
            yield said, f"{said.method} is about a connection that was ended" if id in ended else ""
        if said.method == "mcp/disconnect":
            ended.add(id)


# --- providers --------------------------------------------------------------------------------------------------------

PROVIDERS = frozenset({"providers/list", "providers/set", "providers/disable"})


@watch("allu-providers-01", Side.CLIENT)
def providers_where_offered(talk: Talk) -> Seen:
    calls = [said for said in talk.theirs if said.method in PROVIDERS]
    return calls_where_offered(talk, "providers", calls, "providers are not offered")


@watch("allu-providers-09", Side.CLIENT)
def required_providers_stay(talk: Talk) -> Seen:
    required: set[object] = set()
    for _, answer in talk.answered("providers/list", ours=False):
        told = answer.result.get("providers")
        listed = told if isinstance(told, list) else []
        required |= {str(inside(each, "providerId")) for each in listed if inside(each, "required") is True}
    for said in talk.theirs:
        if said.method == "providers/disable":
            wrong = str(said.params.get("providerId")) in required
            yield said, "a required provider is to be switched off" if wrong else ""


@watch("allu-providers-10", Side.CLIENT)
def providers_before_sessions(talk: Talk) -> Seen:
    opened = False
    for said in talk.theirs:
        opened = opened or said.method in OPENING
        if said.method == "providers/set":
            yield said, "a provider is set after a session was opened" if opened else ""
