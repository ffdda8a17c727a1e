"""Why a file of this machine was not read or written.

```
DuologueError
└── LocalError
    ├── PathRefused     the path is outside the workspace, or cannot be followed inside it
    ├── NotText         the file is binary, or text in another encoding
    └── TooLarge        a named limit was passed
```
"""

from __future__ import annotations

from duologue.errors import DuologueError


class LocalError(DuologueError):
    """A file cannot be used as asked; nothing has changed. The text is fit to be told to whoever asked."""


class PathRefused(LocalError):
    """Raised for each path that does not lead to a place inside the workspace."""


class NotText(LocalError):
    """Raised when a file's bytes are not UTF-8 text."""


class TooLarge(LocalError):
    """Raised when a file is larger than its limit."""
