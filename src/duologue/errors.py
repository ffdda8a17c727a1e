"""The root of what Duologue raises; docs/errors.md draws the whole tree."""


class DuologueError(Exception):
    """Parent of all errors about connections, messages and turns. Raised only as one of its children."""
