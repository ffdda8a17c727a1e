"""Content blocks of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Int64, Maybe, Unknown
from duologue.protocol.common.content import Annotations, AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.common.ids import MessageId


class ResourceLink(Extensible, kw_only=True):
    """A pointer to a resource that the agent can read by itself."""

    name: str
    uri: str
    annotations: Maybe[Annotations] = UNSET
    description: Maybe[str] = UNSET
    mime_type: Maybe[str] = UNSET
    size: Maybe[Int64] = UNSET
    title: Maybe[str] = UNSET


class ResourceLinkBlock(ResourceLink, tag_field="type", tag="resource_link", kw_only=True):
    """A block that points to a resource."""


#: One piece of a prompt, a message or a result.
if TYPE_CHECKING:
    ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock | Unknown
else:
    ContentBlock = Annotated[TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock, OPEN]


class ContentChunk(Extensible, kw_only=True):
    """A piece of a message."""

    content: ContentBlock
    message_id: Maybe[MessageId] = UNSET
