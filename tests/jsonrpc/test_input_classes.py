"""One row of the table in docs/framing.md after the other, in chunks of several sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from input_rows import PROVES, ROWS, Case

from duologue.jsonrpc import (
    Engine,
    ErrorResponse,
    Malformed,
    Noise,
    Notification,
    OversizedResponse,
    RemoteProtocolError,
    Request,
    Response,
    RpcError,
    UnexpectedResponse,
)

TABLE = Path(__file__).parents[2] / "docs" / "framing.md"


def plain(event: Any) -> tuple[Any, ...]:
    """An event as a short tuple that a table can hold."""
    match event:
        case Request(id, method, params):
            return ("request", id, method, params and json.loads(bytes(params)))
        case Notification(method, params):
            return ("notification", method, params and json.loads(bytes(params)))
        case Response(id, result):
            return ("result", id, json.loads(bytes(result)))
        case ErrorResponse(id, RpcError() as error):
            return ("error", id, error.code, error.message)
        case ErrorResponse(id, RemoteProtocolError()):
            return ("broken answer", id)
        case OversizedResponse(id, error):
            return ("oversized", id, error.limit)
        case UnexpectedResponse(id, _):
            return ("unexpected", id)
        case Noise():
            return ("noise",)
        case Malformed(code):
            return ("malformed", code)
    raise AssertionError(f"no event: {event!r}")


def answers(sent: bytes) -> list[Any]:
    """Each line as (code, id); a batch as the list of those."""

    def short(answer: dict[str, Any]) -> tuple[int, Any]:
        assert answer["jsonrpc"] == "2.0"
        return answer["error"]["code"], answer["id"]

    lines = [json.loads(line) for line in sent.splitlines()]
    return [[short(one) for one in line] if isinstance(line, list) else short(line) for line in lines]


def run(case: Case, chunk: int) -> tuple[list[Any], bytes]:
    engine = Engine(case.limits, batches=case.batches, answer_noise=case.answer_noise)
    engine.request("a", None)
    engine.request("b", None)
    events: list[Any] = []
    for start in range(0, len(case.data), chunk):
        events += engine.receive(case.data[start : start + chunk])
    events += engine.end()
    return [plain(event) for event in events], engine.take_replies()


@pytest.mark.parametrize("chunk", [1 << 20, 7, 1])
@pytest.mark.parametrize("row", [pytest.param(row, marks=pytest.mark.req(*PROVES.get(row, ()))) for row in ROWS])
def test_row(row: str, chunk: int) -> None:
    for case in ROWS[row]:
        events, sent = run(case, chunk)
        assert events == case.events, case.data
        assert answers(sent) == case.answers, case.data
        assert not sent or sent.endswith(b"\n")


def test_every_row_of_the_documentation_has_a_case() -> None:
    text = TABLE.read_text(encoding="utf-8").split("## Table")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(set(rows))
    assert set(ROWS) == set(rows)
