"""Cost of the engine for one line, in nanoseconds: framing plus dispatch, on the hot path and on the general one.

The decoder of the hot path is an empty function here, so what is left is the engine alone.
"""

from __future__ import annotations

import sys
import time

from duologue.jsonrpc import Engine

PREFIX = b'{"jsonrpc":"2.0","method":"session/update",'
CHUNK = 64 * 1024
ROUNDS = 200


def line_of(size: int, head: bytes) -> bytes:
    """One notification whose text has `size` bytes."""
    return head + b'"params":{"text":"' + b"x" * size + b'"}}\n'


def cost(engine: Engine, line: bytes) -> float:
    """The best of several rounds, a chunk of many lines each."""
    count = max(1, CHUNK // len(line))
    chunk = line * count
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        engine.receive(chunk)
        best = min(best, time.perf_counter_ns() - start)
    return best / count


def main() -> None:
    print(f"Python {sys.version.split()[0]}")
    for size in (32, 2048):
        hot = Engine()
        hot.set_hot(PREFIX, lambda line: line)
        line = line_of(size, PREFIX)
        print(f"{len(line):5} bytes  hot {cost(hot, line):7.0f} ns  general {cost(Engine(), line):7.0f} ns")


if __name__ == "__main__":
    main()
