"""The end of a stream, in bounded memory."""

from __future__ import annotations

import codecs
from collections import deque

#: Bytes below which a piece of text is put together with the next, so that many small ones do not take much room.
PIECE = 1024


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
        return (from_whole(data) if self.truncated else data).decode("utf-8", "replace")


class TextTail:
    """Keeps the end of a stream as text of at most `limit` bytes of UTF-8, which begins with a whole character.

    Each byte is decoded once, when it is added; what is no text is replaced. A character that is not whole yet waits
    for the rest of it until `end`. Reading again costs nothing while nothing was added.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: deque[tuple[str, int]] = deque()
        self._size = 0
        self._text: str | None = ""
        self.truncated = False

    def add(self, data: bytes) -> None:
        self._take(self._decoder.decode(data))

    def end(self) -> None:
        """The stream has ended: a character that was begun is none."""
        self._take(self._decoder.decode(b"", final=True))

    def text(self) -> str:
        if self._text is None:
            self._text = "".join(piece for piece, _ in self._pieces)
        return self._text

    def _take(self, text: str) -> None:
        if not text:
            return
        self._text = None
        size = size_of(text)
        self._size += size
        if self._pieces and self._pieces[-1][1] < PIECE:
            last, before = self._pieces.pop()
            text, size = last + text, before + size
        self._pieces.append((text, size))
        while self._size > self._limit:
            self._drop_first()

    def _drop_first(self) -> None:
        """Drop the first piece, or what is too much of it."""
        self.truncated = True
        first, size = self._pieces.popleft()
        self._size -= size
        if self._size < self._limit:
            kept = _end_of(first, self._limit - self._size)
            if kept:
                self._pieces.appendleft((kept, size_of(kept)))
                self._size += self._pieces[0][1]


def size_of(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _end_of(text: str, most: int) -> str:
    """The end of a text, in at most so many bytes."""
    return from_whole(text.encode()[-most:]).decode()


def from_whole(data: bytes) -> bytes:
    """UTF-8 that was cut somewhere, from its first whole character on."""
    start = 0
    # A character of UTF-8 has at most three bytes that continue it.
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
