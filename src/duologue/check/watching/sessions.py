"""Sessions: which there are, what is told about them, and what a client may ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk, inside
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side

OPENING = frozenset({"session/new", "session/load", "session/resume", "session/fork"})


def calls_where_offered(talk: Talk, member: str, calls: Sequence[Said], missing: str) -> Seen:
    """Calls that only a capability of the agent allows, or sessions that went without them where it is not offered."""
    offered = isinstance(talk.capabilities(Side.AGENT).get(member), dict)
    for said in calls:
        yield said, "" if offered else f"{said.method} is called and {missing}"
    if not offered and not calls and any(said.method in OPENING for said in talk.theirs):
        yield None, ""


@watch("all-updates-02", Side.AGENT)
def known_sessions(talk: Talk) -> Seen:
    known = set()
    for said in talk.said:
        if said.ours and said.asks and said.method in OPENING:
            known.add(said.session)
        if said.answers and (request := talk.request_of(said)) is not None and request.method in OPENING:
            known.add(said.result.get("sessionId"))
        if said.update:
            yield said, "" if said.session in known else "the update is about a session that nobody opened"


@watch("all-session-02", Side.AGENT)
def ids_differ(talk: Talk) -> Seen:
    seen: set[object] = set()
    for _, answer in talk.answered("session/new", ours=True):
        if "result" in answer.json:
            id = answer.result.get("sessionId")
            yield answer, "two sessions have one id" if id in seen else ""
            seen.add(id)


# --- what clients ask -------------------------------------------------------------------------------------------------


@watch("v1-initialize-01", Side.CLIENT)
def handshake_first(talk: Talk) -> Seen:
    first = next((said for said in talk.theirs if said.asks), None)
    if first is not None:
        yield first, "" if first.method == "initialize" else f"{first.method} comes before initialize"


@watch("all-session-01", Side.CLIENT)
def sessions_after_the_handshake(talk: Talk) -> Seen:
    shaken = False
    for said in talk.said:
        if said.ours and said.answers and (request := talk.request_of(said)) and request.method == "initialize":
            shaken = True
        if not said.ours and said.method in OPENING:
            yield said, "" if shaken else f"{said.method} comes before the answer to initialize"


#: What the agent has to offer for a client to call a method: the paths in version 1 and in version 2.
GATES = (
    ("v1-session-03", "session/load", ("loadSession",), None),
    ("v1-session-10", "session/resume", ("sessionCapabilities", "resume"), None),
    ("v1-session-15", "session/close", ("sessionCapabilities", "close"), None),
    ("v1-session-16", "session/list", ("sessionCapabilities", "list"), None),
    ("all-session-21", "session/delete", ("sessionCapabilities", "delete"), ("session", "delete")),
    ("v1-auth-07", "logout", ("auth", "logout"), None),
    ("v1u-session-01", "session/fork", ("sessionCapabilities", "fork"), None),
    ("v2u-session-01", "session/fork", None, ("session", "fork")),
)


def _gate(row: str, method: str, v1: tuple[str, ...] | None, v2: tuple[str, ...] | None) -> None:
    @watch(row, Side.CLIENT)
    def gated(talk: Talk) -> Seen:
        path = v1 if talk.version == 1 else v2
        if path is None:
            return
        offered = talk.offers(Side.AGENT, *path)
        calls = [said for said in talk.theirs if said.method == method]
        if talk.version is not None and not offered and any(said.method in OPENING for said in talk.theirs):
            yield None, ""
        for said in calls:
            yield said, "" if offered else f"{method} is called although {'.'.join(path)} is not offered"


for gate in GATES:
    _gate(*gate)


@watch("all-session-24", Side.CLIENT)
def directories_where_offered(talk: Talk) -> Seen:
    path = ("sessionCapabilities",) if talk.version == 1 else ("session",)
    offered = talk.offered(Side.AGENT, *path, "additionalDirectories") is not None
    for said in _opened(talk):
        sent = said.params.get("additionalDirectories")
        yield said, "additionalDirectories are sent and not offered" if sent and not offered else ""


@watch("all-session-26", Side.CLIENT)
def directories_once(talk: Talk) -> Seen:
    for said in _opened(talk):
        sent = said.params.get("additionalDirectories")
        if isinstance(sent, list) and sent:
            twice = len({str(each) for each in [*sent, said.params.get("cwd")]}) <= len(sent)
            yield said, "a directory is told twice" if twice else ""


@watch("v1-session-12", Side.CLIENT)
def resumes_with_servers(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method == "session/resume":
            yield said, "" if "mcpServers" in said.params else "mcpServers is missing"


@watch("v1-mcp-04", Side.CLIENT)
def servers_where_offered(talk: Talk) -> Seen:
    yield from _servers(talk, ("mcpCapabilities",), ("http", "sse"))


@watch("v2-mcp-02", Side.CLIENT)
def servers_where_marked(talk: Talk) -> Seen:
    yield from _servers(talk, ("session", "mcp"), ("stdio", "http"))


@watch("v1u-mcp-01", Side.CLIENT)
def acp_servers_where_offered(talk: Talk) -> Seen:
    yield from _servers(talk, ("mcpCapabilities",), ("acp",))


@watch("v2u-mcp-01", Side.CLIENT)
def acp_servers_where_marked(talk: Talk) -> Seen:
    yield from _servers(talk, ("session", "mcp"), ("acp",))


def _servers(talk: Talk, path: tuple[str, ...], kinds: tuple[str, ...]) -> Seen:
    offered = talk.offered(Side.AGENT, *path)
    for said in _opened(talk):
        for server in said.params.get("mcpServers") or []:
            kind = server.get("type") if isinstance(server, dict) else None
            if kind in kinds:
                there = isinstance(offered, dict) and offered.get(kind) not in (None, False)
                yield said, "" if there else f"an MCP server over {kind} is sent and not offered"
        yield None, ""


def _opened(talk: Talk) -> Iterator[Said]:
    return (said for said in talk.theirs if said.method in OPENING)


# --- sessions that were listed ----------------------------------------------------------------------------------------


@watch("all-session-15", Side.CLIENT)
def cursors_as_they_came(talk: Talk) -> Seen:
    given: set[str] = set()
    for said in talk.said:
        if said.ours and isinstance(cursor := said.result.get("nextCursor"), str):
            given.add(cursor)
        elif said.method == "session/list" and not said.ours and (cursor := said.params.get("cursor")) is not None:
            yield said, "" if cursor in given else "the cursor is none that was given on this connection"


@watch("all-session-29", Side.CLIENT)
def roots_told_again(talk: Talk) -> Seen:
    for said, listed in _reopened(talk):
        told, now = (each.get("additionalDirectories") or [] for each in (listed, said.params))
        if told:
            yield said, "" if now == told else "the further roots are not those that were listed"


@watch("all-session-30", Side.CLIENT)
def folder_told_again(talk: Talk) -> Seen:
    for said, listed in _reopened(talk):
        yield said, "" if said.params.get("cwd") == listed.get("cwd") else "the cwd is not the one that was listed"


def _reopened(talk: Talk) -> Iterator[tuple[Said, Json]]:
    """Requests that open a session again, each with what the agent's list told of it before."""
    listed: dict[str, Json] = {}
    for said in talk.said:
        request = talk.request_of(said) if said.ours and said.answers else None
        if request is not None and request.method == "session/list":
            sessions = said.result.get("sessions")
            for each in sessions if isinstance(sessions, list) else []:
                listed[str(inside(each, "sessionId"))] = each
        if said.method in {"session/load", "session/resume"} and (known := listed.get(str(said.session))):
            yield said, known


