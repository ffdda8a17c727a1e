"""Probes of clients: each finds what it is for, and nothing wrong with a sound client."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_kit import PATIENCE, Wrap, broken
from live_client_mutants import CLIENT_LIVE, ClientMutant
from live_mutants import SHORT, deaf_after
from sample_client import sample_client

from duologue.check.clients.bench import ClientBench
from duologue.check.judging import Probe
from duologue.check.reason import Reason
from duologue.check.run import Choice, look_over, try_one
from duologue.check.verdict import Finding
from duologue.protocol.method import Side

PROBES = [(probe, version) for version in (1, 2) for probe in Choice().probes(Side.CLIENT, version)]


async def findings_of(
    probe: Probe,
    version: int,
    wrap: Wrap = lambda transport: transport,
    patience: float = PATIENCE,
    *,
    able: bool = True,
) -> list[Finding]:
    """What a probe and the watchers find on a sample client."""

    def bench(version: int, folder: Path, title: str) -> ClientBench:
        return ClientBench(sample_client(version, folder, wrap, able=able), version, patience, folder, title)

    found, talks = await try_one(bench, probe, version)
    return [*found, *(finding for talk in talks for finding in look_over(talk))]


@pytest.mark.parametrize("able", [True, False], ids=["able", "bare"])
@pytest.mark.parametrize(("probe", "version"), PROBES, ids=lambda value: getattr(value, "name", value))
async def test_a_sound_client_is_found_sound(probe: Probe, version: int, able: bool) -> None:
    findings = await findings_of(probe, version, able=able)
    assert not broken(findings)
    own = {finding.reason for finding in findings if finding.row in probe.rows}
    assert own <= {None, Reason.CAPABILITY}


async def test_a_wrong_notification_that_costs_the_connection_is_no_answer() -> None:
    """As with the released acp-client 0.1.0, which ends its reading there."""
    found: dict[str, list[Finding]] = {}
    for row in ("all-jsonrpc-06", "all-jsonrpc-18"):
        (probe,) = (each for each in Choice().probes(Side.CLIENT, 1) if row in each.rows)
        found[row] = await findings_of(probe, 1, deaf_after(b'"update":5'), SHORT)
    assert not broken(found["all-jsonrpc-06"])
    assert broken(found["all-jsonrpc-18"]).keys() == {"all-jsonrpc-18"}


CASES = [(row, mutant, version) for row, mutant in CLIENT_LIVE for version in mutant.versions]


@pytest.mark.parametrize(("row", "mutant", "version"), CASES, ids=lambda v: v if isinstance(v, str | int) else "")
async def test_a_mutant_breaks_its_row_and_no_other(row: str, mutant: ClientMutant, version: int) -> None:
    (probe,) = (each for each in Choice().probes(Side.CLIENT, version) if row in each.in_version(version))
    findings = await findings_of(probe, version, mutant.wrap(), mutant.patience, able=mutant.able)
    assert broken(findings).keys() == {row}
