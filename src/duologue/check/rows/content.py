"""Content blocks."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row("all-content-01", BOTH, "SHAPE", "schema", "A text block has its text."),
    row("all-content-02", BOTH, "SHAPE", "schema", "An image has data in base64 and a mimeType, perhaps a uri."),
    row("all-content-03", BOTH, "SHAPE", "schema", "Audio has data in base64 and a mimeType."),
    row(
        "all-content-04",
        BOTH,
        "SHAPE",
        "schema",
        "A resource has inside it a uri and a text or a blob in base64, perhaps a mimeType.",
    ),
    row(
        "all-content-05",
        BOTH,
        "SHAPE",
        "schema",
        "A link has uri and name; mimeType, title, description and size may be left out.",
    ),
    row(
        "all-content-06",
        BOTH,
        "SHAPE",
        "schema",
        "Annotations may have audience, lastModified and priority, each perhaps null.",
    ),
    row("v1-content-01", BOTH, "SHAPE", "schema", "Bad annotations or an unknown audience do not spoil the block."),
    row(
        "v1-content-02",
        AGENT,
        "SHAPE",
        "schema",
        "A block that version 1 does not have is refused in a prompt with -32602.",
    ),
    row("v2-content-01", BOTH, "MUST", "content", "A block of one's own has a type that begins with an underscore."),
    row(
        "v2-content-02",
        CLIENT,
        "SHAPE",
        "schema",
        "An unknown block is kept or shown somehow, and so are its neighbours.",
    ),
    row(
        "v2-content-03",
        BOTH,
        "SHAPE",
        "schema",
        "A uri is one, lastModified is RFC 3339, and priority lies from 0 to 1.",
    ),
    row(
        "v2-content-04",
        BOTH,
        "SHAPE",
        "schema",
        "An icon of a link has a src, perhaps mimeType, sizes and a theme, known or not.",
    ),
    row(
        "all-content-07",
        CLIENT,
        "SHAPE",
        "content",
        "Capabilities are about prompts: the agent may show images, audio and resources to anyone.",
    ),
    row(
        "all-content-08",
        AGENT,
        "SHAPE",
        "content",
        "What an MCP tool gives can be passed on as it is.",
        agent=Reason.INSIDE,
    ),
)
