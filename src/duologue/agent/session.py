"""A session as the agent holds it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET

from duologue.agent.turn import Turn
from duologue.agent.turns import Turns, Work
from duologue.agent.voice import Voice, timestamp
from duologue.local.ids import fresh_id
from duologue.peer.outbound import SENT
from duologue.protocol.common.session import SessionInfo
from duologue.protocol.v2.updates import SessionUpdate

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection
    from duologue.peer import Peer
    from duologue.protocol.v2.mcp import McpServer


class Place(NamedTuple):
    """Where a session works, and with which servers: what a client says whenever it opens it."""

    cwd: Path
    additional_directories: tuple[Path, ...]
    mcp_servers: tuple[McpServer, ...]
    meta: Mapping[str, Any]


class Session(Voice):
    """One conversation. It speaks at any time, also while no turn runs.

    `state` is the author's, for whatever belongs to the session. A client that reopens the session while this process
    holds it may give another `cwd`, `additional_directories` and `mcp_servers`: they are what is asked for now.
    """

    def __init__(
        self,
        connection: AgentConnection,
        session_id: str,
        place: Place,
        work: Work,
    ) -> None:
        self.id = session_id
        #: Where it was opened last; what it says of itself below comes from here.
        self.place = place
        self.connection = connection
        self.state: Any = None
        #: The name that `set_title` gave it.
        self.title: str | None = None
        #: When something was last asked of the session or told by `set_updated_at`: a point of time with its zone.
        self.updated_at = datetime.now(UTC)
        self._ids = 0
        # Part of every id made here, so that ids stay unique when the session is reopened by another process.
        self._run = fresh_id()[:8]
        #: Whether the client does not know the session yet, so that nothing may be said and no turn may run.
        self.held = False
        self._kept: list[SessionUpdate] = []
        self.channel = connection.peer.channel(session_id)
        history = connection.agent.history
        #: Sends its updates as they are, whoever speaks, and keeps them where the agent has a history.
        self.transmit = self.channel.send if history is None else history.keeping(self)
        #: The queue of its turns.
        self.turns = Turns(self, work)
        super().__init__(self, self.transmit)

    @property
    def cwd(self) -> Path:
        """The working directory: absolute, and there when the session was opened."""
        return self.place.cwd

    @property
    def additional_directories(self) -> tuple[Path, ...]:
        return self.place.additional_directories

    @property
    def mcp_servers(self) -> tuple[McpServer, ...]:
        return self.place.mcp_servers

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the request that opened the session last."""
        return self.place.meta

    @property
    def roots(self) -> tuple[Path, ...]:
        """The working directory and the additional ones."""
        return (self.cwd, *self.additional_directories)

    @property
    def peer(self) -> Peer:
        """For requests that no method here makes: ``await session.peer.request(method, params)``."""
        return self.connection.peer

    def info(self) -> SessionInfo:
        """The session as a listing shows it."""
        return SessionInfo(
            session_id=self.id,
            cwd=str(self.cwd),
            additional_directories=[str(path) for path in self.additional_directories] or UNSET,
            title=self.title or UNSET,
            updated_at=timestamp(self.updated_at),
        )

    def next_id(self, kind: str) -> str:
        """An id that is unique in the session, over restarts too."""
        self._ids += 1
        return f"{kind}-{self._run}-{self._ids}"

    def work(self) -> AbstractAsyncContextManager[Turn]:
        """A turn that the agent begins by itself: ``async with session.work() as turn``. It waits for its place
        behind the turns that run or are queued, and a cancel of the session cancels the body."""
        return self.turns.own_work()

    def waiting(self) -> AbstractContextManager[None]:
        """To be entered while a question to the user is open; a client that does not know the session is not told."""
        return nullcontext() if self.held else self.turns.waiting()

    def hold(self) -> None:
        """Keep what the session says until `release`: its id is not known to the client yet."""
        self.held = True
        self._send = self._keep

    def release(self) -> None:
        """Say what was kept, in order."""
        self._send = self.transmit
        self.held = False
        kept, self._kept = self._kept, []
        for update in kept:
            self._send(update)
        self.turns.start()

    def _keep(self, update: SessionUpdate) -> Awaitable[None]:
        self._kept.append(update)
        return SENT
