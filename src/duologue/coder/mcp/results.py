"""What a call of an MCP tool gave, as the model reads it and as a client shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from duologue.coder.limits import McpLimits
from duologue.coder.tools.base import Outcome

Block = dict[str, Any]


def outcome_of(result: Mapping[str, Any], limits: McpLimits) -> Outcome:
    """The outcome of a result as it stands on the wire: its blocks unchanged, as far as the limit goes, and as text."""
    blocks, left = _within(result.get("content") or (), limits)
    structured = result.get("structuredContent")
    if structured is not None and len(json.dumps(structured)) > limits.result:
        structured, left = None, left + 1
    parts = [*_texts(blocks), *([] if structured is None or _says(blocks) else [json.dumps(structured)])]
    if left:
        most = f"{limits.result} bytes or {limits.blocks} parts"
        parts.append(f"[{left} more parts were left out: the result is larger than {most}]")
    text = _cut("\n".join(parts), limits.result_characters)
    return Outcome(text or "[no result]", structured, not result.get("isError"), blocks=tuple(blocks))


def _within(content: Sequence[Block], limits: McpLimits) -> tuple[list[Block], int]:
    """The first blocks that fit, and how many do not."""
    kept: list[Block] = []
    most = limits.result
    for block in content[: limits.blocks]:
        most -= len(json.dumps(block))
        if most < 0:
            break
        kept.append(block)
    return kept, len(content) - len(kept)


def _says(blocks: Iterable[Block]) -> bool:
    """Whether there is text: servers repeat there what is structured."""
    return any(block.get("type") == "text" for block in blocks)


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Each block as text: what is none is named."""
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": "resource", "resource": {"uri": uri, "text": str(text)}}:
                yield f"[resource {uri}]\n{text}"
            case {"type": "resource", "resource": {"uri": uri}}:
                yield f"[resource {uri}, which is not text]"
            case {"type": "resource_link", "uri": uri}:
                yield f"[link: {block.get('name', '')} {uri}]"
            case {"type": kind}:
                yield f"[{kind}: {block.get('mimeType', 'of no known type')}]"


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters were left out]\n{text[-half:]}"
