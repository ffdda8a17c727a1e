"""All requirements, one module an area."""

from __future__ import annotations

from collections.abc import Mapping

from duologue.check.row import Row
from duologue.check.rows import (
    auth,
    cancellation,
    commands,
    config,
    content,
    documents,
    elicitation,
    errors,
    extensibility,
    framing,
    fs,
    http,
    initialize,
    jsonrpc,
    kept_sessions,
    mcp,
    modes,
    nes,
    permissions,
    plan,
    prompt,
    providers,
    session,
    terminal,
    tools,
    updates,
    versioning,
    ws,
)

__all__ = ["AREAS", "ROWS", "Row"]

_MODULES = (
    framing,
    jsonrpc,
    versioning,
    initialize,
    auth,
    session,
    kept_sessions,
    prompt,
    cancellation,
    updates,
    content,
    tools,
    permissions,
    plan,
    modes,
    config,
    commands,
    fs,
    terminal,
    elicitation,
    mcp,
    extensibility,
    errors,
    nes,
    documents,
    providers,
    http,
    ws,
)

#: Every requirement by its id, area after area.
ROWS: Mapping[str, Row] = {row.id: row for module in _MODULES for row in module.ROWS}
#: The names of the areas.
AREAS = tuple(dict.fromkeys(row.area for row in ROWS.values()))
