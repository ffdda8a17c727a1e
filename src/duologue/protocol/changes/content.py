"""Content blocks: v2 has icons and unknown blocks, which v1 gets as a note and as a line of text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.marks import note, noted, unnoted
from duologue.protocol.common.content import AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v1 import content as v1
from duologue.protocol.v2 import content as v2

#: Blocks that both versions share.
SHARED = frozenset({TextBlock, ImageBlock, AudioBlock, ResourceBlock})

BLOCK = "block"
ICONS = "icons"


def block_down(block: v2.ContentBlock) -> Any:
    """A block for v1: the very same one when its JSON is the same."""
    match block:
        case v2.ResourceLinkBlock(icons=icons) if icons is not UNSET:
            return _link_down(block)
        case Unknown(raw=raw):
            return TextBlock(text=f"[{raw.get('type')}]", meta=noted(UNSET, **{BLOCK: raw}))
    return block


def block_up(block: v1.ContentBlock) -> v2.ContentBlock:
    """A block for v2."""
    match block:
        case v1.ResourceLinkBlock():
            return _link_up(block)
        case TextBlock(meta=meta) if meta:
            raw = note(meta, BLOCK)
            return Unknown(raw) if isinstance(raw, dict) else block
    return block


def blocks_down(blocks: Iterable[v2.ContentBlock]) -> list[Any]:
    return [block_down(block) for block in blocks]


def blocks_up(blocks: Iterable[v1.ContentBlock]) -> list[v2.ContentBlock]:
    return [block_up(block) for block in blocks]


def text_block(text: str) -> TextBlock:
    return TextBlock(text=text)


def _link_down(block: v2.ResourceLinkBlock) -> v1.ResourceLinkBlock:
    icons = msgspec.to_builtins(block.icons)
    return v1.ResourceLinkBlock(
        name=block.name,
        uri=block.uri,
        annotations=block.annotations,
        description=block.description,
        mime_type=block.mime_type,
        size=block.size,
        title=block.title,
        meta=noted(block.meta, **{ICONS: icons}),
    )


def _link_up(block: v1.ResourceLinkBlock) -> v2.ResourceLinkBlock:
    icons = note(block.meta, ICONS)
    return v2.ResourceLinkBlock(
        name=block.name,
        uri=block.uri,
        annotations=block.annotations,
        description=block.description,
        icons=_icons(icons),
        mime_type=block.mime_type,
        size=block.size,
        title=block.title,
        meta=unnoted(block.meta, ICONS),
    )


def _icons(raw: Any) -> Any:
    try:
        return UNSET if raw is UNSET else msgspec.convert(raw, list[v2.Icon] | None)
    except msgspec.ValidationError:
        return UNSET
