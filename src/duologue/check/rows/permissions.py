"""Permission questions."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "v1-permissions-01",
        AGENT,
        "SHAPE",
        "schema",
        "A question has sessionId, a toolCall with its id, and options.",
    ),
    row(
        "all-permissions-01",
        AGENT,
        "SHAPE",
        "schema",
        "An option has optionId, name and kind, and no two have the same optionId.",
    ),
    row(
        "v1-permissions-02",
        AGENT,
        "SHAPE",
        "schema",
        "The kinds are allow_once, allow_always, reject_once and reject_always.",
    ),
    row(
        "all-permissions-02",
        CLIENT,
        "SHAPE",
        "schema",
        "The answer is outcome.outcome; selected names an option that was offered.",
    ),
    row("all-permissions-03", CLIENT, "SHAPE", "schema", "A question with malformed options is answered with -32602."),
    row(
        "all-permissions-04",
        CLIENT,
        "MUST",
        "prompt-turn",
        "When the client cancels, each open question of that session is answered with cancelled.",
    ),
    row("all-permissions-05", CLIENT, "MAY", "tool-calls", "The client may decide by the user's settings."),
    row(
        "all-permissions-06",
        AGENT,
        "SHAPE",
        "tool-calls",
        "A tool that needs permission does nothing before it is given.",
    ),
    row(
        "all-permissions-07",
        AGENT,
        "SHAPE",
        "tool-calls",
        "What is refused does not run, and the turn goes on or ends in order.",
    ),
    row(
        "all-permissions-08",
        AGENT,
        "SHAPE",
        "tool-calls",
        "What is meant for always is remembered for the like, what is meant for once is not.",
        agent=Reason.MODEL,
    ),
    row(
        "all-permissions-09",
        AGENT,
        "SHAPE",
        "tool-calls",
        "An error in place of an answer gives no permission.",
        inferred=True,
    ),
    row("all-permissions-10", AGENT, "SHAPE", "tool-calls", "The optionId counts, not the kind or the label."),
    row(
        "v2-permissions-01",
        BOTH,
        "SHAPE",
        "schema",
        "A question has sessionId, a title and at least one option; description and subject may be null.",
    ),
    row(
        "v2-permissions-02",
        AGENT,
        "SHAPE",
        "schema",
        "A subject tool_call has toolCall with its id; there is no toolCall beside it.",
    ),
    row("v2-permissions-03", AGENT, "MUST", "tool-calls", "A subject command has the command and an absolute cwd."),
    row(
        "v2-permissions-04",
        CLIENT,
        "SHAPE",
        "tool-calls",
        "toolCallId and terminalId of a command may be null or left out, which is the same.",
    ),
    row(
        "v2-permissions-05",
        CLIENT,
        "SHAPE",
        "tool-calls",
        "The words of a question do not change those of the tool call.",
    ),
    row(
        "v2-permissions-06",
        CLIENT,
        "SHAPE",
        "migration",
        "The toolCall of a subject changes the shown call like any patch.",
    ),
    row("v2-permissions-07", AGENT, "MUST NOT", "tool-calls", "An unknown outcome gives no permission."),
    row("v2-permissions-08", CLIENT, "SHAPE", "schema", "An unknown subject is asked about somehow, or declined."),
    row("v2-permissions-09", CLIENT, "SHAPE", "tool-calls", "An option of an unknown kind can be seen and picked."),
    row("v2-permissions-10", CLIENT, "SHAPE", "tool-calls", "Allowing a command does not make the client run it."),
)
