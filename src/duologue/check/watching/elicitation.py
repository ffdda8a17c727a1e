"""Questions to the user: forms, and pages to visit."""

from __future__ import annotations

from collections.abc import Iterator

from duologue.check.judging import watch
from duologue.check.record import Said, Talk, inside
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side


@watch("all-elicitation-06", Side.AGENT)
def belongs_somewhere(talk: Talk) -> Seen:
    for said in _asked(talk):
        belongs = isinstance(said.session, str) != ("requestId" in said.params)
        yield said, "" if belongs else "it belongs neither to a session nor to a request, or to both"


@watch("all-elicitation-24", Side.AGENT)
def urls_told_apart(talk: Talk) -> Seen:
    open_: set[object] = set()
    for said in talk.theirs:
        if said.method == "elicitation/complete":
            open_.discard(said.params.get("elicitationId"))
        elif said.method == "elicitation/create" and said.params.get("mode") == "url":
            id = said.params.get("elicitationId")
            yield said, "the elicitationId is still open" if id in open_ else ""
            open_.add(id)


@watch("all-elicitation-26", Side.AGENT)
def completes_what_was_asked(talk: Talk) -> Seen:
    asked = {said.params.get("elicitationId") for said in _asked(talk)}
    for said in talk.theirs:
        if said.method == "elicitation/complete":
            yield said, "" if said.params.get("elicitationId") in asked else "nothing was asked under this id"


@watch("all-elicitation-30", Side.AGENT)
def urls_are_safe(talk: Talk) -> Seen:
    for said in _asked(talk):
        if isinstance(url := said.params.get("url"), str):
            near = url.startswith(("https://", "http://localhost", "http://127.0.0.1"))
            yield said, "" if near or ":" not in url else "the url is not https"


@watch("all-elicitation-37", Side.AGENT)
def no_links_in_forms(talk: Talk) -> Seen:
    for said in _asked(talk):
        if said.params.get("mode") == "form":
            linked = "://" in str(said.params.get("message")) + str(said.params.get("requestedSchema"))
            yield said, "the form has a link" if linked else ""


@watch("v2-elicitation-01", Side.AGENT)
def has_choices(talk: Talk) -> Seen:
    for said in _asked(talk):
        properties = inside(said.params, "requestedSchema", "properties")
        for field in properties.values() if isinstance(properties, dict) else ():
            choices = [inside(field, *path) for path in (("enum",), ("oneOf",), ("items", "enum"), ("items", "anyOf"))]
            for each in choices:
                if isinstance(each, list):
                    yield said, "" if each else "a list of choices is empty"


def _asked(talk: Talk) -> Iterator[Said]:
    return (said for said in talk.theirs if said.method == "elicitation/create" and said.asks)
