"""What a client answers: permission requests, questions to the user, its files and terminals, methods of its own."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from duologue.client.client import picked, refusal
from duologue.peer import Peer, Scope
from duologue.peer.errors import unknown_session
from duologue.peer.extensions import as_request_handler, handlers_of
from duologue.peer.overriding import check_instance
from duologue.protocol.base import Unknown
from duologue.protocol.common.permission import (
    CancelledOutcome,
    PermissionOptionKind,
    RequestPermissionOutcome,
    RequestPermissionResponse,
    SelectedOutcome,
)
from duologue.protocol.method import Request
from duologue.protocol.option_kinds import ALLOWING
from duologue.protocol.v1 import table as v1
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.permission import RequestPermissionRequest, ToolCallSubject

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.elicitation import Elicitations
    from duologue.client.policy import Answer
    from duologue.client.session import Session
    from duologue.client.subjects import Matter
    from duologue.protocol.common.elicitation import (
        CompleteElicitationNotification,
        CreateElicitationRequest,
        CreateElicitationResponse,
    )

log = logging.getLogger("duologue.client")

P = TypeVar("P")
R = TypeVar("R")


class Serving:
    """Answers the agent on behalf of a `Client`, in the sessions of one connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._client = connection.client
        self._elicitations: Elicitations | None = None

    def register(self, peer: Peer) -> None:
        """Answer what the client offers; the rest counts as unknown."""
        peer.handle(v2.SESSION_REQUEST_PERMISSION, self._permission)
        peer.handle(v2.ELICITATION_CREATE, self._elicit)
        peer.apply(v2.ELICITATION_COMPLETE, self._completed)
        files, terminals = self._client.files, self._client.terminals
        self._check_parts()
        if files is not None:
            self._in_session(peer, v1.FS_READ_TEXT_FILE, files.read)
            if files.writes:
                self._in_session(peer, v1.FS_WRITE_TEXT_FILE, files.write)
        if terminals is not None:
            self._in_session(peer, v1.TERMINAL_CREATE, terminals.create)
            self._in_session(peer, v1.TERMINAL_OUTPUT, terminals.output)
            self._in_session(peer, v1.TERMINAL_WAIT_FOR_EXIT, terminals.wait_for_exit)
            self._in_session(peer, v1.TERMINAL_KILL, terminals.kill)
            self._in_session(peer, v1.TERMINAL_RELEASE, terminals.release)
        for method, function in handlers_of(self._client):
            if isinstance(method, Request):
                peer.handle(method, as_request_handler(function))
            else:
                peer.listen(method, function)

    def _check_parts(self) -> None:
        """Raises `TypeError` for files, terminals or a policy of the client that are none."""
        client = self._client
        if client.files is not None:
            from duologue.client.files import LocalFiles

            check_instance(client.files, LocalFiles, "Client.files")
        if client.terminals is not None:
            from duologue.client.terminals import LocalTerminals

            check_instance(client.terminals, LocalTerminals, "Client.terminals")
        if client.policy is not None:
            from duologue.client.policy import Policy

            check_instance(client.policy, Policy, "Client.policy")

    def _in_session(self, peer: Peer, method: Request[P, R], answer: Callable[[Session, P], Awaitable[R]]) -> None:
        async def handler(params: Any, scope: Scope) -> R:
            session = self._connection.sessions.get(params.session_id)
            if session is None:
                raise unknown_session(params.session_id)
            return await answer(session, params)

        peer.handle(method, handler)

    # --- questions ----------------------------------------------------------------------------------------------------

    async def _elicit(self, params: CreateElicitationRequest, scope: Scope) -> CreateElicitationResponse:
        if self._elicitations is None:
            # Late: most agents ask none.
            from duologue.client.elicitation import Elicitations

            self._elicitations = Elicitations(self._connection)
        return await self._elicitations.create(params)

    def _completed(self, note: CompleteElicitationNotification) -> None:
        if self._elicitations is not None:
            self._elicitations.complete(note)

    # --- permission requests ------------------------------------------------------------------------------------------

    async def _permission(self, params: RequestPermissionRequest, scope: Scope) -> RequestPermissionResponse:
        session = self._connection.sessions.get(params.session_id)
        if session is None or session.prompts.cancelling:
            return RequestPermissionResponse(outcome=CancelledOutcome())
        if isinstance(params.subject, ToolCallSubject):
            session.told_by_request(params.subject.tool_call)
        outcome = await session.questions.ask(self._decide(session, params), CancelledOutcome())
        return RequestPermissionResponse(outcome=outcome)

    async def _decide(self, session: Session, params: RequestPermissionRequest) -> RequestPermissionOutcome:
        matter, outcome = await self._answer(session, params)
        meant = _meanings(params, outcome)
        if len(meant) > 1:
            log.error("the agent gave an option that allows and one that refuses the same id; the request is refused")
            return CancelledOutcome()
        if matter is not None and True in meant:
            session.grants.give(matter)
        return outcome

    async def _answer(
        self, session: Session, params: RequestPermissionRequest
    ) -> tuple[Matter | None, RequestPermissionOutcome]:
        try:
            matter, answer = self._by_policy(session, params)
            if answer == "reject":
                return matter, refusal(params)
            if answer == "allow":
                return matter, allowance(params)
            return matter, _offered(params, await self._client.request_permission(session, params))
        except Exception:
            log.exception("answering a permission request failed; it is refused")
            return None, refusal(params)

    def _by_policy(self, session: Session, params: RequestPermissionRequest) -> tuple[Matter | None, Answer]:
        """What a request is about, as far as that matters to this client, and what its policy says of it."""
        client = self._client
        if client.policy is None and client.files is None and client.terminals is None:
            return None, "ask"
        # Late: a client that does nothing by itself does not need to know.
        from duologue.client.subjects import matter_of, real

        project, subject = real(".", session.cwd), params.subject
        told = subject.tool_call.tool_call_id if isinstance(subject, ToolCallSubject) else None
        matter = matter_of(params, session.transcript.tool_calls.get(told) if told is not None else None, project)
        return matter, "ask" if client.policy is None else client.policy.decide(matter, project).answer


def allowance(params: RequestPermissionRequest) -> RequestPermissionOutcome:
    """The answer that allows it once; a refusal when the agent offers only more than that."""
    return picked(params, PermissionOptionKind.ALLOW_ONCE) or refusal(params)


def _offered(params: RequestPermissionRequest, outcome: RequestPermissionOutcome) -> RequestPermissionOutcome:
    """The client's answer, if it is one that the agent offered."""
    if isinstance(outcome, SelectedOutcome) and outcome.option_id not in {one.option_id for one in params.options}:
        log.error("request_permission chose an option that was not offered; the request is refused")
        return refusal(params)
    if not isinstance(outcome, SelectedOutcome | CancelledOutcome | Unknown):
        log.error(
            "request_permission must return a SelectedOutcome, a CancelledOutcome, allowance(request) or "
            "refusal(request), not %s; the request is refused",
            type(outcome).__name__,
        )
        return refusal(params)
    return outcome


def _meanings(params: RequestPermissionRequest, outcome: RequestPermissionOutcome) -> set[bool]:
    """Whether the options that the answer can mean allow it."""
    chosen = outcome.option_id if isinstance(outcome, SelectedOutcome) else None
    return {option.kind in ALLOWING for option in params.options if option.option_id == chosen}
