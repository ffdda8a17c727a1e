"""Modes of a session."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, CLIENT, row

ROWS = (
    row(
        "v1-modes-01",
        AGENT,
        "SHAPE",
        "schema",
        "modes has currentModeId and availableModes, each with id and name, perhaps a description.",
    ),
    row(
        "v1-modes-02",
        AGENT,
        "SHAPE",
        "session-modes",
        "currentModeId is one of the available ones, and no id comes twice.",
    ),
    row(
        "v1-modes-03",
        CLIENT,
        "SHAPE",
        "session-modes",
        "session/set_mode names a mode that was told, and is not sent where there are none.",
    ),
    row(
        "v1-modes-04",
        AGENT,
        "SHAPE",
        "session-modes",
        "A mode that was not told is answered with an error, and the mode stays.",
        inferred=True,
    ),
    row("v1-modes-05", AGENT, "SHAPE", "session-modes", "session/set_mode works during a turn too."),
    row("v1-modes-06", AGENT, "SHAPE", "schema", "current_mode_update says currentModeId, not modeId."),
    row(
        "v1-modes-07",
        CLIENT,
        "SHAPE",
        "session-modes",
        "When the agent changes the mode, the client shows it.",
        client=Reason.SCREEN,
    ),
    row(
        "v1-modes-08",
        AGENT,
        "SHOULD",
        "session-config-options",
        "Who has modes and options offers both, in agreement.",
    ),
    row(
        "v1-modes-09",
        CLIENT,
        "SHOULD",
        "session-config-options",
        "Where both are offered the client uses the options alone.",
    ),
    row(
        "v1-modes-10",
        CLIENT,
        "SHOULD",
        "session-config-options",
        "A client without options falls back to modes.",
        client=Reason.SCREEN,
    ),
    row("v2-modes-01", AGENT, "SHAPE", "migration", "There are no modes; a mode is an option of the category mode."),
)
