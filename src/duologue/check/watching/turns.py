"""Turns: what comes between a prompt and its end, and in which order."""

from __future__ import annotations

from collections.abc import Iterator

from duologue.check.judging import watch
from duologue.check.record import Said, Talk
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side

#: Updates that belong to the work of a turn.
OF_A_TURN = frozenset(
    (
        *("agent_message_chunk", "agent_thought_chunk", "agent_message", "agent_thought"),
        *("tool_call", "tool_call_update", "tool_call_content_chunk"),
    )
)
#: Requests that may bring forth what earlier turns said; whether they may tell it is a question of its own.
REOPENING = frozenset({"session/load", "session/resume", "session/fork"})


def _accepted(talk: Talk) -> Iterator[tuple[Said, Said]]:
    """Prompts with their answers, refused ones left out."""
    return ((p, a) for p, a in talk.answered("session/prompt", ours=True) if "result" in a.json)


@watch("v1-prompt-05", Side.AGENT)
def updates_before_the_answer(talk: Talk) -> Seen:
    yield from _before_the_answer(talk, cancelled=False)


@watch("v1-cancellation-03", Side.AGENT)
def updates_before_the_cancelled_answer(talk: Talk) -> Seen:
    yield from _before_the_answer(talk, cancelled=True)


def _before_the_answer(talk: Talk, *, cancelled: bool) -> Seen:
    open_: dict[object, int] = {}
    over: dict[object, Said] = {}
    for said in talk.said:
        if said.ours and said.method in {"providers/set", "providers/disable"}:
            # What an agent says of its providers then is not of the turn before.
            over.clear()
        if said.method == "session/prompt" and said.ours:
            open_[said.session] = open_.get(said.session, 0) + 1
        request = talk.request_of(said) if said.answers else None
        if request is not None and request.ours and request.method == "session/prompt":
            open_[request.session] -= 1
            over[request.session] = said
        if request is not None and request.method in REOPENING:
            over.pop(request.session, None)
        last = over.get(said.session) if said.update and not open_.get(said.session) else None
        if last is not None and (last.result.get("stopReason") == "cancelled") is cancelled:
            late = said.kind in OF_A_TURN and not _reopening(talk, said)
            yield said, "an update of the turn comes after the answer to its prompt" if late else ""
    for _, answer in _accepted(talk):
        if (answer.result.get("stopReason") == "cancelled") is cancelled:
            yield answer, ""


def _reopening(talk: Talk, update: Said) -> bool:
    """Whether the session is just being opened again: what is told of earlier turns then is no part of the last one."""
    return any(
        said.ours
        and said.method in REOPENING
        and said.session == update.session
        and said.line.number < update.line.number
        and ((answer := talk.answer_to(said)) is None or answer.line.number > update.line.number)
        for said in talk.said
    )


# --- states of version 2 ----------------------------------------------------------------------------------------------


def _states(talk: Talk, session: object, since: Said) -> list[Said]:
    """The states of a session from a message on."""
    return [
        said
        for said in talk.updates("state_update")
        if said.session == session and said.line.number > since.line.number
    ]


def _ends(talk: Talk) -> Iterator[tuple[Said, Said, Said]]:
    """Accepted prompts with their answers and the idle that came next.

    One that came while another was worked on is left out: that idle is the other's.
    """
    busy: dict[object, int] = {}
    for prompt, answer in _accepted(talk):
        idle = next((s for s in _states(talk, prompt.session, prompt) if s.update.get("state") == "idle"), None)
        if idle is not None and prompt.line.number > busy.get(prompt.session, -1):
            yield prompt, answer, idle
            busy[prompt.session] = idle.line.number


@watch("v2-prompt-01", Side.AGENT)
def answered_on_acceptance(talk: Talk) -> Seen:
    for _, answer, idle in _ends(talk):
        late = answer.line.number > idle.line.number
        yield answer, "the prompt is answered after the end of its work" if late else ""


