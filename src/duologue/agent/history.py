"""What sessions have told, kept in memory, so that a client can open them again while the program runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from duologue.peer.errors import unknown_session
from duologue.protocol.common.session import SessionInfo
from duologue.protocol.v2.updates import SessionUpdate, UserMessageEvent
from duologue.session.transcript import Transcript

if TYPE_CHECKING:
    from datetime import datetime

    from duologue.agent.session import Session


class History:
    """The sessions of an agent that sets it as `Agent.history`.

    They can be opened again with or without what they told, are listed after their end too, and can be deleted. What
    else belongs to them, such as what a model was told, is the author's to keep. All connections whose agents have the
    same history know the same sessions. Of more than `most` those go that were not used for the longest time.
    """

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        # The last used last.
        self._kept: dict[str, _Kept] = {}

    def transcript(self, session_id: str) -> Transcript | None:
        """What a session has told so far, but for its state; None where nothing is kept of it."""
        kept = self._kept.get(session_id)
        return None if kept is None else kept.transcript

    def infos(self) -> list[SessionInfo]:
        """The sessions as a listing shows them."""
        return [replace(kept.info, title=kept.transcript.title or UNSET) for kept in self._kept.values()]

    def forget(self, session_id: str) -> None:
        """Keep nothing of a session any more, if there is one."""
        self._kept.pop(session_id, None)

    async def reopen(self, session: Session, *, replay: bool) -> None:
        """Open a session again, and with `replay` tell what it has told. Raises `RpcError`: there is none."""
        kept = self._kept.get(session.id)
        if kept is None:
            if session.connection.sessions.get(session.id) is not session:
                raise unknown_session(session.id)
            return  # it is open, and nothing was said in it
        session.title, session.updated_at = kept.transcript.title, kept.used
        kept.info = session.info()
        if replay:
            # As it is now, since a turn may go on meanwhile; and not by `transmit`, since it is no news.
            for update in kept.transcript.snapshot().updates():
                await session.channel.send(update)

    def keeping(self, session: Session) -> Callable[[SessionUpdate], Awaitable[None]]:
        """What sends the updates of a session, and keeps them."""
        begun = False

        def transmit(update: SessionUpdate) -> Awaitable[None]:
            nonlocal begun
            kept = self._kept.get(session.id)
            if update.__class__ is UserMessageEvent or (kept is None and not begun):
                kept = self._use(session)
            begun = True
            if kept is not None:  # else it was deleted, or had to go, in the midst of a turn
                kept.transcript.apply(update)
            return session.channel.send(update)

        return transmit

    def _use(self, session: Session) -> _Kept:
        kept = self._kept.pop(session.id, None) or _Kept()
        kept.info, kept.used = session.info(), session.updated_at
        self._kept[session.id] = kept
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return kept


class _Kept:
    """A session: where it was opened last, when it was used last, and what it has told."""

    info: SessionInfo
    used: datetime

    def __init__(self) -> None:
        self.transcript = Transcript()
