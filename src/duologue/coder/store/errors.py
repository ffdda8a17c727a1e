"""Why sessions cannot be kept, or a kept one not be opened; each text says what to do.

```
StoreError
├── Unavailable   the disk or another process is in the way for now
├── Busy          another process has the session open
└── Unreadable    one session is damaged; the others are not
```
"""

from __future__ import annotations

from duologue.errors import DuologueError


class StoreError(DuologueError):
    """Nothing can be kept. Raised where the store is opened, or later when the file is no longer what it was."""


class Unavailable(StoreError):
    """Raised where the same may well succeed later: a full disk, a folder that cannot be written, a lock."""


class Busy(StoreError):
    """Raised by opening or deleting a session that another process has open. `seconds`: how long to try again."""

    seconds: float = 0


class Unreadable(StoreError):
    """Raised by opening a session whose row or records do not fit together."""
