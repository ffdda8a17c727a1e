"""Content blocks and messages of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Int64, Items, Maybe, OpenEnum, Unknown, Wire
from duologue.protocol.common.content import Annotations, AudioBlock, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.common.ids import MessageId
from duologue.protocol.v2.ids import MediaType


class IconTheme(OpenEnum):
    """The background that an icon is made for."""

    LIGHT = "light"
    DARK = "dark"


class Icon(Wire, kw_only=True):
    """An image that stands for a resource."""

    src: str
    mime_type: Maybe[MediaType] = UNSET
    sizes: Maybe[Items[str]] = UNSET
    theme: Maybe[IconTheme] = UNSET


class ResourceLink(Extensible, kw_only=True):
    """A pointer to a resource that the agent can read by itself."""

    name: str
    uri: str
    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    icons: Maybe[Items[Icon]] = UNSET
    mime_type: Maybe[MediaType] = UNSET
    size: Maybe[Int64] = UNSET
    annotations: Maybe[Annotations] = UNSET


class ResourceLinkBlock(ResourceLink, tag_field="type", tag="resource_link", kw_only=True):
    """A block that points to a resource."""


#: One piece of a prompt, a message or a result.
if TYPE_CHECKING:
    ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock | Unknown
else:
    ContentBlock = Annotated[TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock, OPEN]


class ContentChunk(Extensible, kw_only=True):
    """A piece of a message."""

    message_id: MessageId
    content: ContentBlock


class UserMessage(Extensible, kw_only=True):
    """What the user said; absent content stays as it was, null clears it."""

    message_id: MessageId
    content: Maybe[Items[ContentBlock]] = UNSET


class AgentMessage(Extensible, kw_only=True):
    """What the agent says; absent content stays as it was, null clears it."""

    message_id: MessageId
    content: Maybe[Items[ContentBlock]] = UNSET


class AgentThought(Extensible, kw_only=True):
    """What the agent thinks; absent content stays as it was, null clears it."""

    message_id: MessageId
    content: Maybe[Items[ContentBlock]] = UNSET
