"""WebSocket."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "allu-ws-01",
        AGENT,
        "SHAPE",
        "rfd-streamable-http",
        "A GET that asks for a WebSocket answers 101 with an Acp-Connection-Id.",
        agent=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-02",
        CLIENT,
        "SHAPE",
        "rfd-streamable-http",
        "initialize comes first on a socket.",
        client=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-03",
        BOTH,
        "SHAPE",
        "rfd-streamable-http",
        "A text frame has one message, and all sessions share the socket.",
        agent=Reason.TRANSPORT,
        client=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-04",
        BOTH,
        "SHAPE",
        "rfd-streamable-http",
        "Binary frames are passed over.",
        agent=Reason.TRANSPORT,
        client=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-05",
        AGENT,
        "SHAPE",
        "rfd-streamable-http",
        "When the socket ends, the connection and its work end.",
        agent=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-06",
        CLIENT,
        "MUST",
        "rfd-streamable-http",
        "Cookies of the upgrade are sent back.",
        client=Reason.TRANSPORT,
    ),
    row(
        "allu-ws-07",
        AGENT,
        "SHAPE",
        "rfd-streamable-http",
        "The same talk gives the same messages on each transport.",
        agent=Reason.TRANSPORT,
    ),
)
