"""Error codes."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, row

ROWS = (
    row("all-errors-01", AGENT, "SHAPE", "schema", "-32000 means that a login is needed, and nothing else."),
    row(
        "all-errors-02",
        BOTH,
        "SHAPE",
        "schema",
        "-32002 means that something was not found.",
        agent=Reason.RECORDING,
        client=Reason.RECORDING,
    ),
    row("all-errors-03", BOTH, "SHAPE", "schema", "-32800 is for requests that were taken back or given up."),
    row(
        "all-errors-04",
        BOTH,
        "SHAPE",
        "schema",
        "A failure inside is told by -32603 or another code, and the process lives.",
        inferred=True,
        agent=Reason.RECORDING,
        client=Reason.RECORDING,
    ),
    row(
        "all-errors-05",
        BOTH,
        "SHAPE",
        "schema",
        "Any integer is taken as a code.",
        agent=Reason.INSIDE,
        client=Reason.INSIDE,
    ),
    row("all-errors-06", BOTH, "SHOULD", "schema", "An error's message is one short sentence."),
    row(
        "all-errors-07",
        BOTH,
        "SHAPE",
        "overview",
        "A method whose capability was not offered is answered with -32601.",
        client=Reason.RECORDING,
    ),
)
