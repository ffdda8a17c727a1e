"""Permission requests: v2 has a title, a description and a subject, v1 has a tool call.

Down, the subject becomes the tool call, which takes the title of the request if it has none. Otherwise the title stands
first in the tool call's content, and so does the description; a call that v1 knows gets its content again after the
answer. Options of an unknown kind are left out: a v1 client would take them for a kind that allows or rejects. Up, the
tool call is the subject, and its title that of the request.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.diffs import text_item
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, SessionMemory, ToolMemory
from duologue.protocol.changes.prompt import ask_user, user_answered
from duologue.protocol.changes.steps import Answer, Ask, Refuse, Steps
from duologue.protocol.changes.tools import UNTITLED, items_down, members_up, patch_down
from duologue.protocol.common.permission import CancelledOutcome, PermissionOptionKind, RequestPermissionResponse
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.markdown import fenced
from duologue.protocol.v1 import permission as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v1.tools import ToolCallUpdate as ToolCallUpdateV1
from duologue.protocol.v2 import permission as v2
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.v2.tools import ToolCallUpdate

KNOWN_KINDS = frozenset(PermissionOptionKind)

# --- Down ------------------------------------------------------------------------------------------------------------


def permission_down(memory: ConnectionMemory, request: v2.RequestPermissionRequest, key: Hashable) -> Steps:
    options = request.options
    for option in options:
        if option.kind not in KNOWN_KINDS:
            options = [each for each in options if each.kind in KNOWN_KINDS]
            break
    if not options:
        return (Answer(key, RequestPermissionResponse(outcome=CancelledOutcome())),)
    session = memory.sessions.get(request.session_id) or memory.session(request.session_id)
    call = _tool_call_down(session, request)
    if call.content is not UNSET and not _has_content(request.subject):
        memory.outbound[key] = _putting_back(session, call.tool_call_id, key)
    # An outcome that is not known stays as it is: who asked takes it for a refusal, not for the end of the turn.
    made = v1.RequestPermissionRequest(
        session_id=request.session_id, tool_call=call, options=options, meta=request.meta
    )
    return (Ask(v1_table.SESSION_REQUEST_PERMISSION, made),)


def _has_content(subject: Any) -> bool:
    return isinstance(subject, v2.ToolCallSubject) and subject.tool_call.content is not UNSET


def _putting_back(session: SessionMemory, tool_call_id: str, key: Hashable) -> OpenRequest:
    """Content that was put before that of a known tool call goes with its next update, or at the end of the turn."""

    def put_back() -> None:
        if tool_call_id in session.tools:
            session.fall_behind(tool_call_id)

    def answer(result: RequestPermissionResponse) -> Steps:
        put_back()
        return (Answer(key, result),)

    def refuse(error: Refuse) -> Steps:
        put_back()
        return (error,)

    return OpenRequest(answer, refuse, put_back)


def _outcome(result: RequestPermissionResponse) -> RequestPermissionResponse:
    """An outcome that v1 does not know is not told to it: nothing is allowed."""
    if isinstance(result.outcome, Unknown):
        return RequestPermissionResponse(outcome=CancelledOutcome(), meta=result.meta)
    return result


def _tool_call_down(session: SessionMemory, request: v2.RequestPermissionRequest) -> ToolCallUpdateV1:
    """The subject as a tool call, with the words of the request."""
    if request.subject is UNSET and request.description is UNSET:
        # Often so, and then there is nothing to weigh.
        return ToolCallUpdateV1(tool_call_id=session.make_id(), title=request.title)
    match request.subject:
        case v2.ToolCallSubject(tool_call=call):
            title = call.title if isinstance(call.title, str) else _known(session, call.tool_call_id).title
            content = None if call.content is UNSET else items_down(session, call.content or [])
            return _asking(session, request, call.tool_call_id, title, content, patch_down(call))
        case v2.CommandSubject(tool_call_id=str(tool_call_id)) as subject if tool_call_id in session.tools:
            tool = session.tools[tool_call_id]
            content = [_command(subject), *items_down(session, tool.content)]
            return _asking(session, request, tool_call_id, tool.title, content, {"meta": subject.meta})
        case v2.CommandSubject() as subject:
            raw = {"command": subject.command, "cwd": subject.cwd}
            tool_call_id = subject.tool_call_id or session.make_id()
            members = {"kind": ToolKind.EXECUTE, "raw_input": raw, "meta": subject.meta}
            return _asking(session, request, tool_call_id, None, [_command(subject)], members)
    return _asking(session, request, session.make_id(), None, None, {})


def _asking(
    session: SessionMemory,
    request: v2.RequestPermissionRequest,
    tool_call_id: str,
    title: str | None,
    content: list[Any] | None,
    members: dict[str, Any],
) -> ToolCallUpdateV1:
    """A tool call that asks: the request's title is its own if it has none, else it stands before the content."""
    said = (None if title is None or title == request.title else request.title, request.description)
    words = [word for word in said if word and isinstance(word, str)]
    if words:
        shown = items_down(session, _known(session, tool_call_id).content) if content is None else content
        content = [text_item("\n\n".join(words)), *shown]
    own = {**members, "title": request.title if title is None else title}
    return ToolCallUpdateV1(tool_call_id=tool_call_id, content=UNSET if content is None else content, **own)


def _known(session: SessionMemory, tool_call_id: str) -> ToolMemory:
    return session.tools.get(tool_call_id) or ToolMemory()


def _command(subject: v2.CommandSubject) -> Any:
    return text_item(fenced(subject.command))


# --- Up --------------------------------------------------------------------------------------------------------------


def permission_up(memory: ConnectionMemory, request: v1.RequestPermissionRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)

    def answer(result: RequestPermissionResponse) -> Steps:
        return (Answer(key, _outcome(result)), *user_answered(session))

    def refuse(error: Refuse) -> Steps:
        return (error, *user_answered(session))

    memory.inbound[key] = OpenRequest(answer, refuse)
    return (*ask_user(session), Ask(v2_table.SESSION_REQUEST_PERMISSION, _request_up(session, request)))


def _request_up(session: SessionMemory, request: v1.RequestPermissionRequest) -> v2.RequestPermissionRequest:
    call = request.tool_call
    names = (call.title, _known(session, call.tool_call_id).title, call.name)
    return v2.RequestPermissionRequest(
        session_id=request.session_id,
        title=next((name for name in names if isinstance(name, str)), UNTITLED),
        subject=v2.ToolCallSubject(tool_call=ToolCallUpdate(**members_up(call, call.meta))),
        options=request.options,
        meta=request.meta,
    )
