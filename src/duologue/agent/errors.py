"""What the agent's side raises.

DuologueError
├── NotOffered  the client was asked for what it has not offered
└── TurnOver    a turn was asked to speak after it ended
"""

from __future__ import annotations

from duologue.errors import DuologueError


class TurnOver(DuologueError):
    """The turn has ended; what still has to be said belongs to the session (`turn.session`)."""

    def __init__(self) -> None:
        super().__init__("the turn has ended: speak through turn.session instead")


class NotOffered(DuologueError):
    """The client has not offered what was asked for, so nothing was sent."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the client does not offer {what}")
