"""Showing the sessions that an agent has kept."""

from __future__ import annotations

from pathlib import Path

from duologue import codec
from duologue.cli.exits import Exit
from duologue.cli.resuming import NoSession, listed, used, when
from duologue.cli.screen import one_line, plain_json
from duologue.cli.visit import Visit
from duologue.client import ClientConnection
from duologue.protocol.common.session import SessionInfo
from duologue.protocol.v2 import table as v2


class Listing(Visit):
    """The client that lists the sessions of its folder."""

    _found = False

    @property
    def _where(self) -> Path | None:
        return self.start.cwd

    async def work(self, connection: ClientConnection) -> Exit:
        if not connection.offers(v2.SESSION_LIST):
            raise NoSession("this agent does not list its sessions (session/list)")
        infos = sorted([info async for info in listed(connection, self._where)], key=used, reverse=True)
        for info in infos:
            self.out.line(plain_json(codec.encode(info).decode()) if self.start.json else self._line(info))
            await self.output.drain()
        self._found = bool(infos)
        return Exit.DONE

    def afterwards(self) -> None:
        if not self._found:
            place = "" if self._where is None else f" of {self._where} (--all lists those of all folders)"
            self.errors.line(f"{self.start.program}: there are no sessions{place}")
            self.failing.tell_stderr()  # an agent that keeps none may say so there

    def _line(self, info: SessionInfo) -> str:
        title = one_line(info.title) if isinstance(info.title, str) else "(no title)"
        return f"{one_line(info.session_id)}  {when(info)}  {title}"


class Everywhere(Listing):
    """The client that lists the sessions of all folders."""

    @property
    def _where(self) -> Path | None:
        return None

    def _line(self, info: SessionInfo) -> str:
        return f"{super()._line(info)}  {self.out.paint(one_line(info.cwd), 'dim')}"
