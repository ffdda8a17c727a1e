"""A kept session as something that can go on, and one that goes on as something that can be kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from duologue.coder.acp_history import History
from duologue.coder.conversation import Conversation
from duologue.coder.models.base import AssistantMessage, UserMessage
from duologue.coder.store.saved import Saved
from duologue.session.entries import Role
from duologue.session.transcript import Transcript

if TYPE_CHECKING:
    from duologue.coder.store.log import SessionLog

#: Told to the client and to the model of a call that had not ended when its process did.
INTERRUPTED = "This call was interrupted: the agent ended before it did. What it had done by then stays done."


def saved_of(
    history: History,
    conversation: Conversation | None,
    *,
    model: str,
    mode: str,
    interrupted: bool,
    heard: bool,
    unfinished: str,
) -> Saved:
    """A copy of a session that is open here, in the words of `Saved`: a turn that is at work is interrupted there."""
    transcript = Transcript()
    for update in history.transcript.updates():
        transcript.apply(update)
    messages = [] if conversation is None else [*conversation.messages]
    known = "" if conversation is None else conversation.id
    return Saved(known, model, mode, time.time(), transcript, messages, interrupted, heard, shown=[unfinished])


def write_all(saved: Saved, log: SessionLog) -> None:
    """Write a copy of a session down as one turn, which the caller ends."""
    log.began()
    for update in saved.transcript.updates():
        log.update(update)
    for message in saved.messages:
        log.added(message)


def restored(saved: Saved, log: SessionLog) -> tuple[History, Conversation]:
    """The session as it can go on. A turn that was interrupted is ended, and what was seen of it is known."""
    history = History(log, saved.transcript)
    usage = saved.transcript.usage
    conversation = Conversation(
        saved.conversation,
        saved.messages,
        saved.transcript.title,
        usage.cost.amount if usage is not None and usage.cost else None,
        log,
        INTERRUPTED,
    )
    if saved.interrupted:
        history.close_calls(INTERRUPTED)
        if not saved.heard:
            conversation.begin(UserMessage(last_prompt(saved.transcript)))
        if said := saved.unfinished:
            conversation.add_step(AssistantMessage(said))
        log.ended()
    return history, conversation


def last_prompt(transcript: Transcript) -> str:
    """The text of what the user said last."""
    return next((message.text for message in reversed(transcript.messages) if message.role is Role.USER), "")
