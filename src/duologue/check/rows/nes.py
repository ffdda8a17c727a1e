"""Suggested edits."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "v1u-nes-01",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "Suggested edits are agentCapabilities.nes, perhaps with events and context.",
    ),
    row(
        "v2u-nes-01",
        AGENT,
        "SHAPE",
        "draft-initialization",
        "Suggested edits are capabilities.nes, with or without session.",
    ),
    row(
        "allu-nes-01",
        CLIENT,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "nes is called only where the agent has it.",
    ),
    row(
        "allu-nes-02",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "nes/start needs nothing and answers with a sessionId.",
    ),
    row(
        "allu-nes-03",
        AGENT,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "Its sessions are not those of the chat, and there may be many.",
    ),
    row(
        "allu-nes-04",
        CLIENT,
        "MUST",
        "rfd-next-edit-suggestions",
        "A -32000 of nes/start leads to a login and another try.",
    ),
    row(
        "allu-nes-05",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "nes/suggest has sessionId, uri, version, position and triggerKind, perhaps selection and context.",
    ),
    row(
        "allu-nes-06",
        CLIENT,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "Context is what the agent asked for, and no more of it.",
    ),
    row(
        "allu-nes-07",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "The answer has suggestions, perhaps none.",
    ),
    row("v1u-nes-02", AGENT, "SHAPE", "schema-unstable", "A suggestion is told by id."),
    row(
        "v2u-nes-02",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "A suggestion is told by suggestionId, and an edit changes something.",
    ),
    row(
        "allu-nes-08",
        AGENT,
        "MUST NOT",
        "rfd-next-edit-suggestions",
        "jump, rename and searchAndReplace go only to clients that have them; edit goes to all.",
    ),
    row(
        "allu-nes-09",
        BOTH,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "The agent picks how positions count from the client's list, else utf-16.",
    ),
    row(
        "allu-nes-10",
        BOTH,
        "SHAPE",
        "schema-unstable",
        "Lines and characters count from zero, and a range ends before its end.",
    ),
    row(
        "allu-nes-11",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "Without isRegex a search is for plain text.",
        client=Reason.SCREEN,
    ),
    row(
        "allu-nes-12",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "nes/accept and nes/reject name the suggestion; a reason is one of four.",
    ),
    row(
        "allu-nes-13",
        AGENT,
        "MUST",
        "schema-unstable",
        "nes/close cancels what is open, frees the session and answers with an object.",
    ),
    row(
        "v2u-nes-03",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "A suggestion of an unknown kind is passed over.",
    ),
)
