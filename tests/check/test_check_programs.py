"""The check on real processes: what only a process shows, a few mutants, and a sound program of ours on either side."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from check_kit import PATIENCE, broken

from duologue.check.bench import Bench
from duologue.check.clients.starting import launcher
from duologue.check.judging import PROBES, Failed
from duologue.check.programs import check_program
from duologue.check.run import Choice, look_over, try_one
from duologue.check.verdict import Status
from duologue.protocol.method import Side
from duologue.transports.base import TransportError
from duologue.transports.spawn import SpawnTransport

ECHO = [sys.executable, "-m", "duologue.testing"]
# Answers initialize and stays when its stdin has ended.
DEAF_AGENT = """
import sys, time
sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}', flush=True)
while True:
    time.sleep(60)
"""


# Never stops talking once it was spoken to, in lines of so many bytes.
FLOODING_AGENT = """
import sys
sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}', flush=True)
while True:
    sys.stdout.write('{"jsonrpc":"2.0","method":"_flood","params":{"text":"%s"}}\\n' % ("x" * int(sys.argv[1])))
"""


def bench_of(command: list[str], grace: float) -> Callable[[int, Path, str], Bench]:
    def make(version: int, folder: Path, title: str) -> Bench:
        return Bench(lambda: SpawnTransport(command, grace_seconds=grace), version, PATIENCE, folder, title)

    return make


async def broken_by(command: list[str], row: str, version: int, grace: float = PATIENCE) -> set[str]:
    """The rows that are found broken by the probe of one."""
    (probe,) = (each for each in PROBES if each.side is Side.AGENT and row in each.rows)
    findings, talks = await try_one(bench_of(command, grace), probe, version)
    return set(broken([*findings, *(finding for talk in talks for finding in look_over(talk))]))


async def test_an_agent_that_ends_with_its_stdin_is_found_sound() -> None:
    assert await broken_by(ECHO, "all-framing-09", 2) == set()


async def test_an_agent_that_outlives_its_stdin_is_found() -> None:
    found = await broken_by([sys.executable, "-c", DEAF_AGENT], "all-framing-09", 1, grace=0.3)
    assert "all-framing-09" in found


@pytest.mark.parametrize(("size", "most"), [("100000", "16 MiB"), ("1", "20000 lines")])
async def test_an_agent_that_floods_is_cut_off(size: str, most: str) -> None:
    (probe,) = (each for each in PROBES if each.side is Side.AGENT and "all-jsonrpc-07" in each.rows)
    findings, talks = await try_one(bench_of([sys.executable, "-c", FLOODING_AGENT, size], PATIENCE), probe, 1)
    assert f"more than {most} were sent, and the check stopped reading" in broken(findings)["all-jsonrpc-07"]
    assert len(talks[0].lines) < 20_010


@pytest.mark.parametrize(
    ("fault", "row"), [("noise", "all-framing-03"), ("bad_utf8", "all-framing-01"), ("wrong_ids", "all-jsonrpc-02")]
)
async def test_a_program_that_misbehaves_is_found(fault: str, row: str) -> None:
    assert await broken_by([*ECHO, fault], "all-jsonrpc-07", 2) == {row}


async def test_our_own_client_keeps_what_is_asked_of_it() -> None:
    own = [sys.executable, "-m", "duologue", "run", "--agent", "{agent}", "--reject", "hello"]
    report = await check_program("client", own, Choice((1,), frozenset({"all-jsonrpc-12"})), PATIENCE)
    assert [verdict.status for verdict in report.verdicts] == [Status.PASS]


async def test_a_client_of_another_version_is_not_judged() -> None:
    own = [sys.executable, "-m", "duologue", "run", "--agent", "{agent}", "--reject", "hello"]
    with pytest.raises(Failed, match="proposes version 1"):
        await check_program("client", own, Choice((2,)), PATIENCE)


async def test_a_client_that_starts_no_agent_is_told_apart() -> None:
    idle = [sys.executable, "-S", "-c", "import sys; sys.exit('no such program: ' + sys.argv[1][:3])", "{agent}"]
    with pytest.raises(Failed, match="did not start its agent") as caught:
        await check_program("client", idle, Choice(), 2)
    assert "sh -c 'some-client {agent}'" in str(caught.value) and "no such program: " in str(caught.value)


def test_a_client_needs_a_place_for_its_agent() -> None:
    with pytest.raises(ValueError, match="agent"):
        launcher(["some-client"])


async def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(TransportError, match="duologue-nowhere"):
        await check_program("agent", ["duologue-nowhere"], Choice(), PATIENCE)
