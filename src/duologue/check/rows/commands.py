"""Slash commands."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, CLIENT, row

ROWS = (
    row(
        "all-commands-01",
        AGENT,
        "SHAPE",
        "schema",
        "available_commands_update has commands with name and description; input is an object, null or left out.",
    ),
    row("v1-commands-01", AGENT, "SHAPE", "schema", "input has a hint."),
    row("v2-commands-01", AGENT, "SHAPE", "schema", "input has a type, and text has a hint."),
    row(
        "all-commands-02",
        CLIENT,
        "SHAPE",
        "slash-commands",
        "Each list replaces the one before.",
        client=Reason.SCREEN,
    ),
    row(
        "all-commands-03",
        CLIENT,
        "SHAPE",
        "slash-commands",
        "A command is a prompt that begins with a slash and its name; the rest is its argument.",
        client=Reason.SCREEN,
    ),
    row(
        "all-commands-04",
        AGENT,
        "SHAPE",
        "slash-commands",
        "A command is known at the beginning of the text, whatever stands beside it.",
        agent=Reason.MODEL,
    ),
    row(
        "all-commands-05",
        AGENT,
        "MAY",
        "slash-commands",
        "The list may come and change at any time.",
        agent=Reason.FREEDOM,
    ),
    row(
        "v2-commands-02",
        CLIENT,
        "SHAPE",
        "slash-commands",
        "A command whose input is of an unknown type is offered without one.",
    ),
)
