"""Probes of agents: each finds what it is for, and nothing wrong with a sound agent."""

from __future__ import annotations

import pytest
from check_kit import broken, findings_of
from live_mutants import LIVE, SHORT, Mutant, deaf_after, never_idle
from mutating import code, silent, updating
from unstable_mutants import UNSTABLE

from duologue.check.judging import Probe
from duologue.check.reason import Reason
from duologue.check.run import Choice
from duologue.check.verdict import Finding
from duologue.protocol.method import Side

VERSIONS = (1, 2)
PROBES = [(probe, version) for version in VERSIONS for probe in Choice().probes(Side.AGENT, version)]


@pytest.mark.parametrize(("probe", "version"), PROBES, ids=lambda value: getattr(value, "name", value))
async def test_a_sound_agent_is_found_sound(probe: Probe, version: int) -> None:
    findings = await findings_of(probe, version)
    assert not broken(findings)
    own = {finding.reason for finding in findings if finding.row in probe.rows}
    assert own <= {None, Reason.CAPABILITY}


CASES = [(row, mutant, version) for row, mutant in {**LIVE, **UNSTABLE}.items() for version in mutant.versions]


@pytest.mark.parametrize(("row", "mutant", "version"), CASES, ids=lambda v: v if isinstance(v, str | int) else "")
async def test_a_mutant_breaks_its_row_and_no_other(row: str, mutant: Mutant, version: int) -> None:
    (probe,) = (each for each in Choice().probes(Side.AGENT, version) if row in each.in_version(version))
    findings = await findings_of(probe, version, mutant.wrap(), mutant.patience)
    assert broken(findings).keys() == {row}


async def test_a_wrong_notification_that_costs_the_connection_is_no_answer() -> None:
    found: dict[str, list[Finding]] = {}
    for row in ("all-jsonrpc-06", "all-jsonrpc-18"):
        (probe,) = (each for each in Choice().probes(Side.AGENT, 1) if row in each.rows)
        found[row] = await findings_of(probe, 1, deaf_after(b'"sessionId":5'), SHORT)
    assert not broken(found["all-jsonrpc-06"])
    assert broken(found["all-jsonrpc-18"]).keys() == {"all-jsonrpc-18"}


@pytest.mark.parametrize(
    ("row", "version", "method"),
    [
        ("v1-session-05", 1, "session/load"),
        ("v1-session-11", 1, "session/resume"),
        ("v2-session-06", 2, "session/resume"),
        ("v2-session-07", 2, "session/resume"),
        ("all-session-11", 1, "session/list"),
        ("v2-session-03", 2, "session/list"),
    ],
)
async def test_a_method_that_is_offered_and_always_fails_is_told(row: str, version: int, method: str) -> None:
    (probe,) = (each for each in Choice().probes(Side.AGENT, version) if row in each.in_version(version))
    assert broken(await findings_of(probe, version, code(method, -32603))).keys() == {row}


@pytest.mark.parametrize("refusals", [1, 2])
async def test_a_session_may_be_kept_to_the_process_that_has_it(refusals: int) -> None:
    left = iter(range(refusals))
    (probe,) = (each for each in Choice().probes(Side.AGENT, 1) if "v1-session-05" in each.rows)
    mutant = code("session/load", -32603, lambda past: next(left, None) is not None)
    findings = await findings_of(probe, 1, mutant)
    assert not broken(findings)
    assert next(left, None) is None


async def test_a_turn_that_never_ends_fails_one_requirement_and_no_other() -> None:
    (probe,) = (each for each in Choice().probes(Side.AGENT, 2) if "all-permissions-06" in each.rows)
    findings = await findings_of(probe, 2, updating(never_idle), SHORT)
    assert not broken(findings)
    assert [each.reason for each in findings if each.row == "all-permissions-06"] == [Reason.BUILDS_ON]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handshake_that_comes_too_late_fails_nothing_that_begins_after_it(version: int) -> None:
    (probe,) = (each for each in Choice().probes(Side.AGENT, version) if "all-session-02" in each.rows)
    findings = await findings_of(probe, version, silent(lambda message, past: past.method == "initialize"), SHORT)
    assert not broken(findings)
    assert [each.reason for each in findings if each.row == "all-session-02"] == [Reason.BUILDS_ON]
