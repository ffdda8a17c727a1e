"""Ids: what they are, and that requests and answers belong together."""

from __future__ import annotations

from duologue.check.judging import watch
from duologue.check.record import Said, Talk
from duologue.check.watching.lines import EITHER, Seen
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

#: After these a login may be needed again.
LOGS_OUT = frozenset({"logout", "auth/logout", "providers/disable"})


@watch("all-jsonrpc-02", *EITHER)
def answers_repeat_the_id(talk: Talk) -> Seen:
    asked = {said.id for said in talk.said if said.ours and said.asks}
    for said in talk.theirs:
        # An error under null is for what had no usable id.
        if said.answers and not (said.json.get("id") is None and "error" in said.json):
            yield said, "" if said.id in asked else "the answer's id is not that of a request"


@watch("all-jsonrpc-10", *EITHER)
def kinds_of_ids(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.asks:
            value = said.json["id"]
            sound = (
                isinstance(value, str | float) or value is None or (type(value) is int and -(2**63) <= value < 2**63)
            )
            yield said, "" if sound else "the id is no text, integer of 64 bits or null"


@watch("all-jsonrpc-11", *EITHER)
def ids_to_avoid(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.asks:
            value = said.json["id"]
            yield said, "a request has the id null or a fraction" if value is None or isinstance(value, float) else ""


@watch("all-jsonrpc-14", *EITHER)
def ids_in_use(talk: Talk) -> Seen:
    open_: set[tuple[str, object]] = set()
    for said in talk.said:
        if said.asks and not said.ours:
            yield said, "the id is still open" if said.id in open_ else ""
            open_.add(said.id)
        elif said.answers and said.ours:
            open_.discard(said.id)


@watch("all-cancellation-08", *EITHER)
def withdrawn_ids(talk: Talk) -> Seen:
    asked: set[tuple[str, object]] = set()
    for said in talk.theirs:
        if said.asks:
            asked.add(said.id)
        elif said.tells and said.method == "$/cancel_request":
            withdrawn = Said(said.line, {"id": said.params.get("requestId")})
            yield said, "" if withdrawn.id in asked else "requestId is not the id of a request that was made"


@watch("all-errors-01", Side.AGENT)
def login_is_needed(talk: Talk) -> Seen:
    opened = False
    pointed: set[object] = set()
    for said in talk.said:
        request = talk.request_of(said) if said.answers else None
        if said.ours and said.method == "providers/set":
            pointed.add(said.params.get("providerId"))
        elif request is not None and request.method == "providers/disable" and "result" in said.json:
            pointed.discard(request.params.get("providerId"))
        if said.ours and said.method in LOGS_OUT:
            opened = False
        elif request is not None and request.method == "session/new" and "result" in said.json:
            opened = True
        if not said.ours and said.code is not None:
            # Who has a session is logged in; but the endpoint of the check, to which providers are pointed, wants more.
            wrong = opened and not pointed and said.code == ErrorCode.AUTH_REQUIRED
            yield said, "-32000 is said although no login is needed" if wrong else ""


@watch("all-errors-03", *EITHER)
def given_up(talk: Talk) -> Seen:
    withdrawn: set[object] = set()
    cancelled = False
    for said in talk.said:
        if said.ours and said.method == "$/cancel_request":
            withdrawn.add(said.params.get("requestId"))
        cancelled = cancelled or (said.ours and said.method in {"session/cancel", "session/close"})
        if not said.ours and said.code is not None:
            wrong = said.code == ErrorCode.REQUEST_CANCELLED and said.json.get("id") not in withdrawn and not cancelled
            yield said, "-32800 is said of a request that nobody took back" if wrong else ""
