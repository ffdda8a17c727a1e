"""Bytes and lines."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row("all-framing-01", BOTH, "MUST", "transports", "What goes over stdio is UTF-8."),
    row(
        "all-framing-02",
        BOTH,
        "MUST NOT",
        "transports",
        "One message is one line: no line feed inside, one at its end.",
    ),
    row(
        "all-framing-03",
        AGENT,
        "MUST NOT",
        "transports",
        "Nothing but messages reaches the agent's stdout: no banner, log line or prompt.",
    ),
    row("all-framing-04", CLIENT, "MUST NOT", "transports", "Nothing but messages reaches the agent's stdin."),
    row(
        "all-framing-05",
        AGENT,
        "MAY",
        "transports",
        "The agent may log to stderr in UTF-8; that is no part of the protocol.",
        agent=Reason.FREEDOM,
    ),
    row(
        "all-framing-06",
        BOTH,
        "SHAPE",
        "transports",
        "A message is put together again wherever its bytes were cut, also inside a character.",
    ),
    row(
        "all-framing-07",
        BOTH,
        "SHAPE",
        "transports",
        "When one read brings several messages, each is handled, first come first.",
    ),
    row("v1-framing-01", BOTH, "SHAPE", "transports", "A line of version 1 holds one message; no side sends an array."),
    row(
        "v2-framing-01",
        BOTH,
        "SHAPE",
        "transports",
        "A line of version 2 holds one message or a batch, and both are taken.",
    ),
    row(
        "all-framing-08",
        BOTH,
        "SHOULD",
        "transports",
        "Stdio is offered wherever the surroundings allow it.",
        agent=Reason.GIVEN,
        client=Reason.GIVEN,
    ),
    row(
        "all-framing-09",
        AGENT,
        "SHOULD",
        "transports",
        "When its stdin ends, the agent ends by itself.",
        inferred=True,
    ),
    row(
        "all-framing-10",
        BOTH,
        "MUST",
        "transports",
        "Another transport leaves messages and life cycle as they are.",
        agent=Reason.TRANSPORT,
        client=Reason.TRANSPORT,
    ),
    row(
        "all-framing-11",
        BOTH,
        "SHOULD",
        "transports",
        "Another transport has a description of how one connects and exchanges messages.",
        agent=Reason.READING,
        client=Reason.READING,
    ),
)
