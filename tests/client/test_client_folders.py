"""Folders with odd names, as a client sends them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from duologue.agent import Agent, Session, Turn
from duologue.client import Client
from duologue.testing import connected
from wire import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes there")


class Anywhere(Agent):
    async def new_session(self, session: Session) -> None:
        session.title = str(session.cwd)

    async def prompt(self, turn: Turn) -> None:
        turn.say(str(turn.session.cwd))


async def test_a_folder_that_no_json_can_say_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    async with connected(Anywhere(), Client()) as connection:
        with pytest.raises(ValueError, match="not UTF-8"):
            await connection.new_session(folder)
        with pytest.raises(ValueError, match="not UTF-8"):
            await connection.new_session(tmp_path, additional_directories=[folder])


@pytest.mark.parametrize("name", ["new\nline", "esc\x1b[31m", "\u2028", "a\tb", "-rf", "é"])
async def test_any_other_name_arrives_as_it_is(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    async with connected(Anywhere(), Client()) as connection:
        session = await connection.new_session(folder)
        turn = session.prompt("where?")
        async for _ in turn:
            pass
        assert session.transcript.messages[-1].text == str(folder)


def test_the_command_says_why_it_does_not_work_there(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102
    for command in (["run", "hello"], ["sessions"]):
        ended = subprocess.run(
            [sys.executable, "-m", "duologue", *command], cwd=folder, capture_output=True, timeout=PATIENCE, check=False
        )
        assert ended.returncode == 2 and b"not UTF-8" in ended.stderr and b"Traceback" not in ended.stderr
