"""Cancelling turns, and taking requests back."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "v1-cancellation-01",
        AGENT,
        "MUST",
        "prompt-turn",
        "After session/cancel the prompt is answered with the stopReason cancelled.",
    ),
    row(
        "v1-cancellation-02",
        AGENT,
        "MUST",
        "prompt-turn",
        "What was torn down by a cancel is no error of the prompt.",
    ),
    row(
        "v1-cancellation-03",
        AGENT,
        "MUST",
        "prompt-turn",
        "What is still told after a cancel comes before the prompt's answer.",
    ),
    row("all-cancellation-01", AGENT, "SHOULD", "prompt-turn", "Model and tools stop soon after session/cancel."),
    row(
        "all-cancellation-02",
        CLIENT,
        "SHOULD",
        "prompt-turn",
        "Unfinished calls are shown as cancelled as soon as the client cancels.",
    ),
    row("all-cancellation-03", CLIENT, "SHOULD", "prompt-turn", "News of calls after the cancel is still taken."),
    row(
        "all-cancellation-04",
        AGENT,
        "SHAPE",
        "prompt-turn",
        "session/cancel where nothing runs, or of an unknown session, does nothing and has no answer.",
    ),
    row("all-cancellation-05", AGENT, "SHAPE", "prompt-turn", "A cancel is about its own session only."),
    row("all-cancellation-06", AGENT, "SHAPE", "prompt-turn", "After a cancel the session can be used."),
    row(
        "v2-cancellation-01",
        AGENT,
        "MUST",
        "prompt-lifecycle",
        "After session/cancel an idle with the stopReason cancelled comes once the work has stopped.",
    ),
    row(
        "v2-cancellation-02",
        AGENT,
        "MUST",
        "prompt-lifecycle",
        "What is still told of cancelled work comes before that idle.",
    ),
    row(
        "v2-cancellation-03",
        AGENT,
        "MUST",
        "prompt-lifecycle",
        "What was torn down by a cancel is told as cancelled alone.",
    ),
    row(
        "all-cancellation-07",
        BOTH,
        "MAY",
        "cancellation",
        "Each side may take back a request of its own by $/cancel_request.",
        agent=Reason.FREEDOM,
    ),
    row(
        "all-cancellation-08",
        BOTH,
        "SHAPE",
        "schema",
        "requestId is the id of the request, same type and same value.",
    ),
    row(
        "all-cancellation-09",
        BOTH,
        "MUST",
        "cancellation",
        "A request that was taken back has one answer: a result or -32800.",
    ),
    row("all-cancellation-10", BOTH, "SHAPE", "schema", "Unknown notifications below $/ are passed over."),
    row(
        "all-cancellation-11",
        BOTH,
        "SHAPE",
        "rfd-request-cancellation",
        "Taking back what is over or unknown does nothing, and nothing is answered twice.",
    ),
    row(
        "all-cancellation-12",
        BOTH,
        "SHOULD",
        "cancellation",
        "A request that its receiver gives up ends with -32800.",
        agent=Reason.INSIDE,
    ),
    row(
        "all-cancellation-13",
        AGENT,
        "SHOULD",
        "rfd-request-cancellation",
        "A cancel takes back the questions that the agent still has open.",
    ),
    row(
        "all-cancellation-14",
        CLIENT,
        "SHAPE",
        "prompt-turn",
        "A question both taken back and cancelled is answered with cancelled.",
        inferred=True,
    ),
)
