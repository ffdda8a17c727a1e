"""What prompts, messages and tool calls are made of, as far as both versions agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Maybe, OpenEnum, Untagged, only_v2


class Role(OpenEnum):
    """Who a block is meant for."""

    ASSISTANT = "assistant"
    USER = "user"


class Annotations(Extensible, kw_only=True):
    """Hints on how to show a block and how much it matters."""

    audience: Maybe[Items[Role]] = UNSET
    last_modified: Maybe[str] = UNSET
    priority: Annotated[Maybe[float], only_v2(minimum=0, maximum=1)] = UNSET


class TextContent(Extensible, kw_only=True):
    """Text, read as Markdown."""

    text: str
    annotations: Maybe[Annotations] = UNSET


class ImageContent(Extensible, kw_only=True):
    """An image, in base64."""

    data: str
    mime_type: str
    annotations: Maybe[Annotations] = UNSET
    uri: Maybe[str] = UNSET


class AudioContent(Extensible, kw_only=True):
    """A sound, in base64."""

    data: str
    mime_type: str
    annotations: Maybe[Annotations] = UNSET


class TextResourceContents(Extensible, kw_only=True):
    """The contents of a resource that is text."""

    text: str
    uri: str
    mime_type: Maybe[str] = UNSET


class BlobResourceContents(Extensible, kw_only=True):
    """The contents of a resource that is not text, in base64."""

    blob: str
    uri: str
    mime_type: Maybe[str] = UNSET


if TYPE_CHECKING:
    EmbeddedResourceResource = TextResourceContents | BlobResourceContents
else:

    class EmbeddedResourceResource(Untagged):
        """Text or bytes: told apart by the member that holds them."""

        variants = (TextResourceContents, BlobResourceContents)

        @classmethod
        def pick(cls, raw: Any) -> Any:
            if not isinstance(raw, dict) or isinstance(raw.get("text"), str):
                return TextResourceContents
            return BlobResourceContents if "blob" in raw else TextResourceContents


class EmbeddedResource(Extensible, kw_only=True):
    """A resource whose contents travel with the block."""

    resource: EmbeddedResourceResource
    annotations: Maybe[Annotations] = UNSET


class TextBlock(TextContent, tag_field="type", tag="text", kw_only=True):
    """A block of text."""


class ImageBlock(ImageContent, tag_field="type", tag="image", kw_only=True):
    """A block that shows an image."""


class AudioBlock(AudioContent, tag_field="type", tag="audio", kw_only=True):
    """A block that holds a sound."""


class ResourceBlock(EmbeddedResource, tag_field="type", tag="resource", kw_only=True):
    """A block that carries a resource whole."""
