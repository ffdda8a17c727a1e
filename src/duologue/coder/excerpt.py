"""The first and last bytes of an output of any length, as text."""

from __future__ import annotations

from collections import deque

from duologue.processes.tail import from_whole


class Excerpt:
    """Keeps `head` bytes from the start and `tail` bytes from the end; memory stays near the sum of both."""

    def __init__(self, head: int, tail: int) -> None:
        self.total = 0
        self._head = bytearray()
        self._head_room = head
        self._tail_room = tail
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        take = min(self._head_room - len(self._head), len(data))
        if take > 0:
            self._head += data[:take]
            data = data[take:]
        if not data or not self._tail_room:
            return
        self._tail.append(data[-self._tail_room :])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        return self.total > len(self._head) + min(self._tail_size, self._tail_room)

    def text(self) -> str:
        """The output; where bytes are left out, a line says how many. No character is cut in half."""
        tail = b"".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_room) :]
        if not self.truncated:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head, tail = whole_start(bytes(self._head)), from_whole(tail)
        left_out = self.total - len(head) - len(tail)
        notice = f"\n[... {left_out} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + notice + tail.decode("utf-8", "replace")


def whole_start(data: bytes) -> bytes:
    """`data` without a character that is cut off at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 1 if byte < 0x80 else 2 if byte >> 5 == 6 else 3 if byte >> 4 == 14 else 4 if byte >> 3 == 30 else 1
        return data[:-back] if length > back else data
    return data
