"""Logging in, as far as it can be tried without an account."""

from __future__ import annotations

from duologue.check.bench import Bench
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


async def with_logins(bench: Bench) -> Wire:
    """A connection to an agent that lists ways to log in; skips the probe where there are none."""
    wire = await bench.greet()
    for _, answer in wire.talk.answered("initialize", ours=True):
        if not answer.result.get("authMethods"):
            raise Skipped(Reason.CAPABILITY)
    return wire


@probe(Side.AGENT, "v1-auth-05")
async def refuses_unlisted_logins(bench: Bench) -> None:
    wire = await with_logins(bench)
    answer = await wire.ask("authenticate", {"methodId": "duologue-unlisted"})
    demand(answer.code == ErrorCode.INVALID_PARAMS, "a methodId that is not listed is not refused with -32602", answer)


@probe(Side.AGENT, "v2-auth-02")
async def serves_login(bench: Bench) -> None:
    """Under a name that is not listed, so that nobody is logged in or out."""
    wire = await with_logins(bench)
    answer = await wire.ask("auth/login", {"methodId": "duologue-unlisted"})
    demand(answer.code != ErrorCode.METHOD_NOT_FOUND, "auth/login is not served", answer)
