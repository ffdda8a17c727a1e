"""What the client's side raises, beside what `duologue.peer` does.

DuologueError
├── RpcError
│   └── TurnFailed        a turn that had begun ended with an error
├── VersionMismatch       the agent does not speak the version that was asked for
├── LoginFailed           a login was begun and came to nothing
└── AgentFailed           the agent could not be started, or ended before it was ready
"""

from __future__ import annotations

from duologue.errors import DuologueError
from duologue.jsonrpc.errors import RpcError


class TurnFailed(RpcError):
    """The turn ended with an error; code, message and data are the agent's."""


class LoginFailed(DuologueError):
    """The agent asked for a login, and the one that the client chose came to nothing."""


class VersionMismatch(DuologueError):
    """The agent answered `initialize` with a version that was not asked for."""

    def __init__(self, proposed: int, answered: object) -> None:
        super().__init__(
            f"the agent answered protocol version {answered} when asked for {proposed}; "
            + (f"try protocol={answered}" if answered in (1, 2) else "no version is shared with it")
        )
        self.proposed = proposed
        self.answered = answered


class AgentFailed(DuologueError):
    """The agent could not be started or ended before it was ready; the text has its command, exit code and stderr.

    `spoke_to` says that it ran and was asked to initialize: another version may suit it.
    """

    def __init__(self, problem: str, *, spoke_to: bool = False) -> None:
        super().__init__(problem)
        self.spoke_to = spoke_to
