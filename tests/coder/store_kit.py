"""Agents that keep their sessions in a folder, one after the other, and what stands in that folder."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from acp_kit import Person, Scripted
from coder_kit import Step

from duologue.client import ClientConnection
from duologue.coder.acp import CodingAgent
from duologue.coder.store.settings import StoreLimits, StoreSettings
from duologue.testing import connected


@asynccontextmanager
async def process(
    folder: Path,
    *steps: Step,
    protocol: int = 1,
    person: Person | None = None,
    models: Scripted | None = None,
    limits: StoreLimits | None = None,
    secrets: tuple[str, ...] = (),
) -> AsyncIterator[tuple[ClientConnection, Person, Scripted]]:
    """An agent as a new process would be: it knows of sessions what the folder has."""
    models = models or Scripted(*steps)
    person = person or Person()
    settings = StoreSettings(folder, limits or StoreLimits(busy_seconds=0), secrets)
    agent = CodingAgent(models=models, sessions=lambda: settings)
    async with connected(agent, person, protocol=protocol) as connection:  # type: ignore[arg-type]
        yield connection, person, models


def bytes_in(folder: Path) -> bytes:
    """All that stands in the folder's files."""
    return b"".join(_read(path) for path in sorted(folder.rglob("*")) if path.is_file())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # what SQLite has beside the database goes when nobody has it open any more
        return b""


def query(folder: Path, statement: str, *values: Any) -> list[Any]:
    """What the database answers."""
    with closing(sqlite3.connect(folder / "sessions.db")) as connection, connection:
        return connection.execute(statement, values).fetchall()
