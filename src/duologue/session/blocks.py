"""Which content blocks a prompt may hold: text and links always, the rest as the agent has advertised. And what a block
must be like before it may leave."""

from __future__ import annotations

from typing import Any

from duologue import codec
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import Annotations, AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v2.capabilities import PromptCapabilities
from duologue.protocol.v2.content import ContentBlock, ResourceLinkBlock
from duologue.session.formats import is_date_time, is_uri

BLOCKS = (TextBlock, ImageBlock, AudioBlock, ResourceBlock, ResourceLinkBlock, Unknown)


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


def sent_block(block: ContentBlock) -> ContentBlock:
    """A block as it is sent. Raises what `check_block` raises, `TypeError` for what is no block, and `CodecError` for
    one whose members are of the wrong types."""
    if not isinstance(block, BLOCKS):
        text = "" if isinstance(block, str) else "a text or "
        raise TypeError(f"give {text}a content block such as TextBlock or ImageBlock, not {type(block).__name__}")
    if not isinstance(block, Unknown):
        block = codec.sendable(type(block), block)
    check_block(block)
    return block


def check_block(block: ContentBlock) -> None:
    """Raises `ValueError` for a block that does not keep to the formats of the schema: an address that is none, a time
    that is not RFC 3339, a priority that is not from 0 to 1, a type of one's own without an underscore.

    It is for what this side says itself. What others say is taken as it is.
    """
    if isinstance(block, Unknown):
        kind = str(block.raw.get("type"))
        if not kind.startswith("_"):
            raise ValueError(f"the type of a block of one's own begins with an underscore: {kind[:40]!r}")
        return
    _check_uri(getattr(block.resource if isinstance(block, ResourceBlock) else block, "uri", None))
    if isinstance(block.annotations, Annotations):
        _check_annotations(block.annotations)


def _check_uri(uri: Any) -> None:
    if isinstance(uri, str) and not is_uri(uri):
        raise ValueError(f"the uri of a block is absolute and escaped (`Path.as_uri()` makes one): {uri[:80]!r}")


def _check_annotations(hints: Annotations) -> None:
    if isinstance(hints.last_modified, str) and not is_date_time(hints.last_modified):
        raise ValueError(f"lastModified is a point of time as in RFC 3339: {hints.last_modified[:40]!r}")
    if isinstance(hints.priority, int | float) and not 0 <= hints.priority <= 1:
        raise ValueError(f"a priority lies from 0 to 1: {hints.priority}")
