"""The end of a stream, in bounded memory."""

from __future__ import annotations


class Tail:
    """Keeps the last `limit` bytes of what is added."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._added = 0

    @property
    def truncated(self) -> bool:
        """Whether something was left out."""
        return self._added > self._limit

    def add(self, data: bytes) -> None:
        self._added += len(data)
        self._data += data
        # Not at each addition: that would move the whole each time.
        if len(self._data) > 2 * self._limit:
            del self._data[: len(self._data) - self._limit]

    def kept(self) -> bytes:
        """The bytes."""
        return bytes(self._data[max(0, len(self._data) - self._limit) :])

    def text(self) -> str:
        """The bytes as text that begins with a whole character; what is no text is replaced."""
        data = self.kept()
        start = 0
        # A character of UTF-8 has at most three bytes that continue it.
        while self.truncated and start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
            start += 1
        return data[start:].decode("utf-8", "replace")