@watch("v2-jsonrpc-09", Side.CLIENT)
def outside_of_batches(talk: Talk) -> Seen:
    changing = {"initialize", "auth/login", "session/new", "session/resume", "session/prompt"}
    for said in talk.theirs:
        if said.method in changing:
            yield said, f"{said.method} is part of a batch" if isinstance(said.line.json, list) else ""


# --- answers to an agent ----------------------------------------------------------------------------------------------


@watch("all-prompt-01", Side.CLIENT)
def blocks_where_offered(talk: Talk) -> Seen:
    path = ("promptCapabilities",) if talk.version == 1 else ("session", "prompt")
    offered = talk.offered(Side.AGENT, *path)
    gates = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
    for said in talk.theirs:
        prompt = said.params.get("prompt")
        if said.method == "session/prompt" and isinstance(prompt, list):
            kinds = {block.get("type") for block in prompt if isinstance(block, dict)}
            unasked = [kind for kind, gate in gates.items() if kind in kinds and not inside(offered, gate)]
            unasked = [kind for kind in unasked if not isinstance(inside(offered, gates[kind]), dict)]
            yield said, f"{' and '.join(sorted(unasked))} blocks are sent and not offered" if unasked else ""


@watch("all-permissions-02", Side.CLIENT)
def picks_what_was_offered(talk: Talk) -> Seen:
    for question, answer in talk.answered("session/request_permission", ours=True):
        picked = inside(answer.result, "outcome", "optionId")
        options = [each.get("optionId") for each in question.params.get("options") or [] if isinstance(each, dict)]
        if picked is not None:
            yield answer, "" if picked in options else "the optionId was not offered"


@watch("all-permissions-04", Side.CLIENT)
def cancels_open_questions(talk: Talk) -> Seen:
    open_: dict[int, Said] = {}
    cancelled: set[int] = set()
    for said in talk.said:
        if said.method == "session/request_permission" and said.ours:
            open_[id(said)] = said
        elif said.method == "session/cancel" and not said.ours:
            cancelled |= {key for key, question in open_.items() if question.session == said.session}
        elif said.answers and not said.ours and (question := talk.request_of(said)) is not None:
            open_.pop(id(question), None)
            if id(question) in cancelled:
                sound = inside(said.result, "outcome", "outcome") == "cancelled"
                yield said, "" if sound else "a question that was open at the cancel is not answered with cancelled"
