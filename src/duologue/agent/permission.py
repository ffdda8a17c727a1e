"""Asking the user before acting."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from duologue import codec
from duologue.codec import CodecError
from duologue.jsonrpc.errors import JsonRpcError, RpcError
from duologue.local.arguments import several
from duologue.peer import REQUEST_CANCELLED
from duologue.protocol.common.permission import (
    CancelledOutcome,
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionResponse,
    SelectedOutcome,
)
from duologue.protocol.option_kinds import ALLOWING
from duologue.protocol.v2.permission import RequestPermissionRequest, RequestPermissionSubject
from duologue.protocol.v2.table import SESSION_REQUEST_PERMISSION

if TYPE_CHECKING:
    from duologue.agent.asker import Asker

log = logging.getLogger("duologue.agent")


class Permission(msgspec.Struct, frozen=True):
    """The user's answer; true only when it allows. `option` is None when the answer was not understood or cancelled,
    which is a refusal."""

    option: PermissionOption | None
    cancelled: bool = False

    def __bool__(self) -> bool:
        return self.option is not None and self.option.kind in ALLOWING

    @property
    def always(self) -> bool:
        """Whether the answer is meant to hold for the future too."""
        return self.option is not None and self.option.kind in (
            PermissionOptionKind.ALLOW_ALWAYS,
            PermissionOptionKind.REJECT_ALWAYS,
        )


def default_options(scope: str | None = None) -> list[PermissionOption]:
    """Allow and reject, once and (when `scope` says what that would cover) always."""
    options = [("allow_once", "Allow"), ("reject_once", "Reject")]
    if scope is not None:
        options[1:1] = [("allow_always", f"Always allow {scope}")]
        options.append(("reject_always", f"Always reject {scope}"))
    return [PermissionOption(option_id=kind, name=name, kind=PermissionOptionKind(kind)) for kind, name in options]


#: What is offered when the agent's author names no options.
_ONCE = default_options()


async def ask(
    voice: Asker,
    title: str,
    *,
    subject: RequestPermissionSubject | UnsetType = UNSET,
    description: str | UnsetType = UNSET,
    options: Sequence[PermissionOption] | None = None,
) -> Permission:
    """Send `session/request_permission` and read the answer; see `Asker.ask_permission`."""
    offered = _ONCE if options is None else several(options, "options")
    whole = RequestPermissionRequest(
        session_id=voice.session.id, title=title, options=offered, subject=subject, description=description
    )
    # What the author got wrong does not count as a refusal. In the usual question there is only the title to get wrong.
    usual = options is None and subject is UNSET and description is UNSET and type(title) is str
    request = whole if usual else _checked(whole)
    offered = request.options
    session = voice.session
    if session.held:
        raise RuntimeError("the client does not know this session yet: ask in a turn, not in new_session")
    turns = session.turns
    try:
        turns.wait_for_user()
        answer = read_answer(await voice.request(SESSION_REQUEST_PERMISSION, request, checked=True), offered)
    except (JsonRpcError, CodecError) as error:
        answer = read_error(error)
    finally:
        turns.go_on()
    if voice.cancelled:
        answer = Permission(None, cancelled=True)
    elif answer.cancelled:
        voice.answered_cancelled()
    return answer


def _checked(request: RequestPermissionRequest) -> RequestPermissionRequest:
    """A question as the client reads it. Raises `CodecError`, `ValueError`."""
    checked: RequestPermissionRequest = codec.sendable(RequestPermissionRequest, request)
    if len({option.option_id for option in checked.options}) < len(checked.options):
        raise ValueError("two options have the same id, so that an answer would not tell which was meant")
    return checked


def read_error(error: Exception) -> Permission:
    """What an answer means that is an error or cannot be read: never that it is allowed."""
    if isinstance(error, RpcError) and error.code == REQUEST_CANCELLED:
        return Permission(None, cancelled=True)
    log.warning("the client could not ask for permission, which counts as a refusal: %s", error)
    return Permission(None)


def read_answer(response: RequestPermissionResponse, offered: Sequence[PermissionOption]) -> Permission:
    """What an outcome means: an option that was not offered, or an unknown outcome, refuses."""
    outcome = response.outcome
    if isinstance(outcome, SelectedOutcome):
        chosen = outcome.option_id
        for option in offered:
            if option.option_id == chosen:
                return Permission(option)
    return Permission(None, cancelled=isinstance(outcome, CancelledOutcome))
