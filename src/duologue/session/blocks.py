"""Which content blocks a prompt may hold: text and links always, the rest as the agent has advertised."""

from __future__ import annotations

from duologue.protocol.common.content import AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v2.capabilities import PromptCapabilities
from duologue.protocol.v2.content import ContentBlock, ResourceLinkBlock


def block_problem(block: ContentBlock, offered: PromptCapabilities) -> str | None:
    """Why an agent does not take a block, in words; None when it does."""
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
