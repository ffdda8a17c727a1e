"""A session as the agent holds it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duologue.agent.turn import Turn
from duologue.agent.turns import Turns, Work
from duologue.agent.voice import Voice
from duologue.peer.outbound import SENT
from duologue.protocol.v2.updates import SessionUpdate

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection
    from duologue.peer import Peer
    from duologue.protocol.v2.mcp import McpServer


class Session(Voice):
    """One conversation. It speaks at any time, also while no turn runs.

    For the agent's author are `id`, `cwd`, `additional_directories`, `roots`, `mcp_servers`, `state` (free to use),
    `work`, `next_id`, and what every `Voice` has. The rest is how the library runs its turns.
    """

    def __init__(
        self,
        connection: AgentConnection,
        session_id: str,
        cwd: Path,
        additional_directories: Sequence[Path],
        mcp_servers: Sequence[McpServer],
        work: Work,
    ) -> None:
        self.id = session_id
        self.cwd = cwd
        self.additional_directories = tuple(additional_directories)
        self.mcp_servers = tuple(mcp_servers)
        self.connection = connection
        self.title_text: str | None = None
        self.state: Any = None
        self._ids = 0
        # Part of every id made here, so that ids stay unique when the session is reopened by another process.
        self._run = uuid.uuid4().hex[:8]
        self._held: list[SessionUpdate] = []
        #: Whether the client does not know the session yet, so that nothing may be said and no turn may run.
        self.held = False
        self.channel = connection.peer.channel(session_id)
        self.turns = Turns(self, work)
        super().__init__(self)

    def hold(self) -> None:
        """Keep what the session says until `release`: its id is not known to the client yet."""
        self.held = True
        self._send = self._keep

    def release(self) -> None:
        """Say what was kept, in order."""
        self._send = self.send
        self.held = False
        held, self._held = self._held, []
        for update in held:
            self._send(update)
        self.turns.start()

    def _keep(self, update: SessionUpdate) -> Awaitable[None]:
        self._held.append(update)
        return SENT

    @property
    def roots(self) -> tuple[Path, ...]:
        """The working directory and the additional ones."""
        return (self.cwd, *self.additional_directories)

    @property
    def peer(self) -> Peer:
        return self.connection.peer

    @property
    def send(self) -> Callable[[SessionUpdate], Awaitable[None]]:
        """Sends an update as it is, without ending the message that is being said; `update` ends it."""
        return self.channel.send

    def next_id(self, kind: str) -> str:
        """An id that is unique in the session, over restarts too."""
        self._ids += 1
        return f"{kind}-{self._run}-{self._ids}"

    def send_update(self, update: SessionUpdate) -> Awaitable[None]:
        """Send an update of the library's own, which ends no message."""
        return self.channel.send(update)

    def send_state(self, update: SessionUpdate) -> None:
        """Send a change of state; it may leave together with the message that follows it."""
        self.channel.send(update, soon=True)

    def work(self) -> AbstractAsyncContextManager[Turn]:
        """A turn that the agent begins by itself: ``async with session.work() as turn``. It waits for its place
        behind the turns that run or are queued, and a cancel of the session cancels the body."""
        return self.turns.own_work()

    def limit_cancellation(self, turn: Turn) -> None:
        """Give a cancelled turn a bounded time to end."""
        self.turns.limit_cancellation(turn)

    def cancelled_by_client(self, voice: Voice) -> None:
        """The client answered a question with `cancelled`: the turn that asked is over."""
        if isinstance(voice, Turn):
            voice.cancel()
