"""Opening, listing and closing sessions.

`session/load` is `session/resume` with a replay from the start. What a v1 agent does not offer is done otherwise where
that is possible (a load whose replay is not shown, a close that only cancels), and refused where it is not.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from duologue.protocol.base import Unknown
from duologue.protocol.changes.config import settings_down, settings_up
from duologue.protocol.changes.mcp import servers_down, servers_up
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, SessionMemory
from duologue.protocol.changes.prompt import end_cancelled
from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse, Steps, Unspeakable
from duologue.protocol.changes.tools import catch_up
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.session import (
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    ListSessionsRequest,
)
from duologue.protocol.method import Request
from duologue.protocol.v1 import prompt as v1_prompt
from duologue.protocol.v1 import session as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import session as v2
from duologue.protocol.v2 import table as v2_table


def _not_offered(method: Request[Any, Any]) -> Unspeakable:
    return Unspeakable(ErrorCode.METHOD_NOT_FOUND, f"the agent does not offer {method.name}")


# --- v2 client, v1 agent ---------------------------------------------------------------------------------------------


def new_down(memory: ConnectionMemory, request: v2.NewSessionRequest, key: Hashable) -> Steps:
    made = v1.NewSessionRequest(**_place_down(request))
    memory.outbound[key] = _opened(memory, key, v2.NewSessionResponse)
    return (Ask(v1_table.SESSION_NEW, made),)


def fork_down(memory: ConnectionMemory, request: v2.ForkSessionRequest, key: Hashable) -> Steps:
    made = v1.ForkSessionRequest(session_id=request.session_id, **_place_down(request))
    memory.outbound[key] = _opened(memory, key, v2.ForkSessionResponse)
    return (Ask(v1_table.SESSION_FORK, made),)


def _place_down(request: Any) -> dict[str, Any]:
    return {
        "cwd": request.cwd,
        "mcp_servers": servers_down(request.mcp_servers),
        "additional_directories": request.additional_directories,
        "meta": request.meta,
    }


def _opened(memory: ConnectionMemory, key: Hashable, response: type[Any]) -> OpenRequest:
    def answer(result: Any, raw: Any) -> Steps:
        options = settings_up(memory.session(result.session_id), result, raw)
        return (Answer(key, response(session_id=result.session_id, config_options=options, meta=result.meta)),)

    return OpenRequest(answer, takes_raw=True)


def resume_down(memory: ConnectionMemory, request: v2.ResumeSessionRequest, key: Hashable) -> Steps:
    if isinstance(request.replay_from, Unknown):
        message = "protocol version 1 replays a session from its start or not at all"
        raise Unspeakable(ErrorCode.INVALID_PARAMS, message)
    agent, replays = memory.agent, isinstance(request.replay_from, v2.StartReplay)
    if not agent.load and (replays or not agent.resume):
        raise _not_offered(v1_table.SESSION_LOAD if replays else v1_table.SESSION_RESUME)
    place = {"session_id": request.session_id, **_place_down(request)}
    if agent.resume and not replays:
        memory.outbound[key] = OpenRequest(partial(_reopened, memory, request.session_id, key), takes_raw=True)
        return (Ask(v1_table.SESSION_RESUME, v1.ResumeSessionRequest(**place)),)
    session = memory.session(request.session_id)
    memory.outbound[key] = _loading(session, key, "replays" if replays else "muted")
    session.terminals.clear()
    session.end_message()
    return (Ask(v1_table.SESSION_LOAD, v1.LoadSessionRequest(**place)),)


def _reopened(memory: ConnectionMemory, session_id: str, key: Hashable, result: Any, raw: Any) -> Steps:
    options = settings_up(memory.session(session_id), result, raw)
    return (Answer(key, v2.ResumeSessionResponse(config_options=options, meta=result.meta)),)


def _loading(session: SessionMemory, key: Hashable, counter: str) -> OpenRequest:
    """A load: a counter of the session stands one higher while it is open."""

    def count(step: int) -> None:
        setattr(session, counter, getattr(session, counter) + step)
        session.end_message()

    def answer(result: Any, raw: Any) -> Steps:
        count(-1)
        return _reopened(session.connection, session.session_id, key, result, raw)

    def refuse(error: Refuse) -> Steps:
        count(-1)
        return (error,)

    count(1)
    return OpenRequest(answer, refuse, lambda: count(-1), takes_raw=True)


def list_down(memory: ConnectionMemory, request: ListSessionsRequest, key: Hashable) -> Steps:
    if not memory.agent.list:
        raise _not_offered(v1_table.SESSION_LIST)
    return (Ask(v1_table.SESSION_LIST, request),)


def close_down(memory: ConnectionMemory, request: CloseSessionRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)
    if memory.agent.close:
        memory.outbound[key] = _forgetting(memory, request.session_id, key)
        return (Ask(v1_table.SESSION_CLOSE, request),)
    cancel = v1_prompt.CancelNotification(session_id=request.session_id)
    stops = [Notify(v1_table.SESSION_CANCEL, cancel)] if session.prompts else []
    memory.forget(request.session_id)
    return (*stops, Answer(key, CloseSessionResponse()))


def delete_down(memory: ConnectionMemory, request: DeleteSessionRequest, key: Hashable) -> Steps:
    memory.outbound[key] = _forgetting(memory, request.session_id, key)
    return (Ask(v1_table.SESSION_DELETE, request),)


def _forgetting(memory: ConnectionMemory, session_id: str, key: Hashable) -> OpenRequest:
    def answer(result: Any) -> Steps:
        memory.end(session_id)
        return (Answer(key, result),)

    return OpenRequest(answer)


# --- v1 client, v2 agent ---------------------------------------------------------------------------------------------


def new_up(memory: ConnectionMemory, request: v1.NewSessionRequest, key: Hashable) -> Steps:
    memory.inbound[key] = _opened_down(memory, key, v1.NewSessionResponse)
    return (Ask(v2_table.SESSION_NEW, v2.NewSessionRequest(**_place_up(request))),)


def fork_up(memory: ConnectionMemory, request: v1.ForkSessionRequest, key: Hashable) -> Steps:
    memory.inbound[key] = _opened_down(memory, key, v1.ForkSessionResponse)
    made = v2.ForkSessionRequest(session_id=request.session_id, **_place_up(request))
    return (Ask(v2_table.SESSION_FORK, made),)


def _place_up(request: Any) -> dict[str, Any]:
    return {
        "cwd": request.cwd,
        "mcp_servers": servers_up(request.mcp_servers),
        "additional_directories": request.additional_directories,
        "meta": request.meta,
    }


def _opened_down(memory: ConnectionMemory, key: Hashable, response: type[Any]) -> OpenRequest:
    def answer(result: Any) -> Steps:
        settings = settings_down(memory.session(result.session_id), result.config_options)
        return (Answer(key, response(session_id=result.session_id, meta=result.meta, **settings)),)

    return OpenRequest(answer)


def resume_up(memory: ConnectionMemory, request: v1.ResumeSessionRequest, key: Hashable) -> Steps:
    def answer(result: v2.ResumeSessionResponse) -> Steps:
        settings = settings_down(memory.session(request.session_id), result.config_options)
        return (Answer(key, v1.ResumeSessionResponse(meta=result.meta, **settings)),)

    memory.inbound[key] = OpenRequest(answer)
    made = v2.ResumeSessionRequest(session_id=request.session_id, **_place_up(request))
    return (Ask(v2_table.SESSION_RESUME, made),)


def load_up(memory: ConnectionMemory, request: v1.LoadSessionRequest, key: Hashable) -> Steps:
    session = memory.session(request.session_id)
    session.forget_told()
    session.replays += 1
    for prompt in session.prompts:
        prompt.retold = prompt.message_id is None

    def end() -> None:
        session.replays -= 1

    def answer(result: v2.ResumeSessionResponse) -> Steps:
        end()
        late = [Notify(v1_table.SESSION_UPDATE, note) for note in catch_up(session)]
        settings = settings_down(session, result.config_options)
        return (*late, Answer(key, v1.LoadSessionResponse(meta=result.meta, **settings)))

    def refuse(error: Refuse) -> Steps:
        end()
        return (error,)

    memory.inbound[key] = OpenRequest(answer, refuse, end)
    made = v2.ResumeSessionRequest(session_id=request.session_id, replay_from=v2.StartReplay(), **_place_up(request))
    return (Ask(v2_table.SESSION_RESUME, made),)


def list_up(memory: ConnectionMemory, request: ListSessionsRequest, key: Hashable) -> Steps:
    return (Ask(v2_table.SESSION_LIST, request),)


def close_up(memory: ConnectionMemory, request: CloseSessionRequest, key: Hashable) -> Steps:
    """Close: prompts from before that are still open then end as cancelled, before the answer."""
    memory.inbound[key] = _ending(memory, request.session_id, key)
    return (Ask(v2_table.SESSION_CLOSE, request),)


def delete_up(memory: ConnectionMemory, request: DeleteSessionRequest, key: Hashable) -> Steps:
    memory.inbound[key] = _ending(memory, request.session_id, key)
    return (Ask(v2_table.SESSION_DELETE, request),)


def _ending(memory: ConnectionMemory, session_id: str, key: Hashable) -> OpenRequest:
    session = memory.sessions.get(session_id)
    before = [] if session is None else list(session.prompts)

    def answer(result: Any) -> Steps:
        ended = [] if session is None else end_cancelled(session, before)
        memory.end(session_id)
        return (*ended, Answer(key, result))

    return OpenRequest(answer)
