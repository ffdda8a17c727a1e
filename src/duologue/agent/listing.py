"""Pages of a list of sessions."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue import codec
from duologue.local.folders import real_folder
from duologue.peer.errors import wrong_params
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse, SessionInfo

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection

PAGE_SIZE = 100


def open_sessions(connection: AgentConnection) -> list[SessionInfo]:
    """The sessions that are open on a connection, the last used first."""
    used = sorted(connection.sessions.values(), key=lambda session: session.updated_at, reverse=True)
    return [session.info() for session in used]


def merged(opened: Sequence[SessionInfo], stored: Sequence[SessionInfo]) -> list[SessionInfo]:
    """One list of both, the last used first: the same one in each process, so that a cursor of one is known to another.
    Of a session that is open here, that is what counts."""
    here = {info.session_id for info in opened}
    both = [*opened, *(info for info in stored if info.session_id not in here)]
    return sorted(both, key=lambda info: (str(info.updated_at), info.session_id), reverse=True)


def list_page(
    sessions: Sequence[SessionInfo], request: ListSessionsRequest, *, size: int = PAGE_SIZE
) -> ListSessionsResponse:
    """The page of `sessions` that a request asks for, without those of another `cwd`.

    With a `cwd` it looks at the disk, since a folder may have several names.
    A cursor holds the id of the last session shown and its place, which counts when the session is gone meanwhile.
    Raises `RpcError` (invalid params) for a cursor that was not made here.
    """
    wanted = _of_folder(sessions, request.cwd) if request.cwd else [*sessions]
    start = _start(wanted, request.cursor) if isinstance(request.cursor, str) else 0
    shown = wanted[start : start + size]
    more = shown and start + size < len(wanted)
    return ListSessionsResponse(
        sessions=shown, next_cursor=_cursor(shown[-1].session_id, start + size) if more else UNSET
    )


def _of_folder(sessions: Sequence[SessionInfo], cwd: str) -> list[SessionInfo]:
    real = {name: real_folder(name) for name in {cwd, *(session.cwd for session in sessions)}}
    return [session for session in sessions if real[session.cwd] == real[cwd]]


def _cursor(session_id: str, place: int) -> str:
    return urlsafe_b64encode(codec.encode((place, session_id))).decode()


def _start(sessions: Sequence[SessionInfo], cursor: str) -> int:
    try:
        place, session_id = codec.decode(tuple[int, str], urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, codec.CodecError):
        raise wrong_params("no such cursor", "cursor") from None
    after = (index + 1 for index, session in enumerate(sessions) if session.session_id == session_id)
    return next(after, max(place - 1, 0))
