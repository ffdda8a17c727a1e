"""What a tool tells the model when it cannot do its work: what is wrong, and what to do.

```
ToolError
├── BadArguments    the arguments do not fit the tool's schema
├── PathRefused     the path is outside the workspace, or cannot be followed inside it
├── NotText         the file is binary, or text in another encoding
├── TooLarge        a named limit was passed
└── Stale           the file is no longer what was shown when permission was asked
```
"""

from __future__ import annotations


class ToolError(Exception):
    """A tool call failed in a way the model can understand; the turn goes on."""


class BadArguments(ToolError):
    """Raised before anything happens, when a call's arguments do not fit."""


class PathRefused(ToolError):
    """Raised for each path that does not lead to a place inside the workspace."""


class NotText(ToolError):
    """Raised when a file's bytes are not UTF-8 text."""


class TooLarge(ToolError):
    """Raised when a file is larger than its limit."""


class Stale(ToolError):
    """Raised instead of writing when a file has changed since its diff was shown."""
