"""Asking the user by a form, or by a page to visit (`elicitation/create`)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from duologue import codec
from duologue.agent.asked import current_request, trace_of, traced
from duologue.agent.form_conduct import has_links, secret_fields
from duologue.agent.question import Question
from duologue.codec import CodecError, NotEncodable
from duologue.jsonrpc.errors import JsonRpcError, RpcError
from duologue.local.hosts import is_this_machine
from duologue.local.ids import fresh_id
from duologue.peer import REQUEST_CANCELLED, Peer
from duologue.protocol.common.capabilities import ElicitationCapabilities
from duologue.protocol.common.elicitation import (
    AcceptElicitation,
    CancelElicitation,
    CompleteElicitationNotification,
    CreateElicitationResponse,
    DeclineElicitation,
    ElicitationContentValue,
    FormElicitation,
    UrlElicitation,
)
from duologue.protocol.common.elicitation_schema import ElicitationSchema, ElicitationSchemaType
from duologue.protocol.common.table import ELICITATION_COMPLETE, ELICITATION_CREATE
from duologue.session.forms import answer_problems, schema_problems

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection

log = logging.getLogger("duologue.agent")


class Outcome(StrEnum):
    """What became of a question. All but `ACCEPTED` make the answer false."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    #: The client has not offered to show such a question: nothing was sent.
    UNSUPPORTED = "unsupported"
    #: The user accepted, with content that does not fit the form.
    INVALID = "invalid"
    #: The client answered with an error, or with what cannot be understood.
    FAILED = "failed"


class FormAnswer(msgspec.Struct, frozen=True):
    """The answer to a form; true only when the user accepted and `content` fits the form. `problems` says what does
    not fit, and names no values."""

    outcome: Outcome
    content: Mapping[str, ElicitationContentValue] = {}
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.outcome is Outcome.ACCEPTED


class UrlAnswer:
    """The answer to a page to visit; true when the user agreed to go there, which says nothing of what happens there.

    Learn that from the page's own service; then `complete` tells the client that the user is done.
    """

    def __init__(self, outcome: Outcome, elicitation_id: str, peer: Peer) -> None:
        self.outcome = outcome
        self.elicitation_id = elicitation_id
        self._peer = peer

    def __bool__(self) -> bool:
        return self.outcome is Outcome.ACCEPTED

    async def complete(self) -> None:
        """Tell the client that the user is done there; without effect when the user did not agree to go."""
        if self:
            await self._peer.notify(
                ELICITATION_COMPLETE, CompleteElicitationNotification(elicitation_id=self.elicitation_id)
            )


