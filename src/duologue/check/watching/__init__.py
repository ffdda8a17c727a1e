"""What can be judged by looking over connections, whatever they were made for."""

from duologue.check.watching import (
    capabilities,
    documents,
    ids,
    lending,
    lines,
    methods,
    sessions,
    settings,
    suggestions,
    tools,
    turns,
)

__all__ = [
    "capabilities",
    "documents",
    "ids",
    "lending",
    "lines",
    "methods",
    "sessions",
    "settings",
    "suggestions",
    "tools",
    "turns",
]
