"""Providers of models, which a client may point elsewhere."""

from __future__ import annotations

from typing import Any

from duologue.check.agents.endpoint import Endpoint
from duologue.check.agents.words import HELLO
from duologue.check.bench import Bench, items_of
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.providers import LlmProtocol
from duologue.protocol.method import Side

#: A header that is found wherever it turns up, and an address where nobody is.
SECRET = {"X-Duologue-Check": "duologue-secret-header"}
NOWHERE = "http://127.0.0.1:9/duologue-check"


async def providers(bench: Bench) -> tuple[Wire, list[Json]]:
    """A connection to an agent with providers, and those; skips the probe where it has none."""
    wire = await bench.greet()
    bench.need(wire, v1=("providers",), v2=("providers",))
    found = await told(wire)
    if not found:
        raise Skipped(Reason.NOT_OBSERVED)
    return wire, found


async def told(wire: Wire) -> list[Json]:
    """The providers as they are now."""
    return (await items_of(wire, "providers/list", "providers"))[1]


def pointing(provider: Json, url: str, **more: Any) -> Json:
    """The params that point a provider at an address."""
    spoken = [each for each in provider.get("supported") or [] if isinstance(each, str)]
    if not spoken:
        raise Skipped(Reason.NOT_OBSERVED)
    return {"providerId": provider.get("providerId"), "apiType": spoken[0], "baseUrl": url, **more}


async def point(wire: Wire, provider: Json, url: str, **more: Any) -> Said:
    """Point a provider at an address; skips the probe where that fails."""
    answer = await wire.ask("providers/set", pointing(provider, url, **more))
    if answer.code is not None:
        raise Skipped(Reason.BUILDS_ON)
    return answer


def optional(found: list[Json]) -> Json:
    """A provider that can be switched off."""
    return _first(found, required=False)


def _first(found: list[Json], *, required: bool) -> Json:
    for provider in found:
        if (provider.get("required") is True) is required:
            return provider
    raise Skipped(Reason.NOT_OBSERVED)


@probe(Side.AGENT, "allu-providers-02")
async def says_that_it_has_providers(bench: Bench) -> None:
    wire = await bench.greet()
    if isinstance(wire.talk.offered(Side.AGENT, "providers"), dict):
        raise Skipped(Reason.CAPABILITY)
    answer = await wire.ask("providers/list")
    demand("error" in answer.json, "providers/list is served and the capability providers is missing", answer)


@probe(Side.AGENT, "allu-providers-05")
async def keeps_headers_to_itself(bench: Bench) -> None:
    wire, found = await providers(bench)
    answer = await point(wire, found[0], NOWHERE, headers=SECRET)
    await told(wire)
    loud = [said for said in wire.talk.theirs if SECRET["X-Duologue-Check"] in str(said.json)]
    demand(not loud, "a header that was set is told again", answer, *loud)


@probe(Side.AGENT, "allu-providers-07")
async def refuses_wrong_settings(bench: Bench) -> None:
    wire, found = await providers(bench)
    good = pointing(found[0], NOWHERE)
    unspoken = [each.value for each in LlmProtocol if each.value not in found[0]["supported"]]
    wrong = [{**good, "providerId": "duologue-no-provider"}, {**good, "baseUrl": 5}]
    wrong += [{**good, "apiType": each} for each in unspoken[:1]]
    for params in wrong:
        answer = await wire.ask("providers/set", params)
        demand(
            answer.code == ErrorCode.INVALID_PARAMS, "wrong settings of a provider are not refused with -32602", answer
        )


@probe(Side.AGENT, "allu-providers-15")
async def survives_unknown_types(bench: Bench) -> None:
    wire, found = await providers(bench)
    await wire.ask("providers/set", {**pointing(found[0], NOWHERE), "apiType": "_duologue"})
    await wire.ask("providers/list")