class Elicitor:
    """Asks on one connection, for the request that is being answered, or in a session."""

    def __init__(self, connection: AgentConnection) -> None:
        self._connection = connection

    @property
    def shows_forms(self) -> bool:
        """Whether the client shows forms."""
        return bool(self._offered.form)

    @property
    def shows_urls(self) -> bool:
        """Whether the client sends the user to pages."""
        return bool(self._offered.url)

    @property
    def _offered(self) -> ElicitationCapabilities:
        return self._connection.client_capabilities.elicitation or ElicitationCapabilities()

    def ask_form(self, message: str, schema: ElicitationSchema) -> Question[FormAnswer]:
        """Ask the user to fill in a form, for the request that is being answered. Never ask for secrets so.

        Raises `ValueError` for a form that may not be asked, `RuntimeError` where no request is being answered,
        `ConnectionClosed`. An error answer makes the answer false.
        """
        return Question(self.form(message, schema, _request_scope(), nullcontext(), None))

    def ask_url(self, message: str, url: str) -> Question[UrlAnswer]:
        """Ask the user to visit a page, for the request that is being answered.

        Raises `ValueError` for a URL that may not be told (see `check_url`), and what `ask_form` raises.
        """
        return Question(self.url(message, url, _request_scope(), nullcontext(), None))

    async def form(
        self,
        message: str,
        schema: ElicitationSchema,
        scope: Mapping[str, Any],
        waiting: AbstractContextManager[None],
        trace: Mapping[str, str] | None,
    ) -> FormAnswer:
        """Ask by a form in any scope; `waiting` is entered for as long as the question is open."""
        whole = _whole(schema)
        question = codec.sendable(FormElicitation, FormElicitation(message=message, requested_schema=whole, **scope))
        if has_links(message, whole):
            log.warning("a form tells of a link to click, which clients may not show: ask_url sends users to pages")
        if not self.shows_forms:
            return FormAnswer(Outcome.UNSUPPORTED)
        response = await self._send(question, waiting, trace)
        outcome = _outcome(response)
        if not isinstance(response, AcceptElicitation):
            return FormAnswer(outcome)
        content = response.content or {}
        problems = tuple(answer_problems(whole, content))
        return FormAnswer(Outcome.INVALID if problems else outcome, content, problems)

    async def url(
        self,
        message: str,
        url: str,
        scope: Mapping[str, Any],
        waiting: AbstractContextManager[None],
        trace: Mapping[str, str] | None,
    ) -> UrlAnswer:
        """Ask to visit a page in any scope; `waiting` is entered for as long as the question is open."""
        check_url(url)
        made, peer = fresh_id(), self._connection.peer
        if not self.shows_urls:
            return UrlAnswer(Outcome.UNSUPPORTED, made, peer)
        question = UrlElicitation(message=message, url=url, elicitation_id=made, **scope)
        return UrlAnswer(_outcome(await self._send(question, waiting, trace)), made, peer)

    async def _send(
        self,
        question: FormElicitation | UrlElicitation,
        waiting: AbstractContextManager[None],
        trace: Mapping[str, str] | None,
    ) -> CreateElicitationResponse | RpcError | None:
        if trace is None:
            asked = current_request()
            trace = trace_of(asked.meta) if asked is not None else {}
        with waiting:
            try:
                return await self._connection.peer.request(ELICITATION_CREATE, traced(question, trace))
            except NotEncodable:
                raise
            except RpcError as error:
                log.warning("the client could not ask the user: %s", error)
                return error
            except (JsonRpcError, CodecError) as error:
                log.warning("the client could not ask the user: %s", error)
                return None


def _outcome(response: CreateElicitationResponse | RpcError | None) -> Outcome:
    match response:
        case AcceptElicitation():
            return Outcome.ACCEPTED
        case DeclineElicitation():
            return Outcome.DECLINED
        case CancelElicitation():
            return Outcome.CANCELLED
        case RpcError() if response.code == REQUEST_CANCELLED:
            return Outcome.CANCELLED
    return Outcome.FAILED


def _whole(schema: ElicitationSchema) -> ElicitationSchema:
    """A form with the members that every client looks for. Raises `ValueError` when it may not be asked."""
    if not isinstance(schema, ElicitationSchema):
        raise TypeError(f"a form is an ElicitationSchema, not {type(schema).__name__}")
    problems = schema_problems(schema)
    problems += [f"{name}: is a secret, which only a page may ask for (ask_url)" for name in secret_fields(schema)]
    if problems:
        raise ValueError(f"such a form may not be asked: {'; '.join(problems)}")
    return msgspec.structs.replace(schema, type=ElicitationSchemaType.OBJECT, properties=schema.properties or {})


def _request_scope() -> dict[str, Any]:
    asked = current_request()
    if asked is None:
        raise RuntimeError("no request is being answered here: ask through a turn or a session")
    return {"request_id": asked.id}


def scope_of(session_id: str, tool_call_id: str | UnsetType, known: bool) -> dict[str, Any]:
    """Where a question belongs: the session, or, while the client does not know it, the request that makes it."""
    if not known:
        return _request_scope()
    return {"session_id": session_id, **({} if tool_call_id is UNSET else {"tool_call_id": tool_call_id})}


def check_url(url: str) -> None:
    """Raises `ValueError` unless a URL is absolute, encrypted (or of this machine), and holds no credentials."""
    if not isinstance(url, str):
        raise TypeError(f"a URL is a string, not {type(url).__name__}")
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError("the URL must be absolute, with https")
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        raise ValueError("the URL must use https: what the user enters there is read on the way otherwise")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not hold a user name or a password")
