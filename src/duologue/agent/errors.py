"""What the agent's side raises.

Exception
└── TurnOver    a turn was asked to speak after it ended
"""

from __future__ import annotations


class TurnOver(Exception):
    """The turn has ended; what still has to be said belongs to the session (`turn.session`)."""

    def __init__(self) -> None:
        super().__init__("the turn has ended: speak through turn.session instead")