@probe(Side.AGENT, "allu-providers-08")
async def keeps_what_is_required(bench: Bench) -> None:
    wire, found = await providers(bench)
    provider = _first(found, required=True)
    answer = await wire.ask("providers/disable", {"providerId": provider.get("providerId")})
    demand(
        answer.code == ErrorCode.INVALID_PARAMS, "switching a required provider off is not refused with -32602", answer
    )


@probe(Side.AGENT, "allu-providers-11")
async def switches_nothing_off(bench: Bench) -> None:
    wire, _ = await providers(bench)
    answer = await wire.ask("providers/disable", {"providerId": "duologue-no-provider"})
    demand("result" in answer.json, "switching an unknown provider off fails", answer)


@probe(Side.AGENT, "allu-providers-12")
async def lists_what_is_off(bench: Bench) -> None:
    wire, found = await providers(bench)
    id = optional(found).get("providerId")
    answer = await wire.ask("providers/disable", {"providerId": id})
    if answer.code is not None:
        raise Skipped(Reason.BUILDS_ON)
    left = [each for each in await told(wire) if each.get("providerId") == id]
    demand(left, "a provider that was switched off is not listed any more", answer)
    demand(left[0].get("current") is None, "a provider that was switched off is listed as if it were on", answer)


@probe(Side.AGENT, "allu-providers-14")
async def forgets_settings(bench: Bench) -> None:
    wire, found = await providers(bench)
    await point(wire, found[0], NOWHERE)
    await wire.close()
    again, later = await providers(bench)
    kept = [each for each in later if NOWHERE in str(each.get("current"))]
    demand(not kept, "settings of providers outlive the agent", again.talk.said[-1])


@probe(Side.AGENT, "allu-providers-13", "allu-providers-06", "allu-providers-04")
async def asks_where_it_is_pointed(bench: Bench) -> None:
    """All providers go to an endpoint of the check, which refuses what it is asked; then to another one, then off."""
    wire, found = await providers(bench)
    async with Endpoint() as first, Endpoint() as second:
        await _pointed(bench, wire, found, first, headers=SECRET)
        if not first.requests:
            raise Skipped(Reason.NOT_OBSERVED)
        seen = len(first.requests)
        last = await _pointed(bench, wire, found, second)
        kept = any(SECRET["X-Duologue-Check"] in request for request in second.requests)
        bench.note(
            "allu-providers-06", "headers of before are sent after providers/set without any" if kept else "", last
        )
        await _switched_off(bench, wire, found, second)
        stale = len(first.requests) > seen or not second.requests
        demand(not stale, "a session that was opened after providers/set does not use it", last)


async def _pointed(bench: Bench, wire: Wire, found: list[Json], endpoint: Endpoint, **more: Any) -> Said:
    """Point each provider at a place of its own at an endpoint, and have a turn in a new session."""
    for number, each in enumerate(found):
        answer = await point(wire, each, f"{endpoint.url}/{number}", **more)
    await _try(bench, wire)
    return answer


async def _switched_off(bench: Bench, wire: Wire, found: list[Json], endpoint: Endpoint) -> None:
    """Switch off what was asked, as far as that can be, and have a turn."""
    asked = [
        (number, each)
        for number, each in enumerate(found)
        if endpoint.asked(f"/{number}") and each.get("required") is not True
    ]
    if not asked:
        bench.note("allu-providers-04", reason=Reason.NOT_OBSERVED)
        return
    for _, each in asked:
        answer = await wire.ask("providers/disable", {"providerId": each.get("providerId")})
    heard = len(endpoint.requests)
    await _try(bench, wire)
    busy = any(endpoint.asked(f"/{number}", since=heard) for number, _ in asked)
    bench.note("allu-providers-04", "a provider that is switched off is asked" if busy else "", answer)


async def _try(bench: Bench, wire: Wire) -> None:
    """A turn in a new session, however it ends."""
    session = await bench.open(wire)
    await bench.begin(wire, session, HELLO).end()
