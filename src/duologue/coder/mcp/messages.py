"""The messages of MCP servers as their bytes: bounded before anything is built of them, and read leniently.

Bytes are cheap, values are not: 15 MB of empty arrays hold the event loop up for most of a minute. So a text is counted
first, at the speed of C; an answer that holds too much becomes an error, so that its call fails and nothing else does.
"""

from __future__ import annotations

import json
import logging

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from duologue.coder.limits import McpLimits
from duologue.jsonrpc.scan import HEAD, TAIL, deeper_than, glance, is_utf8, more_values_than, repair_surrogates

log = logging.getLogger("duologue.coder.mcp")

NOT_UNDERSTOOD = "the server's answer is not understood"


def read_message(text: bytes, limits: McpLimits) -> JSONRPCMessage | None:
    """The message that a text is; None for what is none, such as a log that went to the wrong stream. An answer that
    holds too much, or is not understood, becomes an error, so that nobody waits for it."""
    why = excess(text, limits)
    if why is not None:
        return error_instead(text, why)
    try:
        return jsonrpc_message_adapter.validate_python(json.loads(clean(text)), by_name=False)
    except (ValidationError, ValueError, RecursionError):
        log.debug("a message of an MCP server is not understood")
    return error_instead(text, NOT_UNDERSTOOD)


def excess(text: bytes, limits: McpLimits) -> str | None:
    """In what a message is more than is taken; None when it is not."""
    if more_values_than(text, limits.values):
        return f"the server's answer holds more than {limits.values} values: ask it for less at once"
    if deeper_than(text, limits.depth):
        return f"the server's answer nests deeper than {limits.depth} levels: ask it for something simpler"
    return None


def clean(text: bytes) -> bytes:
    """A text without bytes and escapes that are no characters, which no model takes."""
    text = repair_surrogates(text)
    return text if is_utf8(text) else text.decode("utf-8", "replace").encode()


def error_instead(text: bytes, why: str) -> JSONRPCError | None:
    """The error that stands for an answer; None for what answers nothing."""
    seen = glance(text[:HEAD], text[-TAIL:])
    if not seen.is_answer or seen.id is None:
        return None
    try:
        id = json.loads(seen.id)
    except ValueError:
        return None
    if isinstance(id, bool) or not isinstance(id, int | str):
        return None
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=INTERNAL_ERROR, message=why))
