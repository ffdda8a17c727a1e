"""Whether something that a client would do for its agent may be done: by the policy, by an answer that was given for
just this, or by the client's own word."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from duologue.client.policy import Policy
from duologue.client.subjects import real
from duologue.local.rules import Subject

if TYPE_CHECKING:
    from duologue.client.session import Session

log = logging.getLogger("duologue.client")

#: What a client without a policy goes by: everything is asked about.
ASK_ALL = Policy()


async def permitted(session: Session, subject: Subject) -> bool:
    """Whether an action is allowed. A rejection stands above any grant; a client that fails has not said yes. Nothing
    is allowed in a session that is over, also where that came between the question and its answer."""
    return session.is_open and await _allowed(session, subject) and session.is_open


async def _allowed(session: Session, subject: Subject) -> bool:
    client = session.connection.client
    decision = (client.policy or ASK_ALL).about(subject, real(".", session.cwd))
    if decision.answer != "ask":
        return decision.answer == "allow"
    if session.grants.take(subject):
        return True
    if session.prompts.cancelling:
        return False
    try:
        return await session.questions.ask(client.confirm(session, subject), False) is True
    except Exception:
        log.exception("confirming failed; it is refused")
        return False
