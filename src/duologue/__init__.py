"""Duologue: the Agent Client Protocol (ACP) for Python, both versions and both ends."""

from duologue.version import __version__

__all__ = ["__version__"]
