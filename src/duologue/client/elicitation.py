"""Questions of an agent to the user: forms and pages to visit (`elicitation/create`)."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from duologue.peer.errors import unknown_session, wrong_params
from duologue.protocol.base import Unknown
from duologue.protocol.common.capabilities import ElicitationCapabilities
from duologue.protocol.common.elicitation import (
    AcceptElicitation,
    CancelElicitation,
    CompleteElicitationNotification,
    CreateElicitationRequest,
    CreateElicitationResponse,
    DeclineElicitation,
    FormElicitation,
    UrlElicitation,
)
from duologue.session.forms import answer_problems

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.session import Session

log = logging.getLogger("duologue.client")

#: Pages that were agreed to and of which nothing was heard since; then the oldest is forgotten.
OPEN_PAGES = 1000


class Elicitations:
    """Answers the questions that come over one connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._pages: dict[str, None] = {}

    async def create(self, params: CreateElicitationRequest) -> CreateElicitationResponse:
        """The user's answer. Raises `RpcError` for a question that is not to be asked."""
        if not isinstance(params, FormElicitation | UrlElicitation) or not self._offers(params):
            raise wrong_params("this client does not answer such a question", "mode")
        session = self._session(params)
        if session is None:
            return await self._answer(None, params)
        if session.prompts.cancelling:
            return CancelElicitation()
        return await session.questions.ask(self._answer(session, params), CancelElicitation())

    def _offers(self, params: FormElicitation | UrlElicitation) -> bool:
        offered = self._connection.announced.elicitation or ElicitationCapabilities()
        return bool(offered.form if isinstance(params, FormElicitation) else offered.url)

    def _session(self, params: FormElicitation | UrlElicitation) -> Session | None:
        """The session that a question belongs to; None when it belongs to an open request."""
        if (params.session_id is UNSET) == (params.request_id is UNSET):
            raise wrong_params("a question belongs either to a session or to a request", "sessionId")
        if params.session_id is UNSET:
            return None
        session = self._connection.sessions.get(params.session_id)
        if session is None:
            raise unknown_session(params.session_id)
        return session

    async def _answer(
        self, session: Session | None, params: FormElicitation | UrlElicitation
    ) -> CreateElicitationResponse:
        try:
            if isinstance(params, FormElicitation):
                filled = await self._connection.client.fill_form(session, params)
                return _fitting(params, _as_answer("fill_form", filled))
            return await self._visit(session, params)
        except Exception:
            log.exception("answering a question failed; it is cancelled")
            return CancelElicitation()

    async def _visit(self, session: Session | None, params: UrlElicitation) -> CreateElicitationResponse:
        self._pages[params.elicitation_id] = None
        answer: CreateElicitationResponse = CancelElicitation()
        try:
            answer = _as_answer("open_url", await self._connection.client.open_url(session, params))
        finally:
            if not isinstance(answer, AcceptElicitation):
                self._pages.pop(params.elicitation_id, None)
        while len(self._pages) > OPEN_PAGES:
            del self._pages[next(iter(self._pages))]
        # An agreement to go there says nothing of what happens there.
        return replace(answer, content=UNSET) if isinstance(answer, AcceptElicitation) else answer

    def complete(self, note: CompleteElicitationNotification) -> None:
        """The user is done at a page; ignored unless that is one that was agreed to."""
        if note.elicitation_id not in self._pages:
            log.debug("ignored the end of a visit that is not known")
            return
        del self._pages[note.elicitation_id]
        try:
            self._connection.client.on_url_done(note.elicitation_id)
        except Exception:
            log.exception("on_url_done of the client failed")


def _as_answer(name: str, answer: CreateElicitationResponse) -> CreateElicitationResponse:
    """Raises `TypeError` for what a handler has returned and is no answer."""
    if isinstance(answer, AcceptElicitation | DeclineElicitation | CancelElicitation | Unknown):
        return answer
    kinds = "AcceptElicitation, DeclineElicitation or CancelElicitation"
    raise TypeError(f"{name} must return {kinds}, not {type(answer).__name__}")


def _fitting(form: FormElicitation, answer: CreateElicitationResponse) -> CreateElicitationResponse:
    """The answer to a form, if it fits: a wrong one never leaves."""
    if not isinstance(answer, AcceptElicitation):
        return answer
    content = answer.content or {}
    problems = answer_problems(form.requested_schema, content)
    problems += [f"{name}: is no value of a form" for name, value in content.items() if not _is_flat(value)]
    if problems:
        log.error("fill_form gave an answer that does not fit, so the question is cancelled: %s", "; ".join(problems))
        return CancelElicitation()
    return answer


def _is_flat(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) or (isinstance(value, list) and all(isinstance(item, str) for item in value))
