"""The same questions as fuzz_engine.py, with input steered by coverage. Needs `pip install atheris`.

python bench/fuzz_engine_coverage.py -runs=200000 [corpus folder]
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["duologue.jsonrpc"]):
    from duologue.jsonrpc import Engine, Request

from fuzz_engine import LIMITS, SEEDS, check_answers, run, shown


def check(data: bytes) -> None:
    """The first three bytes choose limits, options and the size of a chunk; the rest is the stream."""
    if len(data) < 3:
        return
    limits, batches, answer_noise = LIMITS[data[0] % len(LIMITS)], bool(data[1] & 1), bool(data[1] & 2)
    size, data = data[2] % 64 + 1, data[3:]
    whole, chunked = (Engine(limits, batches=batches, answer_noise=answer_noise) for _ in range(2))
    events, sent = run([data], whole, hot=False)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    other, other_sent = run(pieces, chunked, hot=True)
    assert [shown(event) for event in events] == [shown(event) for event in other]
    assert sent == other_sent
    check_answers(sent)
    for event in events:
        if isinstance(event, Request):
            whole.response(event.id, b"0")
    assert whole.live_count == 0


def main() -> None:
    for seed in SEEDS:
        check(b"\x00\x03\x05" + seed)
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
