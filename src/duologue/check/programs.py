"""Checks a program that is started by its command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from duologue.check.bench import Start
from duologue.check.clients.starting import launcher
from duologue.check.reports import Report
from duologue.check.run import Choice, Progress, check_agent, check_client
from duologue.local.masking import mask
from duologue.transports.base import Transport
from duologue.transports.spawn import SHOWN_CHARACTERS, SpawnTransport

#: How long an agent may take to end once its stdin has, in seconds.
GRACE_SECONDS = 10.0


async def check_program(
    side: str,
    command: Sequence[str],
    choice: Choice,
    patience: float,
    *,
    jobs: int = 1,
    env: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check the program of a command line, in the present folder. `patience`: how long an answer may take, in seconds.

    Raises `TransportError` where it cannot be started, `Failed` where it says nothing that can be judged, and
    `ValueError` for the command line of a client that has no place for the agent.
    """

    def begin(folder: Path) -> Start:
        def start() -> Transport:
            return SpawnTransport(command, env=env, grace_seconds=min(patience, GRACE_SECONDS))

        return start

    if side == "client":
        verdicts = await check_client(launcher(command, env), choice, patience, jobs=jobs, progress=progress)
    else:
        verdicts = await check_agent(begin, choice, patience, jobs=jobs, progress=progress)
    versions = tuple(sorted({verdict.version for verdict in verdicts}))
    # A report is kept and passed on.
    return Report(side, shlex.join(mask(list(command), SHOWN_CHARACTERS)), versions, verdicts)
