"""Secrets kept out of what is written down."""

from __future__ import annotations

import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from duologue.coder.models.keys import Secret, without
from duologue.local.masking import mask


class Cleaner:
    """Masks what `duologue.local.masking` knows by name and by shape, and the `secrets` by their value."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._secrets = tuple(map(Secret, secrets))

    def value(self, value: Any) -> Any:
        """A JSON value without secrets; what stands in base64 is looked into as well, and is no text before."""
        return self._walk(mask(_opened(value), sys.maxsize))

    def text(self, text: str) -> str:
        masked = self.value(text)
        assert isinstance(masked, str)
        return masked

    def _walk(self, value: Any) -> Any:
        match value:
            case str():
                return without(value, self._secrets)
            case _Output():
                return _coded(self.text(_text(value)))
            case bytes():
                return self._blob(value)
            case Mapping():
                return {key: self._walk(item) for key, item in value.items()}
            case list() | tuple():
                return [self._walk(item) for item in value]
        return value

    def _blob(self, data: bytes) -> str:
        """Text is masked as any other. What is none, such as an image, loses only the `secrets` themselves."""
        try:
            return _coded(self.text(data.decode()))
        except UnicodeDecodeError:
            return _coded(without(_text(data), self._secrets))


class _Output(bytes):
    """What a terminal gave: text, though some of it may be cut or be none."""


def _opened(value: Any) -> Any:
    """The value with bytes for what stands in base64."""
    match value:
        case {"sessionUpdate": "terminal_output_chunk", "data": str(data)}:
            return {**value, "data": _decoded(data, _Output)}
        case {"sessionUpdate": "terminal_update", "output": {"data": str(data)}}:
            return {**value, "output": {"data": _decoded(data, _Output)}}
        case {"data": str(data), "mimeType": str()} | {"data": str(data), "media_type": str()}:
            others = {key: _opened(item) for key, item in value.items() if key != "data"}
            return {**others, "data": _decoded(data, bytes)}
        case {"blob": str(data)}:
            others = {key: _opened(item) for key, item in value.items() if key != "blob"}
            return {**others, "blob": _decoded(data, bytes)}
        case Mapping():
            return {key: _opened(item) for key, item in value.items()}
        case list() | tuple():
            return [_opened(item) for item in value]
    return value


def _decoded(data: str, kind: type[bytes]) -> bytes | str:
    """The bytes; what is no base64 stays a text, and is masked as one."""
    try:
        return kind(b64decode(data, validate=True))
    except ValueError:
        return data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _coded(text: str) -> str:
    return b64encode(text.encode("utf-8", "surrogateescape")).decode()
