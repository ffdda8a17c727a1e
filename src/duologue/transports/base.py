"""What a transport and the peer on top of it owe each other.

A transport moves bytes and nothing else: it frames nothing and decodes nothing. It calls its sink from the event loop's
thread only, in order, and never after `connection_lost`.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from duologue.errors import DuologueError


class Closed(msgspec.Struct, frozen=True):
    """Why a connection ended, as far as the transport knows; the texts are for a person."""

    detail: str = "the connection was closed"
    exit_code: int | None = None
    signal: str | None = None
    stderr_tail: str = ""
    command: str | None = None

    def __str__(self) -> str:
        parts = [self.detail]
        if self.command:
            parts.append(f"command: {self.command}")
        if self.signal:
            parts.append(f"ended by {self.signal}")
        elif self.exit_code is not None:
            parts.append(f"exit code {self.exit_code}")
        text = "; ".join(parts)
        return (
            f"{text}\n--- last lines of its stderr ---\n{self.stderr_tail.rstrip()}"
            if self.stderr_tail.strip()
            else text
        )


class Sink(Protocol):
    """What a transport reports to."""

    def data_received(self, data: bytes) -> None: ...

    def connection_lost(self, reason: Closed) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class Transport(Protocol):
    """A two-way stream of bytes. docs/transports.md tells what one may have beyond this."""

    async def start(self, sink: Sink) -> None:
        """Begin to read. Raises `TransportError` when the stream cannot be opened."""

    def write(self, data: bytes | bytearray) -> None:
        """Hand over bytes; the caller must not change them afterwards. Never blocks."""

    def buffered(self) -> int:
        """Bytes handed over and not yet taken by the other end's kernel."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def close(self) -> None:
        """Flush what was written, end the stream, free everything; bounded in time, safe to call twice."""


class TransportError(DuologueError):
    """A stream could not be opened; the text says which and why."""
