"""Exact rows: after the way down and up, and up and down, the JSON is the same."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import Line, decoded, plain, shape
from hypothesis import HealthCheck, given, settings
from protocol_values import values

from duologue.protocol.base import Unknown
from duologue.protocol.changes.steps import Answer, Ask, Notify
from duologue.protocol.changes.table import METHODS, PARTS, UPDATES, Kind
from duologue.protocol.method import Request, Side
from duologue.protocol.version import V1, V2, Version

QUICK = settings(max_examples=40, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
EXACT = [row for row in METHODS if row.kind is Kind.EXACT]
BOTH = [row for row in EXACT if row.v2 is not None]


def only(steps: Any, kind: type) -> Any:
    (step,) = [step for step in steps if isinstance(step, kind)]
    return step


def receiver(method: Any) -> Side:
    side: Side = next(iter(method.receivers))
    return side


@pytest.mark.parametrize("row", BOTH, ids=lambda row: row.v1.name)
@pytest.mark.parametrize("version", [V1, V2], ids=["from_v1", "from_v2"])
def test_params(row: Any, version: Version) -> None:
    first = row.v1 if version is V1 else row.v2
    lines = {"up": Line(receiver(row.v1)), "down": Line(receiver(row.v1).other)}

    @QUICK
    @given(shape(version, first.params))
    def comes_back(params: Any) -> None:
        said = decoded(first.params, params)
        there = passed(lines, version, first, said)
        back = passed(lines, V2 if version is V1 else V1, there.method, there.params)
        assert back.method is first
        assert plain(back.params) == plain(said)

    comes_back()


def passed(lines: dict[str, Line], version: Version, method: Any, params: Any) -> Any:
    """A request or notification of one version, as the step that says it in the other."""
    edge = lines["up" if version is V1 else "down"].edge
    if isinstance(method, Request):
        change = edge.request_in if version is V1 else edge.request_out
        return only(change(method, params, "key"), Ask)
    note = edge.notification_in if version is V1 else edge.notification_out
    return only(note(method, params), Notify)


@pytest.mark.parametrize("row", [row for row in BOTH if isinstance(row.v1, Request)], ids=lambda row: row.v1.name)
def test_results(row: Any) -> None:
    asked, asks = Line(receiver(row.v1)), Line(receiver(row.v1).other)

    @QUICK
    @given(shape(V1, row.v1.params), shape(V2, row.v2.result))
    def comes_back(params: Any, result: Any) -> None:
        up = only(asked.edge.request_in(row.v1, decoded(row.v1.params, params), "key"), Ask)
        only(asks.edge.request_out(row.v2, up.params, "key"), Ask)
        said = decoded(row.v2.result, result)
        told = only(asked.edge.result_out("key", said), Answer)
        wire = decoded(row.v1.result, plain(told.result))
        heard = only(asks.edge.result_in("key", wire, raw=plain(told.result)), Answer)
        assert plain(heard.result) == plain(said)

    comes_back()


@pytest.mark.parametrize("row", [row for row in EXACT if row.v2 is None], ids=lambda row: row.v1.name)
def test_methods_that_only_v1_has(row: Any) -> None:
    line = Line(receiver(row.v1))

    @QUICK
    @given(shape(V1, row.v1.params), shape(V1, row.v1.result))
    def stays(params: Any, result: Any) -> None:
        said, answer = decoded(row.v1.params, params), decoded(row.v1.result, result)
        asked = only(line.edge.request_in(row.v1, said, "key"), Ask)
        assert asked.method is row.v1
        assert plain(asked.params) == plain(said)
        assert only(line.edge.result_out("key", answer), Answer).result is answer

    stays()


@pytest.mark.parametrize("row", [row for row in PARTS if row.kind is Kind.EXACT], ids=lambda row: row.reason)
def test_parts(row: Any) -> None:
    name = next(name for name in V2.types if V2.types.find(name) is row.v2)

    @QUICK
    @given(values("v2", name))
    def comes_back(value: Any) -> None:
        part = decoded(row.v2, value)
        if isinstance(part, Unknown):
            return  # v1 is not given options of an unknown type
        down = plain(row.down(part))
        assert plain(row.up(decoded(row.v1, down))) == plain(part)

    comes_back()


def test_no_update_is_exact() -> None:
    """An update that is the same in both versions has no row."""
    assert not [row for row in UPDATES if row.kind is Kind.EXACT]
