"""Any bytes in any chunks raise nothing, and well-formed lines between them all arrive, in order."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from input_rows import ROWS

from duologue.jsonrpc import Engine, Limits, Notification

FUZZER = Path(__file__).parents[2] / "bench" / "fuzz_engine.py"
DOCUMENTED = [case.data.replace(b"\n", b"") for cases in ROWS.values() for case in cases if len(case.data) < 700]

JUNK = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(DOCUMENTED),
    st.tuples(st.sampled_from(DOCUMENTED), st.integers(0, 700)).map(lambda cut: cut[0][: cut[1]]),
    st.text(max_size=30).map(lambda text: json.dumps({"jsonrpc": "2.0", "method": text, "id": text}).encode()),
).map(lambda junk: junk.replace(b"\n", b" "))


def mark(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","method":"mark/this","params":[%d]}' % number


@settings(max_examples=300)
@given(st.lists(JUNK, max_size=8), st.lists(st.integers(1, 40), min_size=1, max_size=30), st.booleans())
@pytest.mark.req("all-jsonrpc-18", "all-framing-06", "all-framing-07")
def test_marks_between_junk_arrive_in_order(junk: list[bytes], sizes: list[int], batches: bool) -> None:
    lines = [line for number, piece in enumerate(junk) for line in (piece, mark(number))]
    data = b"\n".join(lines)
    engine = Engine(Limits(message_bytes=600, depth=8), batches=batches)
    events: list[Any] = []
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        events += engine.receive(data[at : at + size])
        at, turn = at + size, turn + 1
    events += engine.end()
    marks = [event for event in events if isinstance(event, Notification) and event.method == "mark/this"]
    assert [json.loads(bytes(event.params or b"")) for event in marks] == [[number] for number in range(len(junk))]
    for line in engine.take_replies().splitlines():
        json.loads(line)


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_engine", FUZZER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its types name each other, which is looked up here.
    sys.modules["fuzz_engine"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(4))
def test_a_short_run_of_the_fuzzer(fuzzer: ModuleType, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(1000):
        fuzzer.check(rng)
