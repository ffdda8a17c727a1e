"""The library behind MCP servers, which a plain install does not have."""

from __future__ import annotations

import importlib.util

MISSING = "the agent's MCP library is missing. Install it with `pip install '.[agent]'` in the checkout of Duologue."


def has_library() -> bool:
    """Whether it is installed; it is not loaded for that."""
    return importlib.util.find_spec("mcp") is not None
