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
        """A JSON value without secrets; the output of terminals is looked into as well."""
        return self._walk(mask(value, sys.maxsize))

    def text(self, text: str) -> str:
        masked = self.value(text)
        assert isinstance(masked, str)
        return masked

    def _walk(self, value: Any) -> Any:
        match value:
            case str():
                return without(value, self._secrets)
            case {"sessionUpdate": "terminal_output_chunk", "data": str(data)}:
                return {**value, "data": self._output(data)}
            case {"sessionUpdate": "terminal_update", "output": {"data": str(data)}}:
                return {**value, "output": {"data": self._output(data)}}
            case Mapping():
                return {key: self._walk(item) for key, item in value.items()}
            case list() | tuple():
                return [self._walk(item) for item in value]
        return value

    def _output(self, data: str) -> str:
        """Output in base64. Bytes that are no text stay as they are."""
        text = b64decode(data).decode("utf-8", "surrogateescape")
        return b64encode(self.text(text).encode("utf-8", "surrogateescape")).decode()
