"""What a content block must be like before it may leave."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.protocol.base import Unknown
from duologue.protocol.common.content import (
    Annotations,
    BlobResourceContents,
    ImageBlock,
    ResourceBlock,
    TextBlock,
    TextResourceContents,
)
from duologue.protocol.v2.content import ResourceLinkBlock
from duologue.session.blocks import check_block


def link(uri: str) -> ResourceLinkBlock:
    return ResourceLinkBlock(name="a", uri=uri)


def hinted(**hints: Any) -> TextBlock:
    return TextBlock(text="a", annotations=Annotations(**hints))


@pytest.mark.req("v2-content-03", "v2-content-01")
@pytest.mark.parametrize(
    "block",
    [
        *(link(uri) for uri in ("", "a.txt", "/a/b", "C:\\\\a", "file:///a b", "file:///ä", "https://[::1", "x:")),
        ImageBlock(data="", mime_type="image/png", uri="a.png"),
        ResourceBlock(resource=TextResourceContents(text="a", uri="a.txt")),
        ResourceBlock(resource=BlobResourceContents(blob="", uri="/a.bin")),
        *(hinted(priority=priority) for priority in (-0.1, 1.01, float("nan"), float("inf"))),
        *(hinted(last_modified=moment) for moment in ("", "yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00")),
        Unknown({"type": "hologram"}),
        Unknown({}),
    ],
)
def test_a_block_that_breaks_a_format_may_not_leave(block: Any) -> None:
    with pytest.raises(ValueError, match=r"uri|RFC 3339|priority|underscore"):
        check_block(block)


@pytest.mark.req("v2-content-03", "v2-content-01")
@pytest.mark.parametrize(
    "block",
    [
        *(
            link(uri)
            for uri in ("file:///a%20b", "zed:///symbol?x=1#L1", "https://example.org", "urn:isbn:0", "git:a/b")
        ),
        ImageBlock(data="", mime_type="image/png"),
        ImageBlock(data="", mime_type="image/png", uri=None),
        ResourceBlock(resource=TextResourceContents(text="a", uri="file:///a.txt")),
        hinted(priority=0, last_modified="2026-01-01T00:00:00.5+02:00"),
        hinted(priority=1, last_modified=None),
        hinted(),
        TextBlock(text="a", annotations=None),
        Unknown({"type": "_hologram", "uri": 5}),
    ],
)
def test_what_keeps_to_them_may(block: Any) -> None:
    check_block(block)
