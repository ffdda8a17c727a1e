"""Which content blocks a prompt may hold: text and links always, the rest as advertised."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.jsonrpc.errors import INVALID_PARAMS, RpcError
from duologue.protocol.common.content import AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v2.capabilities import PromptCapabilities
from duologue.protocol.v2.content import ContentBlock, ResourceLinkBlock


def check_prompt(prompt: Sequence[ContentBlock], offered: PromptCapabilities) -> None:
    """Raises `RpcError` (invalid params) for a block that the agent has not offered to take, or does not know."""
    for index, block in enumerate(prompt):
        problem = _problem(block, offered)
        if problem is not None:
            raise RpcError(INVALID_PARAMS, problem, {"path": f"$.prompt[{index}]"})


def _problem(block: ContentBlock, offered: PromptCapabilities) -> str | None:
    match block:
        case TextBlock() | ResourceLinkBlock():
            return None
        case ImageBlock():
            return None if offered.image else "this agent does not take images (promptCapabilities.image)"
        case AudioBlock():
            return None if offered.audio else "this agent does not take audio (promptCapabilities.audio)"
        case ResourceBlock():
            if offered.embedded_context:
                return None
            return "this agent does not take embedded resources (promptCapabilities.embeddedContext)"
    return f"unknown type of content block: {str(block.raw.get('type'))[:40]!r}"
