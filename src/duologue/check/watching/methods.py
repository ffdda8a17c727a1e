"""Methods: which a program may call at all, and which only when the other side offers them."""

from __future__ import annotations

from duologue.check.judging import watch
from duologue.check.record import Said, Talk, inside
from duologue.check.watching.lines import EITHER, Seen
from duologue.protocol.method import Key, Side
from duologue.protocol.version import BY_NUMBER, V1, V2

#: Names that circulate and are not ACP.
RUMOURED = (
    "initialized",
    "session/release",
    "session/abort",
    "session/set_environment",
    "terminal/start",
    "terminal/wait",
    "agent/permissions/list",
    "workspace/diagnostics",
)


def _names(version: int, receiver: Side) -> set[str]:
    return {key.name for key in BY_NUMBER[version].methods if key.receiver is receiver}


@watch("all-jsonrpc-20", *EITHER)
def json_rpc_names(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method is not None:
            yield said, "a method begins with rpc." if said.method.startswith("rpc.") else ""


@watch("all-jsonrpc-21", *EITHER)
def rumours(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method is not None:
            yield said, f"{said.method} is not ACP" if said.method in RUMOURED else ""


@watch("all-extensibility-06", *EITHER)
def own_methods(talk: Talk) -> Seen:
    known = _names(1, talk.side.other) | _names(2, talk.side.other) | set(RUMOURED)
    for said in talk.theirs:
        if said.method is not None:
            own = said.method.startswith(("_", "rpc.")) or said.method in known
            yield said, "" if own else f"{said.method} is not ACP and has no underscore in front"


@watch("all-versioning-05", *EITHER)
def only_the_agreed_version(talk: Talk) -> Seen:
    if talk.version is None or talk.version not in BY_NUMBER:
        return
    here, elsewhere = _names(talk.version, talk.side.other), _names(3 - talk.version, talk.side.other)
    for said in talk.theirs:
        if said.method is not None and not said.method.startswith("fs/"):
            wrong = said.method in elsewhere - here
            yield said, f"{said.method} is not in version {talk.version}" if wrong else ""


@watch("v2-fs-01", Side.AGENT)
def no_files_in_v2(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method is not None:
            yield said, f"{said.method} is not in version 2" if said.method.startswith("fs/") else ""


@watch("v1-fs-01", Side.AGENT)
def files_where_offered(talk: Talk) -> Seen:
    yield from _gated(talk, "fs/read_text_file", ("fs", "readTextFile"))
    yield from _gated(talk, "fs/write_text_file", ("fs", "writeTextFile"))


@watch("v1-terminal-01", Side.AGENT)
def terminals_where_offered(talk: Talk) -> Seen:
    yield from _gated(talk, "terminal/create", ("terminal",))


def _gated(talk: Talk, method: str, path: tuple[str, ...]) -> Seen:
    """Calls of a method whose capability is not true, though it was mentioned."""
    offered = talk.offered(Side.CLIENT, *path)
    calls = [said for said in talk.theirs if said.method == method]
    if offered is not None:
        for said in calls:
            yield said, "" if offered is True else f"{method} is called although {'.'.join(path)} is not true"
        if not calls and offered is not True:
            yield None, ""


@watch("all-initialize-02", Side.AGENT)
def nothing_unmentioned(talk: Talk) -> Seen:
    offered = talk.capabilities(Side.CLIENT)
    gates = {"fs/read_text_file": "fs", "fs/write_text_file": "fs", "terminal/create": "terminal"}
    gates["elicitation/create"] = "elicitation"
    if talk.version in BY_NUMBER and gates.values() - offered.keys():
        yield None, ""
    for said in talk.theirs:
        gate = gates.get(said.method or "")
        if gate is not None and gate not in offered and Key(Side.CLIENT, said.method or "", True) in V1.methods:
            wrong = talk.version == 1 or said.method == "elicitation/create"
            yield said, f"{said.method} is called although {gate} was not mentioned" if wrong else ""


@watch("all-elicitation-01", Side.AGENT)
def modes_offered(talk: Talk) -> Seen:
    yield from _modes(talk, empty=False)


@watch("all-elicitation-02", Side.AGENT)
def no_mode_offered(talk: Talk) -> Seen:
    yield from _modes(talk, empty=True)


def _modes(talk: Talk, *, empty: bool) -> Seen:
    offered = talk.capabilities(Side.CLIENT).get("elicitation")
    if not isinstance(offered, dict) or empty is any(isinstance(each, dict) for each in offered.values()):
        return
    yield None, ""
    for said in talk.theirs:
        if said.method == "elicitation/create" and (mode := said.params.get("mode")) in {"form", "url"}:
            yield said, "" if isinstance(offered.get(mode), dict) else f"the mode {mode} was not offered"


@watch("v2-versioning-03", Side.AGENT)
def nothing_unstable(talk: Talk) -> Seen:
    unstable = {method.name for method in V2.unstable if Side.CLIENT in method.receivers}
    lent = any(_lends(said) for said in talk.said if said.ours)
    for said in talk.theirs:
        if said.method is not None and talk.version == 2:
            wrong = said.method in unstable and not lent
            yield said, f"{said.method} is not stable and was not offered" if wrong else ""


def _lends(said: Said) -> bool:
    """Whether a session is opened with an MCP server of the client itself."""
    servers = said.params.get("mcpServers")
    return isinstance(servers, list) and any(inside(each, "type") == "acp" for each in servers)
