"""Permission requests: v2 has a title, a description and a subject, v1 has a tool call.

Down, the subject becomes the tool call. What v1 cannot show elsewhere (the title when it is not the tool call's, the
description) stands first in the tool call's content, and under `_meta` for the way back. Options of an unknown kind are
left out: a v1 client would take them for a kind that allows or rejects. Up, the tool call is the subject.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.diffs import fenced, text_item
from duologue.protocol.changes.marks import note as read_note
from duologue.protocol.changes.marks import noted, unnoted
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, SessionMemory, ToolMemory
from duologue.protocol.changes.prompt import ask_user, user_answered
from duologue.protocol.changes.steps import Answer, Ask, Refuse, Steps
from duologue.protocol.changes.tools import UNTITLED, item_down, members_up, patch_down
from duologue.protocol.common.permission import CancelledOutcome, RequestPermissionResponse
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v1 import permission as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v1.tools import ToolCallUpdate as ToolCallUpdateV1
from duologue.protocol.v2 import permission as v2
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.v2.tools import ToolCallUpdate

PERMISSION = "permission"


# --- Down ------------------------------------------------------------------------------------------------------------


def permission_down(memory: ConnectionMemory, request: v2.RequestPermissionRequest, key: Hashable) -> Steps:
    options = [option for option in request.options if option.kind.known]
    if not options:
        return (Answer(key, RequestPermissionResponse(outcome=CancelledOutcome())),)
    memory.outbound[key] = OpenRequest(lambda result: (Answer(key, _outcome(result)),))
    session = memory.session(request.session_id)
    made = v1.RequestPermissionRequest(
        session_id=request.session_id, tool_call=_subject_down(session, request), options=options, meta=request.meta
    )
    return (Ask(v1_table.SESSION_REQUEST_PERMISSION, made),)


def _outcome(result: RequestPermissionResponse) -> RequestPermissionResponse:
    """An outcome that is not known is a refusal."""
    if isinstance(result.outcome, Unknown):
        return RequestPermissionResponse(outcome=CancelledOutcome(), meta=result.meta)
    return result


def _subject_down(session: SessionMemory, request: v2.RequestPermissionRequest) -> ToolCallUpdateV1:
    match request.subject:
        case v2.ToolCallSubject(tool_call=tool_call):
            return _tool_call_down(session, request, tool_call)
        case v2.CommandSubject():
            return _command_down(session, request, request.subject)
    return _bare_down(session, request, _own_id(session), [])


def _tool_call_down(
    session: SessionMemory, request: v2.RequestPermissionRequest, tool_call: ToolCallUpdate
) -> ToolCallUpdateV1:
    tool = session.tools.get(tool_call.tool_call_id) or ToolMemory()
    members = patch_down(tool_call)
    title = tool_call.title if isinstance(tool_call.title, str) else tool.title or request.title
    said = _said(request, None if title == request.title else request.title)
    if said or tool_call.content is not UNSET:
        content = tool.content if tool_call.content is UNSET else tool_call.content or []
        members["content"] = [*said, *(made for item in content for made in item_down(session, item))]
    if said:
        members["meta"] = noted(members["meta"], **{PERMISSION: {"title": request.title, **_described(request)}})
    return ToolCallUpdateV1(tool_call_id=tool_call.tool_call_id, **{**members, "title": title})


def _command_down(
    session: SessionMemory, request: v2.RequestPermissionRequest, subject: v2.CommandSubject
) -> ToolCallUpdateV1:
    tool_call_id = subject.tool_call_id if isinstance(subject.tool_call_id, str) else _own_id(session)
    made = _bare_down(session, request, tool_call_id, [text_item(fenced(subject.command))])
    raw = {"command": subject.command, "cwd": subject.cwd}
    return ToolCallUpdateV1(
        tool_call_id=made.tool_call_id,
        title=made.title,
        content=made.content,
        kind=ToolKind.EXECUTE,
        raw_input=raw,
        meta=made.meta,
    )


def _bare_down(
    session: SessionMemory, request: v2.RequestPermissionRequest, tool_call_id: str, items: list[Any]
) -> ToolCallUpdateV1:
    said = {"title": request.title, **_described(request), **_subject_note(request)}
    return ToolCallUpdateV1(
        tool_call_id=tool_call_id,
        title=request.title,
        content=[*_said(request, None), *items],
        meta=noted(UNSET, **{PERMISSION: said}),
    )


def _subject_note(request: v2.RequestPermissionRequest) -> dict[str, Any]:
    match request.subject:
        case v2.CommandSubject(command=command, cwd=cwd, tool_call_id=tool_call_id, terminal_id=terminal_id):
            ids = {"toolCallId": tool_call_id, "terminalId": terminal_id}
            subject: dict[str, Any] = {"type": "command", "command": command, "cwd": cwd}
            return {"subject": {**subject, **{name: one for name, one in ids.items() if isinstance(one, str)}}}
        case Unknown(raw=raw):
            return {"subject": raw}
    return {"subject": None}


def _described(request: v2.RequestPermissionRequest) -> dict[str, str]:
    return {"description": request.description} if isinstance(request.description, str) else {}


def _said(request: v2.RequestPermissionRequest, title: str | None) -> list[Any]:
    """The words of the request as the first item of the content."""
    words = [word for word in (title, request.description) if isinstance(word, str) and word]
    return [text_item("\n\n".join(words))] if words else []


def _own_id(session: SessionMemory) -> str:
    """The id of a tool call that exists only to ask for permission."""
    return session.make_id()


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
    said = read_note(call.meta, PERMISSION)
    said = said if isinstance(said, dict) and isinstance(said.get("title"), str) else None
    subject = _subject_up(call, said)
    tool = session.tools.get(call.tool_call_id)
    title = call.title if isinstance(call.title, str) else tool.title if tool is not None else None
    description = said.get("description") if said else None
    return v2.RequestPermissionRequest(
        session_id=request.session_id,
        title=said["title"] if said else title or UNTITLED,
        description=description if isinstance(description, str) else UNSET,
        subject=subject,
        options=request.options,
        meta=request.meta,
    )


def _subject_up(call: ToolCallUpdateV1, said: dict[str, Any] | None) -> Any:
    if said is not None and "subject" in said:
        return _subject_again(said["subject"])
    members = members_up(call, unnoted(call.meta, PERMISSION))
    if said is not None:
        members["content"] = members.get("content", [])[1:]
    return v2.ToolCallSubject(tool_call=ToolCallUpdate(**members))


def _subject_again(raw: Any) -> Any:
    match raw:
        case {"type": "command", "command": str(command), "cwd": str(cwd)}:
            ids = {"tool_call_id": raw.get("toolCallId"), "terminal_id": raw.get("terminalId")}
            known: dict[str, Any] = {name: one for name, one in ids.items() if isinstance(one, str)}
            return v2.CommandSubject(command=command, cwd=cwd, **known)
        case dict():
            return Unknown(raw)
    return UNSET
