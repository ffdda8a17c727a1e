"""The other side of a connection as bare lines: says exactly what a test wants, and sees exactly what is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from duologue.agent import Agent, AgentConnection
from duologue.jsonrpc.limits import Limits
from duologue.local.entering import entered
from duologue.transports.base import Closed
from duologue.transports.memory import MemoryTransport, memory_pair

#: How long a test waits for a message or a condition before it fails, in seconds; long enough for a busy machine.
PATIENCE = 10.0

Json = dict[str, Any]


class Wire:
    """One end of a pair in memory that speaks lines of JSON. Give `far` to what is under test.

    ``async with Wire() as wire`` opens it and closes it in the end.
    """

    def __init__(self) -> None:
        near, self.far = memory_pair()
        self.near: MemoryTransport = near
        #: Why the connection ended; None as long as it has not.
        self.closed: Closed | None = None
        #: Whether the other side does not take what was sent.
        self.paused = False
        self._buffer = bytearray()
        self._lines: asyncio.Queue[Any] = asyncio.Queue()
        self._id = 0

    async def open(self) -> Self:
        """Begin to read."""
        await self.near.start(self)
        return self

    async def close(self) -> None:
        """End the connection."""
        await self.near.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    # --- the sink of the near end -------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            self._lines.put_nowait(json.loads(line))

    def connection_lost(self, reason: Closed) -> None:
        self.closed = reason

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False

    # --- saying -------------------------------------------------------------------------------------------------------

    def send(self, *messages: Json | bytes) -> None:
        """Send messages in one write. A `dict` becomes a line with ``"jsonrpc": "2.0"``; bytes go out as they are."""
        parts = [m if isinstance(m, bytes) else json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages]
        self.near.write(b"".join(parts))

    def call(self, method: str, params: Any) -> Json:
        """A request under an id of its own, to be given to `send`."""
        self._id += 1
        return {"id": self._id, "method": method, "params": params}

    async def ask(self, method: str, params: Any) -> Json:
        """Send a request and read until its answer, past anything else."""
        request = self.call(method, params)
        self.send(request)
        return await self.read_answer(request["id"])

    def answer(self, request: Json, result: Any) -> None:
        """Answer a request that was read."""
        self.send({"id": request["id"], "result": result})

    def refuse(self, request: Json, code: int = -32603, message: str = "Internal error", **more: Any) -> None:
        """Answer a request that was read with an error; `more` may have its `data`."""
        self.send({"id": request["id"], "error": {"code": code, "message": message, **more}})

    async def initialize(self, version: int) -> Json:
        """Shake hands as a client; what the agent answers. Raises `AssertionError` if it does not agree."""
        info = {"info": {"name": "wire", "version": "0"}} if version == 2 else {}
        answer = await self.ask("initialize", {"protocolVersion": version, **info})
        assert answer.get("result", {}).get("protocolVersion") == version, answer
        result: Json = answer["result"]
        return result

    async def answer_initialize(self, version: int, **members: Any) -> Json:
        """Shake hands as an agent, with more `members` of the answer if wanted; what the client asked."""
        request = await self.read_method("initialize")
        own = {"info": {"name": "wire", "version": "0"}, "capabilities": {"session": {}}} if version == 2 else {}
        self.answer(request, {"protocolVersion": version, **own, **members})
        return request

    # --- hearing ------------------------------------------------------------------------------------------------------

    async def read(self) -> Json:
        """The next message. Raises `TimeoutError` after `PATIENCE`, `RuntimeError` when the wire is not open."""
        if not self.near.started:
            raise RuntimeError("the wire is not open: async with Wire() as wire")
        try:
            message: Json = await asyncio.wait_for(self._lines.get(), PATIENCE)
        except TimeoutError:
            raise TimeoutError(f"no message came within {PATIENCE:g} s{self._loose_end()}") from None
        return message

    def _loose_end(self) -> str:
        if self.far.started:
            return ""
        return (
            ", since nothing is at the far end of the wire: give wire.far to a client, connect(lambda: wire.far), or "
            "to an agent, serve(agent, wire.far); wire_to(agent) does it by itself"
        )

    async def read_answer(self, id: Any) -> Json:
        """The answer to a request, past anything else."""
        while True:
            message = await self.read()
            if "method" not in message and message.get("id") == id:
                return message

    async def read_method(self, method: str) -> Json:
        """The next message of that method, past anything else."""
        while True:
            message = await self.read()
            if message.get("method") == method:
                return message

    async def silence(self) -> None:
        """Raises `AssertionError` if anything is sent in a few turns of the loop."""
        for _ in range(20):
            await asyncio.sleep(0)
        assert self._lines.empty(), f"unexpected: {self._lines.get_nowait()}"

    def pending(self) -> list[Json]:
        """Everything that has come and was not read yet."""
        found = []
        while not self._lines.empty():
            found.append(self._lines.get_nowait())
        return found


@entered("async with wire_to(...) as wire")
async def wire_to(agent: Agent, *, limits: Limits | None = None) -> AsyncIterator[Wire]:
    """Bare lines to an agent that is served in memory; nothing is said yet. Leaving ends both."""
    async with Wire() as wire:
        serving = AgentConnection(agent, limits=limits)
        await serving.start(wire.far)
        try:
            yield wire
        finally:
            await serving.close()


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(50):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that no event tells. Raises `TimeoutError` after `PATIENCE`."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
