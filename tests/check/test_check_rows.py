"""The rows: each is judged or says why not, and everything that is judged can fail."""

from __future__ import annotations

import re

import agent_mutants
import client_mutants
import pytest
from live_client_mutants import CLIENT_LIVE
from live_mutants import LIVE
from unstable_mutants import UNSTABLE

from duologue.check.judging import PROBES
from duologue.check.rows import AREAS, ROWS
from duologue.check.run import judged_rows
from duologue.protocol.method import Side

MUTANTS = {
    Side.AGENT: {*agent_mutants.EITHER, *agent_mutants.V1, *agent_mutants.V2, *LIVE, *UNSTABLE},
    Side.CLIENT: {*client_mutants.EITHER, *client_mutants.V1, *client_mutants.V2, *(row for row, _ in CLIENT_LIVE)},
}
#: Seen from outside of the connection: the end of a process.
OF_PROCESSES = {Side.AGENT: {"all-framing-09"}, Side.CLIENT: set[str]()}


def test_rows_are_well_formed() -> None:
    assert len(ROWS) == 608
    assert len(AREAS) == 27
    for row in ROWS.values():
        assert re.fullmatch(r"(all|v1|v2)u?-[a-z]+-\d\d", row.id)
        assert row.sides
        assert row.text.endswith(".")
    assert len({row.id for row in ROWS.values()}) == len(ROWS)


@pytest.mark.parametrize("side", Side)
def test_each_row_is_judged_or_says_why_not(side: Side) -> None:
    judged = judged_rows(side)
    for row in ROWS.values():
        if side in row.sides:
            assert (row.id in judged) is (row.unjudged(side) is None), row.id
        else:
            assert row.unjudged(side) is None, row.id


@pytest.mark.parametrize("side", Side)
def test_nothing_is_judged_without_a_row_of_that_side(side: Side) -> None:
    assert judged_rows(side) <= {row.id for row in ROWS.values() if side in row.sides}


@pytest.mark.parametrize("side", Side)
def test_each_judged_row_has_its_mutant(side: Side) -> None:
    assert judged_rows(side) == MUTANTS[side] | OF_PROCESSES[side]


def test_a_row_has_one_probe_on_a_side() -> None:
    declared = [(probe.side, row) for probe in PROBES for row in probe.rows]
    assert len(set(declared)) == len(declared)
