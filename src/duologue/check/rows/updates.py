"""Session updates and messages."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "all-updates-01",
        AGENT,
        "SHAPE",
        "schema",
        "session/update is a notification with sessionId and an update that sessionUpdate tells the kind of.",
    ),
    row("v1-updates-01", AGENT, "SHAPE", "schema", "Version 1 has eleven kinds of updates; others need an agreement."),
    row(
        "v1-updates-02",
        CLIENT,
        "SHAPE",
        "schema",
        "An unknown kind of update costs neither the connection nor an answer.",
        inferred=True,
    ),
    row(
        "all-updates-02",
        AGENT,
        "SHAPE",
        "session-setup",
        "Updates are about sessions that this connection has.",
        inferred=True,
    ),
    row("all-updates-03", AGENT, "SHAPE", "schema", "A chunk has one content block and no list."),
    row("v1-updates-03", BOTH, "SHAPE", "prompt-turn", "A messageId may be left out or null, which is the same."),
    row(
        "v1-updates-04",
        CLIENT,
        "SHAPE",
        "prompt-turn",
        "Chunks of one messageId that follow each other are one message, and another id begins the next.",
    ),
    row(
        "v1-updates-05",
        AGENT,
        "SHAPE",
        "prompt-turn",
        "usage_update has used and size, integers from zero; a cost has amount and currency.",
    ),
    row("v2-updates-01", AGENT, "SHAPE", "schema", "A currency is three capital letters."),
    row("all-updates-04", CLIENT, "SHAPE", "session-list", "session_info_update changes what it has, and null clears."),
    row(
        "all-updates-05",
        AGENT,
        "SHAPE",
        "session-list",
        "session_info_update has no sessionId, cwd or additionalDirectories of its own.",
    ),
    row("all-updates-06", CLIENT, "SHOULD", "schema", "Text is shown as Markdown."),
    row(
        "v1-updates-06",
        BOTH,
        "SHAPE",
        "schema",
        "An optional member of a wrong type is read as left out.",
        agent=Reason.OTHER_SIDE,
    ),
    row("v2-updates-02", AGENT, "MUST", "prompt-lifecycle", "Each chunk and each whole message has a messageId."),
    row("v2-updates-03", AGENT, "SHAPE", "rfd-message-id", "A messageId is that of one message, all through."),
    row(
        "v2-updates-04",
        CLIENT,
        "SHAPE",
        "prompt-lifecycle",
        "A whole message with content replaces all that was collected.",
    ),
    row("v2-updates-05", CLIENT, "SHAPE", "prompt-lifecycle", "A chunk adds its block to what is there."),
    row("v2-updates-06", CLIENT, "SHAPE", "prompt-lifecycle", "A whole message without content leaves the content."),
    row("v2-updates-07", CLIENT, "SHAPE", "prompt-lifecycle", "A whole message with null or no blocks empties it."),
    row(
        "v2-updates-08",
        CLIENT,
        "SHAPE",
        "migration",
        "_meta of an upsert is patched like other members; that of a chunk stays with the chunk.",
    ),
    row(
        "v2-updates-09",
        CLIENT,
        "SHAPE",
        "schema",
        "An unknown kind of update is kept or passed over, and the session goes on.",
    ),
    row(
        "v2-updates-10",
        BOTH,
        "SHAPE",
        "rfd-v2-enum-variant-extension",
        "A known kind with a bad payload is an error of that message, not an unknown kind.",
    ),
    row(
        "v2-updates-11",
        AGENT,
        "MUST NOT",
        "migration",
        "tool_call, plan and current_mode_update are gone in version 2.",
    ),
    row("v2-updates-12", CLIENT, "SHAPE", "schema", "An unknown state of a session is lived with."),
    row("v2-updates-13", AGENT, "SHAPE", "schema", "What a state tells stands beside state and not below it."),
)
