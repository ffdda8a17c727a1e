"""Files of the client."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "v1-fs-01",
        AGENT,
        "MUST NOT",
        "file-system",
        "Files of the client are read and written only where it said true to that.",
    ),
    row(
        "v1-fs-02",
        AGENT,
        "SHAPE",
        "schema",
        "fs has sessionId and an absolute path; a write adds content, a read perhaps line and limit.",
    ),
    row("v1-fs-03", CLIENT, "SHAPE", "file-system", "A read without line and limit gives the whole text."),
    row("v1-fs-04", CLIENT, "SHAPE", "file-system", "Lines count from 1, and limit is the most that is given."),
    row("v1-fs-05", CLIENT, "SHAPE", "file-system", "What is not saved yet is read too.", client=Reason.SCREEN),
    row("v1-fs-06", CLIENT, "MUST", "file-system", "A write makes a file that was not there."),
    row("v1-fs-07", CLIENT, "SHAPE", "file-system", "A write replaces what was there."),
    row(
        "v1-fs-08",
        BOTH,
        "SHAPE",
        "file-system",
        "A write answers with null or an object, and both are taken.",
        agent=Reason.INSIDE,
    ),
    row(
        "v1-fs-09",
        CLIENT,
        "SHAPE",
        "schema",
        "A missing file, an unknown session or a relative path is an error.",
        inferred=True,
    ),
    row("v1-fs-10", CLIENT, "SHAPE", "file-system", "Without the capability a call is answered with -32601."),
    row(
        "v1-fs-11",
        CLIENT,
        "MUST",
        "rfd-additional-directories",
        "The client stays within cwd and the additional directories.",
    ),
    row("v2-fs-01", AGENT, "SHAPE", "migration", "Version 2 has no fs methods."),
)
