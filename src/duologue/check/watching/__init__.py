"""What can be judged by looking over connections, whatever they were made for."""

from duologue.check.watching import (
    capabilities,
    documents,
    elicitation,
    ids,
    lending,
    lines,
    logins,
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
    "elicitation",
    "ids",
    "lending",
    "lines",
    "logins",
    "methods",
    "sessions",
    "settings",
    "suggestions",
    "tools",
    "turns",
]
