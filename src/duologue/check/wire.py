"""The checker's end of a connection: says exactly what a probe wants, records all, and serves what is asked of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from duologue.check.judging import Failed
from duologue.check.record import Json, Said, Talk, key_of, tail
from duologue.local.masking import mask_text
from duologue.transports.base import Closed, Transport

T = TypeVar("T")

#: How many round trips are waited for something that nobody owes.
ROUND_TRIPS = 10
#: The most and the least that this may be, in seconds.
LONGEST_GRACE, SHORTEST_GRACE = 1.0, 0.05

#: The most that a program may say on one connection, in bytes and in lines: no probe asks for as much, and all of it is
#: kept and judged.
MOST_BYTES = 16 * 1024 * 1024
MOST_LINES = 20_000

Serve = Callable[["Wire", Said], None]


class Wire:
    """One connection to the program under test. `serve` answers its requests; `patience` is in seconds.

    Waiting ends with `Failed` when what is owed does not come, or the connection ends first.
    """

    def __init__(self, transport: Transport, talk: Talk, patience: float, serve: Serve) -> None:
        self.talk = talk
        self.patience = patience
        self.serve = serve
        #: Why the connection ended; None while it has not.
        self.closed: Closed | None = None
        self._transport = transport
        self._buffer = bytearray()
        self._moved = asyncio.Event()
        self._answers: dict[tuple[str, Any], Said] = {}
        self._next_id = 0
        self._round_trip = SHORTEST_GRACE
        self._heard = 0

    async def open(self) -> None:
        """Begin. Raises `TransportError` where the program cannot be started."""
        await self._transport.start(self)

    async def close(self) -> None:
        await self._transport.close()

    # --- the sink of the transport ------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self.closed is not None:
            return
        self._heard += len(data)
        self._buffer += data
        while (end := self._buffer.find(b"\n") + 1) > 0:
            messages = self.talk.add(False, bytes(self._buffer[:end]))
            del self._buffer[:end]
            for said in messages:
                if said.asks:
                    self.serve(self, said)
                elif said.answers:
                    self._answers.setdefault(said.id, said)
            if len(self.talk.lines) > MOST_LINES:
                self._buffer.clear()
                self._stop(f"{MOST_LINES} lines")
                return
        if self._heard > MOST_BYTES:
            self._stop(f"{MOST_BYTES >> 20} MiB")
        self._moved.set()

    def _stop(self, most: str) -> None:
        self._transport.pause_reading()
        self.connection_lost(Closed(f"more than {most} were sent, and the check stopped reading"))

    def connection_lost(self, reason: Closed) -> None:
        if self.closed is not None:
            return
        if self._buffer:
            self.talk.add(False, bytes(self._buffer))
            self._buffer.clear()
        self.closed = reason
        self._moved.set()

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    # --- saying -------------------------------------------------------------------------------------------------------

    def send(self, *messages: Any, pieces: int = 0) -> None:
        """Send in one write, or in writes of `pieces` bytes. Bytes go out as they are; anything else becomes a line."""
        lines = [each if isinstance(each, bytes) else as_line(each) for each in messages]
        data = b"".join(lines)
        for at in range(0, len(data), pieces or len(data)):
            self._transport.write(data[at : at + (pieces or len(data))])
        for line in lines:
            self.talk.add(True, line)

    def request(self, method: str, params: Any = None, **more: Any) -> Json:
        """A request under an id of its own, to be given to `send`."""
        self._next_id += 1
        return {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}, **more}

    def tell(self, method: str, params: Any = None) -> Json:
        """A notification, to be given to `send`."""
        return {"jsonrpc": "2.0", "method": method, "params": params or {}}

    def reply(self, asked: Said, answer: Json, *, pieces: int = 0) -> None:
        """Answer a request with a result or an error; nothing is sent where the connection has ended."""
        if self.closed is None:
            self.send({"jsonrpc": "2.0", "id": asked.json["id"], **answer}, pieces=pieces)

    async def ask(self, method: str, params: Any = None) -> Said:
        """Send a request and wait for its answer."""
        request = self.request(method, params)
        self.send(request)
        return await self.answer(request)

    # --- hearing ------------------------------------------------------------------------------------------------------

    async def answer(self, request: Json, *, patience: float | None = None) -> Said:
        """The answer to a request that was sent."""
        at = len(self.talk.lines)
        started = asyncio.get_running_loop().time()
        found = await self.wait(
            lambda: self.answer_now(request["id"]), f"no answer to {request['method']}", since=at, patience=patience
        )
        self._round_trip = max(SHORTEST_GRACE, asyncio.get_running_loop().time() - started)
        return found

    def answer_now(self, id: Any) -> Said | None:
        """The first answer with that id, if it has come."""
        return self._answers.get(key_of(id))

    def forget(self, id: Any) -> None:
        """An id that was used before is used again."""
        self._answers.pop(key_of(id), None)

    async def wait(
        self, condition: Callable[[], T | None], lacking: str, *, since: int = 0, patience: float | None = None
    ) -> T:
        """What the condition gives once it gives something. `lacking` says what was owed otherwise."""
        patience = self.patience if patience is None else patience
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while (found := condition()) is None:
                    if self.closed is not None:
                        raise Failed(f"{lacking}: {ending(self.closed)}", *tail(self.talk.lines))
                    self._moved.clear()
                    await self._moved.wait()
                return found
        raise Failed(f"{lacking} within {patience:g} s", *tail(self.talk.lines[max(0, since - 1) :]))

    async def look(self, condition: Callable[[], T | None], *, longest: float = 0.0) -> T | None:
        """The same for something that nobody owes, for as long as a few answers take, or `longest` seconds."""
        grace = longest or min(LONGEST_GRACE, max(SHORTEST_GRACE, self._round_trip * ROUND_TRIPS))
        grace = min(self.patience, grace)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while (found := condition()) is None and self.closed is None:
                    self._moved.clear()
                    await self._moved.wait()
                return found
        return None

    async def barrier(self) -> Said:
        """Wait until all that was sent so far has been read: the answer to a request that any program refuses."""
        return await self.ask("_duologue/check")

    async def gone(self, patience: float | None = None) -> Closed:
        """Wait for the end of the connection."""
        return await self.wait(lambda: self.closed, "the connection did not end", patience=patience)


def as_line(message: Any) -> bytes:
    """A message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def ending(closed: Closed) -> str:
    """How a connection ended, for a report: with the exit status of a process, and the last line of its stderr."""
    status = f"ended by {closed.signal}" if closed.signal else None
    if status is None and closed.exit_code is not None:
        status = f"exit code {closed.exit_code}"
    lines = closed.stderr_tail.strip().splitlines()
    said = f"the last line of its stderr is {mask_text(lines[-1])!r}" if lines else None
    return "; ".join(part for part in (closed.detail, status, said) if part)
