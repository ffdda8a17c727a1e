"""The exit statuses of the command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a run ended."""

    DONE = 0
    USAGE = 2
    MAX_TOKENS = 3
    MAX_TURN_REQUESTS = 4
    REFUSAL = 5
    NOBODY_TO_ASK = 6
    AGENT_FAILED = 7
    TURN_FAILED = 8
    OTHER = 9
    OUTPUT_FAILED = 10
    NO_SESSION = 11
    TIMED_OUT = 124
    CANCELLED = 130
    BROKEN_PIPE = 141


MEANINGS: dict[Exit, str] = {
    Exit.DONE: "the turn ended (end_turn)",
    Exit.USAGE: "the command line is wrong",
    Exit.MAX_TOKENS: "the model reached its limit of tokens (max_tokens)",
    Exit.MAX_TURN_REQUESTS: "the agent reached its limit of requests in one turn (max_turn_requests)",
    Exit.REFUSAL: "the model refused (refusal)",
    Exit.NOBODY_TO_ASK: "the turn ended, but a permission was refused because there is no terminal to ask at",
    Exit.AGENT_FAILED: "the agent could not be started, speaks another version, or ended too early",
    Exit.TURN_FAILED: "the agent answered with an error",
    Exit.OTHER: "the turn ended for a reason that is not known here",
    Exit.OUTPUT_FAILED: "standard output could not be written (a full disk, say); the turn was cancelled",
    Exit.NO_SESSION: "there is no such session, or the agent does not offer to list or go on with one",
    Exit.TIMED_OUT: "the time of --timeout was over; the turn was cancelled",
    Exit.CANCELLED: "cancelled (Ctrl-C)",
    Exit.BROKEN_PIPE: "standard output was closed by its reader; the turn was cancelled",
}

#: Exit statuses by stop reason.
BY_REASON: dict[str, Exit] = {
    "end_turn": Exit.DONE,
    "max_tokens": Exit.MAX_TOKENS,
    "max_turn_requests": Exit.MAX_TURN_REQUESTS,
    "refusal": Exit.REFUSAL,
    "cancelled": Exit.CANCELLED,
}


def table() -> str:
    """The statuses as lines of text."""
    return "\n".join(f"  {status.value:<4} {MEANINGS[status]}" for status in Exit)
