"""initialize: versions, capabilities of every sort, and what may come before and after."""

from __future__ import annotations

from typing import Any

from duologue.check.bench import NO_SESSION, Bench, without_login
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.check.serving import REFUSING, RICH
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side
from duologue.protocol.version import BY_NUMBER, V1, V2, added

#: Either says that something is not offered.
NOT_OFFERED = frozenset({ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_PARAMS})


async def initialize(bench: Bench, params: Json) -> Said:
    """The answer to initialize on a fresh connection."""
    wire = await bench.connect()
    return await wire.ask("initialize", params)


@probe(Side.AGENT, "all-versioning-02")
async def answers_the_proposed_version(bench: Bench) -> None:
    """Whatever else the client says; the check has seen before that the agent has the version."""
    for offered in (None, {}, RICH[bench.version]):
        answer = await initialize(bench, bench.handshake(offered))
        version = answer.result.get("protocolVersion")
        demand(version == bench.version, f"version {bench.version} was proposed and {version} answered", answer)


@probe(Side.AGENT, "all-versioning-03")
async def answers_a_version_of_its_own(bench: Bench) -> None:
    """A proposal from the future: in the newest layout, with the names of the older one beside it."""
    params = {**bench.handshake(version=1), **bench.handshake(version=2), "protocolVersion": 60000}
    answer = await initialize(bench, params)
    known = answer.result.get("protocolVersion") in BY_NUMBER
    demand(known, "an unknown version is not answered with one of the agent's own", answer)


@probe(Side.AGENT, "all-versioning-06")
async def refuses_what_is_no_version(bench: Bench) -> None:
    for wrong in ("2024-11-05", 1.5, -1, 65536):
        answer = await initialize(bench, {**bench.handshake(), "protocolVersion": wrong})
        demand(answer.code == ErrorCode.INVALID_PARAMS, f"the version {wrong!r} is not refused with -32602", answer)


@probe(Side.AGENT, "v2-versioning-01")
async def answers_in_the_layout_of_each(bench: Bench) -> None:
    other = await initialize(bench, bench.handshake(version=1))
    if other.result.get("protocolVersion") != 1:
        raise Skipped(Reason.CAPABILITY)
    wrong = {"info", "capabilities"} & other.result.keys()
    demand(not wrong, f"the answer to version 1 has {', '.join(sorted(wrong))}", other)


@probe(Side.AGENT, "all-initialize-03")
async def copes_with_all_capabilities(bench: Bench) -> None:
    for offered in (None, {}, RICH[bench.version], REFUSING[bench.version]):
        answer = await initialize(bench, bench.handshake(offered))
        demand("result" in answer.json, "a client is refused for its capabilities", answer)


@probe(Side.AGENT, "v1-initialize-07", "v2-initialize-05")
async def copes_with_odd_capabilities(bench: Bench) -> None:
    odd: dict[int, list[Any]] = {1: [{"fs": "yes", "terminal": 3}], 2: [{"elicitation": 5}, "none", None]}
    for offered in odd[bench.version]:
        params = {**bench.handshake({}), **_offer(bench, offered)}
        answer = await initialize(bench, params)
        demand("result" in answer.json, f"the capabilities {offered!r} fail the handshake", answer)


def _offer(bench: Bench, offered: Any) -> Json:
    return {"clientCapabilities" if bench.version == 1 else "capabilities": offered}


@probe(Side.AGENT, "v2-initialize-03")
async def refuses_the_nameless(bench: Bench) -> None:
    answer = await initialize(bench, {"protocolVersion": 2, "capabilities": {}})
    demand(answer.code == ErrorCode.INVALID_PARAMS, "initialize without info is not refused with -32602", answer)


@probe(Side.AGENT, "all-initialize-04")
async def needs_no_further_word(bench: Bench) -> None:
    wire = await bench.greet()
    answer = without_login(await wire.ask("session/new", bench.new()), ErrorCode.METHOD_NOT_FOUND)
    demand("result" in answer.json, "after the handshake no session can be opened", answer)


