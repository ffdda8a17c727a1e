"""Which version is spoken."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "all-versioning-01",
        CLIENT,
        "MUST",
        "initialization",
        "The client proposes the newest version that it has.",
        client=Reason.READING,
    ),
    row(
        "all-versioning-02",
        AGENT,
        "MUST",
        "initialization",
        "An agent that has the proposed version answers with it.",
    ),
    row(
        "all-versioning-03",
        AGENT,
        "MUST",
        "initialization",
        "An agent that lacks the proposed version answers with its own newest, and not with an error.",
    ),
    row(
        "all-versioning-04",
        CLIENT,
        "SHOULD",
        "initialization",
        "A client that cannot speak the answered version closes and says so.",
    ),
    row(
        "all-versioning-05",
        BOTH,
        "MUST",
        "initialization",
        "After the handshake there is nothing but the agreed version on that connection.",
    ),
    row(
        "all-versioning-06",
        BOTH,
        "SHAPE",
        "schema",
        "A version is an integer of 16 bits; a date or a fraction is refused as wrong params.",
    ),
    row(
        "v2-versioning-01",
        AGENT,
        "SHAPE",
        "migration",
        "An agent of both versions answers each proposal in the layout of that version.",
    ),
    row(
        "v2-versioning-02",
        CLIENT,
        "SHAPE",
        "migration",
        "A client that offered 2 and got 1 goes on in version 1, or leaves.",
    ),
    row(
        "v2-versioning-03",
        BOTH,
        "SHAPE",
        "migration",
        "Version 2 by itself opens nothing that is unstable.",
        client=Reason.OTHER_SIDE,
    ),
    row(
        "v2-versioning-04",
        BOTH,
        "SHAPE",
        "migration",
        "What only version 1 has is unknown on a version 2 connection.",
    ),
    row("v1-versioning-01", AGENT, "SHAPE", "schema", "What only version 2 has is unknown on a version 1 connection."),
    row(
        "v2-versioning-05",
        BOTH,
        "MUST NOT",
        "rfd-v2-terminal-output",
        "A bridge translates terminals even where both versions look the same.",
        agent=Reason.ROLE,
        client=Reason.ROLE,
    ),
)
