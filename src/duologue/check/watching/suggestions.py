"""Suggested edits: who may ask for them, and which may be sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk, inside
from duologue.check.watching.documents import EVENTS, Mirror, encoding_of, ends_of, places
from duologue.check.watching.lines import Seen
from duologue.check.watching.sessions import calls_where_offered
from duologue.protocol.method import Side

#: The kinds that a client has to offer, with the capability.
GATED = {"jump": "jump", "rename": "rename", "searchAndReplace": "searchAndReplace"}


def _suggested(talk: Talk) -> Iterator[tuple[Said, Said, list[Json]]]:
    """The requests for suggestions of the check, each with its answer and what is suggested."""
    for asked, answer in talk.answered("nes/suggest", ours=True):
        told = answer.result.get("suggestions")
        if isinstance(told, list):
            yield asked, answer, [each for each in told if isinstance(each, dict)]


@watch("allu-nes-08", Side.AGENT)
def kinds_that_are_offered(talk: Talk) -> Seen:
    offered = talk.capabilities(Side.CLIENT).get("nes")
    for _, answer, told in _suggested(talk):
        kinds = [each.get("kind") for each in told]
        wrong = [kind for kind in kinds if kind in GATED and inside(offered, GATED[kind]) is None]
        yield answer, f"{wrong[0]} is suggested and the client did not offer it" if wrong else ""


@watch("allu-nes-09", Side.AGENT)
def an_encoding_of_the_list(talk: Talk) -> Seen:
    offered = talk.capabilities(Side.CLIENT).get("positionEncodings")
    for _, answer in talk.answered("initialize", ours=True):
        told = talk.capabilities(Side.AGENT).get("positionEncoding")
        if told is not None:
            there = isinstance(offered, list) and told in offered
            yield answer, "" if there else f"positions count in {told}, which the client did not offer"


@watch("allu-nes-10", Side.AGENT)
def places_that_are_there(talk: Talk) -> Seen:
    texts = _line_counts(talk)
    for asked, answer, told in _suggested(talk):
        for each in told:
            edits = each.get("edits")
            stretches = [ends_of(inside(edit, "range")) for edit in edits] if isinstance(edits, list) else []
            if any(ends is not None and ends[1] < ends[0] for ends in stretches):
                yield answer, "a range ends before it begins"
            count = texts.get((id(asked), str(each.get("uri"))))
            if count is not None:
                # The end of a text may be told as the start of the line behind it.
                beyond = [place for place in places(each) if place > (count, 0)]
                yield answer, f"the document has no line {beyond[0][0]}" if beyond else ""


def _line_counts(talk: Talk) -> dict[tuple[int, str], int]:
    """How many lines a document had when suggestions were asked for, by the identity of the request."""
    mirror = Mirror(encoding_of(talk))
    found: dict[tuple[int, str], int] = {}
    for said in talk.said:
        if said.ours:
            for _ in mirror.hear(said):
                pass
            uri = str(said.params.get("uri"))
            if said.method == "nes/suggest" and (held := mirror.document(said.session, uri)) is not None:
                found[id(said), uri] = held.line_count
    return found


@watch("allu-nes-01", Side.CLIENT)
def asks_where_offered(talk: Talk) -> Seen:
    calls = [said for said in talk.theirs if (said.method or "").startswith("nes/") or said.method in EVENTS]
    return calls_where_offered(talk, "nes", calls, "nes is not offered")


@watch("allu-nes-06", Side.CLIENT)
def context_that_is_wanted(talk: Talk) -> Seen:
    offered = talk.capabilities(Side.AGENT).get("nes")
    wanted = inside(offered, "context")
    for said in talk.theirs:
        if said.method == "nes/suggest" and isinstance(offered, dict):
            context = said.params.get("context")
            given = context.items() if isinstance(context, dict) else ()
            yield said, next((text for name, value in given if (text := _unwanted(wanted, name, value))), "")


def _unwanted(wanted: Any, name: str, value: Any) -> str:
    if value is None or name == "_meta":
        return ""
    if inside(wanted, name) is None:
        return f"the context has {name}, which the agent did not ask for"
    most = inside(wanted, name, "maxCount")
    more = isinstance(most, int) and isinstance(value, list) and len(value) > most
    return f"the context has more of {name} than the agent asked for" if more else ""
