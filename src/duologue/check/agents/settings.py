"""Modes and options."""

from __future__ import annotations

from typing import Any

from duologue.check.agents.cancelling import cancel
from duologue.check.agents.words import SLEEP
from duologue.check.bench import Bench
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said, inside
from duologue.check.watching.settings import values
from duologue.check.wire import Wire
from duologue.protocol.method import Side


async def modes(bench: Bench) -> tuple[Wire, str, list[Any], Any]:
    """A session with modes: their ids and the current one; skips the probe where there are none."""
    wire, session = await bench.session()
    for _, answer in wire.talk.answered("session/new", ours=True):
        available = inside(answer.result, "modes", "availableModes")
        if isinstance(available, list) and available:
            ids = [mode.get("id") for mode in available if isinstance(mode, dict)]
            return wire, session, ids, inside(answer.result, "modes", "currentModeId")
    raise Skipped(Reason.CAPABILITY)


async def options(bench: Bench) -> tuple[Wire, str, list[Json]]:
    """A session with options; skips the probe where there are none."""
    wire, session = await bench.session()
    for _, answer in wire.talk.answered("session/new", ours=True):
        told = answer.result.get("configOptions")
        if isinstance(told, list) and told:
            return wire, session, [option for option in told if isinstance(option, dict)]
    raise Skipped(Reason.CAPABILITY)


def setting(bench: Bench, session: str, option: Json, value: Any) -> Json:
    """The params that set an option."""
    boolean = isinstance(value, bool)
    kind = {"type": "boolean"} if boolean else {"type": "id"} if bench.version == 2 else {}
    return {"sessionId": session, "configId": name_of(bench, option), "value": value, **kind}


def name_of(bench: Bench, option: Json) -> Any:
    return option.get("id" if bench.version == 1 else "configId")


def current(answer: Said, bench: Bench) -> dict[Any, Any]:
    """The values of all options that an answer tells."""
    told = answer.result.get("configOptions")
    entries = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    return {name_of(bench, each): each.get("currentValue") for each in entries}


@probe(Side.AGENT, "v1-modes-04")
async def refuses_unknown_modes(bench: Bench) -> None:
    wire, session, _, _ = await modes(bench)
    answer = await wire.ask("session/set_mode", {"sessionId": session, "modeId": "duologue-no-mode"})
    demand("error" in answer.json, "a mode that does not exist can be set", answer)


@probe(Side.AGENT, "v1-modes-05")
async def sets_modes_at_any_time(bench: Bench) -> None:
    wire, session, ids, now = await modes(bench)
    bench.client.permission = None
    turn = bench.begin(wire, session, SLEEP)
    await turn.asked(bench.client)
    for mode in (*(each for each in ids if each != now), now):
        answer = await wire.ask("session/set_mode", {"sessionId": session, "modeId": mode})
        demand("result" in answer.json, f"the mode {mode!r} cannot be set during a turn", answer)
    cancel(bench, wire, session)
    await turn.end()


@probe(Side.AGENT, "all-config-12")
async def refuses_unknown_options(bench: Bench) -> None:
    wire, session, told = await options(bench)
    unknown = {"id": "duologue-no-option", "configId": "duologue-no-option"}
    selects = [option for option in told if option.get("type") == "select"][:1]
    for option in (unknown, *selects):
        answer = await wire.ask("session/set_config_option", setting(bench, session, option, "duologue-no-value"))
        demand("error" in answer.json, "an option or a value that does not exist can be set", answer)


@probe(Side.AGENT, "all-config-13")
async def tells_all_options(bench: Bench) -> None:
    """Each option is set to the value that it has, so that nothing changes."""
    wire, session, told = await options(bench)
    for option in told:
        value = option.get("currentValue")
        answer = await wire.ask("session/set_config_option", setting(bench, session, option, value))
        if answer.code is not None:
            raise Skipped(Reason.BUILDS_ON)
        listed = current(answer, bench)
        missing = {name_of(bench, each) for each in told} - listed.keys()
        demand(not missing, f"the answer lacks the options {', '.join(map(str, missing))}", answer)
        demand(listed[name_of(bench, option)] == value, "the answer has another value than was set", answer)


@probe(Side.AGENT, "v1-config-04")
async def takes_odd_types(bench: Bench) -> None:
    wire, session, told = await options(bench)
    select = next((option for option in told if option.get("type") == "select"), None)
    if select is None:
        raise Skipped(Reason.CAPABILITY)
    params = {**setting(bench, session, select, select.get("currentValue")), "type": "duologue"}
    answer = await wire.ask("session/set_config_option", params)
    demand("result" in answer.json, "a text under an unknown type cannot be set", answer)


@probe(Side.AGENT, "all-config-17")
async def sets_options_at_any_time(bench: Bench) -> None:
    wire, session, told = await options(bench)
    option = next((each for each in told if len(values(each)) > 0), None)
    if option is None:
        raise Skipped(Reason.CAPABILITY)
    bench.client.permission = None
    turn = bench.begin(wire, session, SLEEP)
    if await turn.asked(bench.client) is None:
        raise Skipped(Reason.NOT_OBSERVED)
    params = setting(bench, session, option, option.get("currentValue"))
    answer = await wire.ask("session/set_config_option", params)
    demand("result" in answer.json, "an option cannot be set during a turn", answer)
    cancel(bench, wire, session)
    await turn.end()
