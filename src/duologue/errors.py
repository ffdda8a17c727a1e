"""The root of what Duologue raises; docs/errors.md draws the whole tree."""


class DuologueError(Exception):
    """Parent of all errors that have a name of their own. Raised only as one of its children.

    Wrong arguments are `TypeError` and `ValueError`, as everywhere in Python.
    """
