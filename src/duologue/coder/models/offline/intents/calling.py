"""A request to call one tool of an MCP server: by its name, with the arguments as one JSON object."""

from __future__ import annotations

import json
import re

from duologue.coder.models.offline.intents.steps import CallTool, Declined
from duologue.coder.naming import is_of_server

_NAME = r"[`\"'“]?(?P<{}>[\w./-]*\w)[`\"'”]?"
_CALL = re.compile(
    r"\s*(?:please\s+|can you\s+|could you\s+)?"
    r"(?P<verb>use|call|invoke|run)\s+(?:the\s+)?(?P<tool_word>(?:mcp\s+)?tool\s+)?"
    + _NAME.format("tool")
    + r"(?P<tool_after>\s+tool)?(?:\s+(?:of|from|on|in)\s+(?:the\s+)?(?:mcp\s+)?(?:server\s+)?"
    + _NAME.format("server")
    + r"(?:\s+server)?)?"
    r"(?:,?\s+(?:with|on|for)?\s*(?:the\s+)?(?:arguments?|input|parameters?|json)?:?\s*(?P<given>\{.*\}))?[\s.!?]*",
    re.IGNORECASE | re.DOTALL,
)


def plain_call(text: str) -> CallTool | Declined | None:
    """The call that a whole request asks for in words that can mean nothing else."""
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    named = found["tool_word"] or found["tool_after"] or is_of_server(found["tool"])
    return _call(found) if named or (found["verb"].lower() != "run" and found["given"]) else None


def bare_call(text: str) -> CallTool | None:
    """The call that `call NAME` asks for where there is such a tool: else it may be a command."""
    found = _CALL.fullmatch(text)
    return CallTool(found["tool"], found["server"], {}) if found is not None and not found["given"] else None


def _call(found: re.Match[str]) -> CallTool | Declined:
    try:
        given = json.loads(found["given"] or "{}")
    except ValueError as error:
        return Declined(
            f'I cannot read the arguments ({error}). Give them as one JSON object, such as {{"path": "a"}}.'
        )
    return CallTool(found["tool"], found["server"], given)
