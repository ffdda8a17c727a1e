"""What a tool tells the model when it cannot do its work: what is wrong, and what to do.

```
ToolError
├── BadArguments    the arguments do not fit the tool's schema
└── Stale           the file is no longer what was shown when permission was asked
```

Files that cannot be used raise `duologue.local.errors.LocalError`, which the model is told likewise.
"""

from __future__ import annotations

from duologue.errors import DuologueError


class ToolError(DuologueError):
    """A tool call failed in a way the model can understand; the turn goes on."""


class BadArguments(ToolError):
    """Raised before anything happens, when a call's arguments do not fit."""


class Stale(ToolError):
    """Raised instead of writing when a file has changed since its diff was shown."""


def reason(error: Exception) -> str:
    """What went wrong, for the model."""
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror or type(error).__name__}"
    return str(error)
