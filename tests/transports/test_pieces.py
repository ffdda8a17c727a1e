"""Large messages leave in pieces, in order, and count as unread until they are gone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import pytest

from duologue.transports.base import Closed
from duologue.transports.pieces import PIECE_BYTES
from duologue.transports.pipes import PipeTransport


class Side:
    """A sink that keeps what it reads and counts the pauses."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.paused = False
        self.pauses = 0
        self.closed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, reason: Closed) -> None:
        self.closed.set()

    def pause_writing(self) -> None:
        self.paused = True
        self.pauses += 1

    def resume_writing(self) -> None:
        self.paused = False


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("waited in vain")


async def pair() -> tuple[PipeTransport, Side, PipeTransport, Side]:
    there, back = os.pipe(), os.pipe()
    left, right = PipeTransport(back[0], there[1]), PipeTransport(there[0], back[1])
    near, far = Side(), Side()
    await left.start(near)
    await right.start(far)
    return left, near, right, far


@pytest.mark.parametrize("sizes", [[5 * PIECE_BYTES + 7], [PIECE_BYTES], [10, 3 * PIECE_BYTES, 10, 2 * PIECE_BYTES, 1]])
async def test_all_of_it_arrives_in_order(sizes: list[int]) -> None:
    left, _, right, far = await pair()
    sent = b""
    for number, size in enumerate(sizes):
        part = bytes([65 + number]) * size
        sent += part
        left.write(part)
    await left.close()
    await asyncio.wait_for(far.closed.wait(), 10)
    assert far.data == sent
    assert left.buffered() == 0
    await right.close()


async def test_the_sender_is_paused_until_the_last_piece_is_taken() -> None:
    left, near, right, far = await pair()
    right.pause_reading()
    left.write(b"x" * (4 * PIECE_BYTES))
    await asyncio.sleep(0.05)
    assert near.paused
    assert left.buffered() > 3 * PIECE_BYTES
    right.resume_reading()
    await until(lambda: not near.paused)
    await left.close()
    await asyncio.wait_for(far.closed.wait(), 10)
    assert len(far.data) == 4 * PIECE_BYTES
    await right.close()


async def test_a_reader_that_goes_away_lets_the_sender_go_on() -> None:
    left, near, right, _ = await pair()
    right.pause_reading()
    left.write(b"x" * (4 * PIECE_BYTES))
    await right.close()
    await until(lambda: not near.paused and not left.buffered())
    await left.close()