@watch("v2-prompt-03", Side.AGENT)
def comes_back_as_a_message(talk: Talk) -> Seen:
    for prompt, _, idle in _ends(talk):
        come = [
            said
            for said in talk.updates("user_message", "user_message_chunk")
            if said.session == prompt.session and prompt.line.number < said.line.number < idle.line.number
        ]
        yield prompt, "" if come else "the prompt does not come back as a user message"


@watch("v2-prompt-04", Side.AGENT)
def running_is_told(talk: Talk) -> Seen:
    for prompt, _, idle in _ends(talk):
        told = [said.update.get("state") for said in _states(talk, prompt.session, prompt)]
        worked = any(
            said.kind in OF_A_TURN and said.session == prompt.session
            for said in talk.updates()
            if prompt.line.number < said.line.number < idle.line.number
        )
        if worked:
            yield idle, "" if "running" in told[: told.index("idle")] else "work is done in no state of running"


@watch("v2-prompt-06", Side.AGENT)
def idle_says_why(talk: Talk) -> Seen:
    running: set[object] = set()
    for said in talk.updates("state_update"):
        state = said.update.get("state")
        if state == "running":
            running.add(said.session)
        elif state == "idle" and said.session in running:
            running.discard(said.session)
            yield said, "" if said.update.get("stopReason") is not None else "the idle that ends work has no stopReason"


@watch("v2-prompt-15", Side.AGENT)
def reasons_of_idle_alone(talk: Talk) -> Seen:
    for said in talk.updates("state_update"):
        wrong = said.update.get("stopReason") is not None and said.update.get("state") != "idle"
        yield said, "a state other than idle has a stopReason" if wrong else ""


@watch("v2-prompt-08", Side.AGENT)
def waiting_is_told(talk: Talk) -> Seen:
    state: dict[object, object] = {}
    cancelled: set[object] = set()
    for said in talk.said:
        if said.ours and said.method in {"session/cancel", "session/close"}:
            cancelled.add(said.session)
        if said.kind == "state_update" and not said.ours:
            state[said.session] = said.update.get("state")
        if said.ours and said.answers and (question := talk.request_of(said)):
            # Who has been told to stop waits no more.
            if question.method != "session/request_permission" or question.session in cancelled:
                continue
            told = state.get(question.session)
            yield question, "" if told == "requires_action" else f"the state was {told} while the user was waited for"


@watch("v2-cancellation-02", Side.AGENT)
def updates_before_the_cancelled_idle(talk: Talk) -> Seen:
    idle: dict[object, bool] = {}
    for said in talk.said:
        if said.kind == "state_update" and said.update.get("state") in {"idle", "running"}:
            idle[said.session] = said.update.get("stopReason") == "cancelled"
            if idle[said.session]:
                yield said, ""
        elif said.ours and said.method in {"session/prompt", "session/resume"}:
            idle.pop(said.session, None)
        elif idle.get(said.session) and said.kind in OF_A_TURN:
            yield said, "an update of the cancelled work comes after its idle"


@watch("v2-updates-03", Side.AGENT)
def ids_of_messages(talk: Talk) -> Seen:
    role: dict[tuple[object, object], str] = {}
    resumed = talk.answered("session/resume", ours=True)
    told_again = {id(said) for request, _ in resumed for said in _during(talk, request)}
    for said in talk.updates():
        if id(said) in told_again:
            continue
        message = said.update.get("messageId")
        kind = str(said.kind).removesuffix("_chunk")
        if isinstance(message, str) and kind in {"user_message", "agent_message", "agent_thought"}:
            known = role.setdefault((said.session, message), kind)
            yield said, "" if known == kind else f"the messageId is that of an earlier {known}"


def _during(talk: Talk, request: Said) -> Iterator[Said]:
    """The updates between a request and its answer."""
    answer = talk.answer_to(request)
    return (
        said
        for said in talk.updates()
        if answer is not None and request.line.number < said.line.number < answer.line.number
    )
