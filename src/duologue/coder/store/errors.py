"""Why sessions cannot be kept, or a kept one not be opened; each text says what to do.

```
StoreError
├── Busy          another process has the session open
└── Unreadable    one session is damaged; the others are not
```
"""

from __future__ import annotations

from duologue.errors import DuologueError


class StoreError(DuologueError):
    """Nothing can be kept. Raised where the store is opened, or later when the disk fails."""


class Busy(StoreError):
    """Raised by opening or deleting a session that another process has open. `seconds`: how long to try again."""

    seconds: float = 0


class Unreadable(StoreError):
    """Raised by opening a session whose records do not fit together."""
