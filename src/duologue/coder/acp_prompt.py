"""A prompt's content blocks as what the model is told. Nothing is fetched, and nothing is dropped without a word."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from duologue.coder.errors import ToolError
from duologue.coder.files import Files
from duologue.coder.models.base import ImagePart, UserMessage
from duologue.coder.texts import plain
from duologue.local.errors import LocalError
from duologue.local.workspace import Workspace
from duologue.protocol.common.content import BlobResourceContents, ImageBlock, ResourceBlock, TextBlock
from duologue.protocol.v2.content import ContentBlock, ResourceLinkBlock

#: The longest linked file, and the longest embedded text, that is put into a prompt, in characters.
LINKED_CHARACTERS = 64 * 1024
EMBEDDED_CHARACTERS = 512 * 1024

#: What models take as images.
IMAGE_TYPES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
IMAGE_BYTES = 20 * 1024 * 1024


class PromptReader:
    """Reads prompts for one session. `sees` says whether the model takes images."""

    def __init__(self, workspace: Workspace, files: Files, *, sees: bool) -> None:
        self._workspace = workspace
        self._files = files
        self._sees = sees
        self._images: list[ImagePart] = []

    async def read(self, blocks: Sequence[ContentBlock]) -> UserMessage:
        """Text as it is; the rest as text that says what it is, and images beside it."""
        parts = [await self._part(block) for block in blocks]
        return UserMessage("\n".join(part for part in parts if part), tuple(self._images))

    async def _part(self, block: ContentBlock) -> str:
        match block:
            case TextBlock(text=text):
                return text
            case ResourceLinkBlock():
                return await self._link(block)
            case ResourceBlock():
                return _embedded(block)
            case ImageBlock():
                return self._image(block)
        return f"[a content block of a type that is not known here was left out: {_type_of(block)}]"

    async def _link(self, block: ResourceLinkBlock) -> str:
        told = f"[link: {block.name} {block.uri}]"
        path = local_path(block.uri)
        if path is None:
            return told
        try:
            place = self._workspace.resolve(path)
            text = plain(await self._files.read_text(place.shown))
        except (ToolError, LocalError, OSError):
            return told
        if len(text) > LINKED_CHARACTERS:
            return told
        return _enclosed(str(place.shown), text)

    def _image(self, block: ImageBlock) -> str:
        if not self._sees:
            return "[an image was left out: this model cannot see images]"
        if not block.data:
            return f"[an image without data was left out; it is never fetched: {block.uri or 'no address'}]"
        if block.mime_type not in IMAGE_TYPES:
            return "[an image was left out: its type is none of PNG, JPEG, GIF and WebP]"
        data = decoded(block.data)
        if not data:
            return "[an image was left out: its data is not valid base64]"
        if len(data) > IMAGE_BYTES:
            return f"[an image was left out: {len(data)} bytes are more than {IMAGE_BYTES}]"
        self._images.append(ImagePart(data, block.mime_type))
        return ""


def _embedded(block: ResourceBlock) -> str:
    resource = block.resource
    if isinstance(resource, BlobResourceContents):
        data = decoded(resource.blob)
        size = "not valid base64" if data is None else f"{len(data)} bytes"
        return f"[a resource that is not text was left out: {resource.uri} ({size})]"
    text = resource.text
    if len(text) > EMBEDDED_CHARACTERS:
        left = len(text) - EMBEDDED_CHARACTERS
        text = f"{text[:EMBEDDED_CHARACTERS]}\n[{left} more characters were left out]"
    path = local_path(resource.uri)
    return _enclosed(resource.uri if path is None else str(path), text)


def _enclosed(name: str, text: str) -> str:
    """A text with its name, so that the model sees where it begins and ends."""
    shown = name.replace('"', "%22").replace("\n", " ")
    return f'<file name="{shown}">\n{text}{"" if text.endswith(chr(10)) else chr(10)}</file>'


def local_path(uri: str) -> Path | None:
    """The path of a `file:` URI of this machine; None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path)
    return Path(path) if path.startswith("/") and "\0" not in path else None


def decoded(data: str) -> bytes | None:
    """The bytes of strict base64, None for anything else."""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return None


def _type_of(block: object) -> str:
    raw = getattr(block, "raw", {})
    return repr(str(raw.get("type", type(block).__name__))[:40])
