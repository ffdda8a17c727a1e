"""What the agent's side raises, beside what `duologue.peer` does.

DuologueError
└── TurnOver    a turn was asked to speak after it ended
"""

from __future__ import annotations

from duologue.errors import DuologueError


class TurnOver(DuologueError):
    """The turn has ended; what still has to be said belongs to the session (`turn.session`)."""

    def __init__(self) -> None:
        super().__init__("the turn has ended: speak through turn.session instead")
