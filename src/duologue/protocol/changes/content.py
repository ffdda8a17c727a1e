"""Content blocks: v2 has icons of links, and lets blocks of other types pass; v1 gets these as a line of text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.common.content import AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v1 import content as v1
from duologue.protocol.v2 import content as v2

#: Blocks that both versions share.
SHARED = frozenset({TextBlock, ImageBlock, AudioBlock, ResourceBlock})


def block_down(block: v2.ContentBlock) -> Any:
    """A block for v1: the very same one when its JSON is the same."""
    match block:
        case v2.ResourceLinkBlock(icons=icons) if icons is not UNSET:
            return _link(block, v1.ResourceLinkBlock)
        case Unknown():
            return text_block(named(block))
    return block


def block_up(block: v1.ContentBlock) -> v2.ContentBlock:
    """A block for v2."""
    return _link(block, v2.ResourceLinkBlock) if isinstance(block, v1.ResourceLinkBlock) else block


def blocks_down(blocks: Iterable[v2.ContentBlock]) -> list[Any]:
    return [block_down(block) for block in blocks]


def blocks_up(blocks: Iterable[v1.ContentBlock]) -> list[v2.ContentBlock]:
    return [block_up(block) for block in blocks]


def text_block(text: str) -> TextBlock:
    return TextBlock(text=text)


def named(value: Unknown) -> str:
    """What is shown in place of a value whose type v1 does not have."""
    return f"[{value.raw.get('type')}]"


def _link(block: Any, made: type[Any]) -> Any:
    """A link with the members that both versions have."""
    return made(**{name: getattr(block, name) for name in v1.ResourceLinkBlock.__struct_fields__})
