"""Small programs to start, and a sink that keeps what they say."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from duologue.transports.base import Closed
from duologue.transports.spawn import SpawnTransport
from wire import PATIENCE


class Heard:
    """A sink that keeps all data and the reason of the end."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.reasons: list[Closed] = []

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, reason: Closed) -> None:
        self.reasons.append(reason)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    async def end(self) -> Closed:
        await until(lambda: self.reasons)
        return self.reasons[0]


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that no event tells; fails after `PATIENCE`."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def python(folder: Path, code: str, name: str = "agent.py") -> list[str]:
    """The command of a Python program."""
    script = folder / name
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return [sys.executable, "-S", str(script)]


def shell(folder: Path, code: str, name: str = "agent.sh") -> list[str]:
    """The command of a shell script."""
    script = folder / name
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return ["/bin/sh", str(script)]


@asynccontextmanager
async def spawned(command: list[str], **options: object) -> AsyncIterator[tuple[SpawnTransport, Heard]]:
    """A running child and what is heard of it; closed in the end, within bounds."""
    heard = Heard()
    transport = SpawnTransport(command, **{"grace_seconds": 0.3, **options})  # type: ignore[arg-type]
    await transport.start(heard)
    try:
        yield transport, heard
    finally:
        await asyncio.wait_for(transport.close(), PATIENCE)


async def pids_in(file: Path, count: int = 1) -> list[int]:
    """The process ids that programs have written into a file, one a line."""

    def words() -> list[str]:
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    await until(lambda: len(words()) >= count)
    return [int(word) for word in words()]