@probe(Side.AGENT, "all-initialize-05")
async def refuses_sessions_before_it(bench: Bench) -> None:
    wire = await bench.connect()
    answer = await wire.ask("session/new", bench.new())
    demand("error" in answer.json, "a session is opened before initialize", answer)


@probe(Side.AGENT, "all-initialize-06")
async def agrees_once(bench: Bench) -> None:
    wire = await bench.greet()
    again = await wire.ask("initialize", bench.handshake(version=3 - bench.version))
    version = again.result.get("protocolVersion", bench.version)
    demand(version == bench.version, f"a second initialize changes the version to {version}", again)


@probe(Side.AGENT, "v1-initialize-13", "v2-initialize-08")
async def serves_what_it_stands_for(bench: Bench) -> None:
    wire = await bench.greet()
    if bench.version == 2 and wire.talk.offered(Side.AGENT, "session") is None:
        raise Skipped(Reason.CAPABILITY)
    unknown = {"sessionId": NO_SESSION}
    calls: list[tuple[str, Json]] = [
        ("session/new", bench.new()),
        ("session/prompt", {**unknown, "prompt": [{"type": "text", "text": "Hello"}]}),
    ]
    if bench.version == 2:
        calls += [("session/resume", {**unknown, "cwd": str(bench.folder)}), ("session/close", unknown)]
        calls.append(("session/list", {}))
    for method, params in calls:
        answer = await wire.ask(method, params)
        demand(answer.code != ErrorCode.METHOD_NOT_FOUND, f"{method} is not served", answer)


@probe(Side.AGENT, "v2-initialize-07")
async def serves_no_sessions_unsaid(bench: Bench) -> None:
    wire = await bench.greet()
    if wire.talk.offered(Side.AGENT, "session") is not None:
        raise Skipped(Reason.CAPABILITY)
    answer = await wire.ask("session/new", bench.new())
    demand("error" in answer.json, "session/new is served without the capability session", answer)


@probe(Side.AGENT, "v2-session-03", "all-session-11")
async def lists_sessions(bench: Bench) -> None:
    wire = await bench.greet()
    bench.need(wire, v1=("sessionCapabilities", "list"), v2=("session",))
    answer = await wire.ask("session/list", {})
    unserved = bench.version == 2 and answer.code == ErrorCode.METHOD_NOT_FOUND
    if unserved or answer.code == ErrorCode.AUTH_REQUIRED:
        raise Skipped(Reason.BUILDS_ON)
    demand("result" in answer.json, "session/list fails", answer)


@probe(Side.AGENT, "v1-versioning-01", "v2-versioning-04")
async def serves_one_version_only(bench: Bench) -> None:
    """The methods of the other version, under params that would do."""
    wire = await bench.greet()
    here, there = (V1, V2) if bench.version == 1 else (V2, V1)
    params = {"sessionId": NO_SESSION, "cwd": str(bench.folder), "mcpServers": [], "methodId": "none", "modeId": "none"}
    for name in sorted(key.name for key in added(here, there) if key.receiver is Side.AGENT and key.answered):
        answer = await wire.ask(name, params)
        demand(answer.code == ErrorCode.METHOD_NOT_FOUND, f"{name} is served in version {bench.version}", answer)


@probe(Side.AGENT, "all-errors-07")
async def serves_nothing_unsaid(bench: Bench) -> None:
    wire = await bench.greet()
    unknown = {"sessionId": NO_SESSION, "cwd": str(bench.folder), "mcpServers": []}
    gates: dict[int, list[tuple[str, tuple[str, ...]]]] = {
        1: [
            ("session/load", ("loadSession",)),
            *((f"session/{name}", ("sessionCapabilities", name)) for name in ("resume", "list", "close", "delete")),
        ],
        2: [("session/delete", ("session", "delete")), ("session/fork", ("session", "fork"))],
    }
    left_out = [method for method, path in gates[bench.version] if not wire.talk.offers(Side.AGENT, *path)]
    if not left_out:
        raise Skipped(Reason.CAPABILITY)
    for method in left_out:
        answer = await wire.ask(method, unknown)
        demand(answer.code in NOT_OFFERED, f"{method} is served without its capability", answer)
