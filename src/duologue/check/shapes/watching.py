"""Looks over a connection for messages that do not fit the schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duologue.check.record import Said, Talk
from duologue.check.shapes.fit import Fit
from duologue.check.shapes.places import PLACES, THE_SCHEMA, broken_by, owners
from duologue.check.verdict import Finding
from duologue.protocol.method import Side
from duologue.protocol.version import BY_NUMBER, Version

#: What misfits break that no table of places names.
BEYOND_PLACES = (THE_SCHEMA, "all-extensibility-01", "all-extensibility-02", "all-extensibility-10")
OF_AN_AGENT = ("all-versioning-05", "v2-updates-11", "v2-extensibility-01")
OF_A_CLIENT = ("v2-extensibility-01",)


def shape_rows(side: Side) -> frozenset[str]:
    """The ids of the requirements that are judged here."""
    more = OF_AN_AGENT if side is Side.AGENT else OF_A_CLIENT
    return frozenset((*PLACES[side], *BEYOND_PLACES, *more))


def shape_findings(talk: Talk) -> Iterator[Finding]:
    """A finding for each requirement whose types were seen in what the program sent, and for each misfit."""
    number = talk.version or talk.proposed
    version = BY_NUMBER.get(number)
    if version is None:
        return
    met: set[str] = set()
    for said in talk.theirs:
        fit = Fit(number)
        for value, hint, path in _typed(talk, said, version):
            fit.root(value, hint, path)
        met |= fit.met
        for misfit in fit.misfits:
            yield Finding(broken_by(misfit, talk.side, number), str(misfit), (said.line,))
    if met:
        seen = {row for row, types in owners(talk.side, number).items() if types & met}
        more = OF_AN_AGENT if talk.side is Side.AGENT else OF_A_CLIENT
        for row in (*sorted(seen), *BEYOND_PLACES, *more):
            yield Finding(row)


def _typed(talk: Talk, said: Said, version: Version) -> Iterator[tuple[Any, Any, str]]:
    """The parts of a message that have a type: its params, or the result that it is."""
    other = talk.side.other
    if said.asks and (request := version.request(other, said.method or "")) is not None:
        yield said.json.get("params"), request.params, "params"
    elif said.tells and (notification := version.notification(other, said.method or "")) is not None:
        yield said.json.get("params"), notification.params, "params"
    elif said.answers and "result" in said.json:
        asked = talk.request_of(said)
        request = version.request(talk.side, asked.method or "") if asked is not None else None
        if request is not None:
            yield said.json["result"], request.result, "result"
