"""A session of the coding agent that is reopened while it is held: it works where the client says now."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp_kit import opened, take_turn
from coder_kit import asks, call, says

from duologue.client import Session
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.v2.permission import RequestPermissionRequest


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.req("all-session-28")
async def test_it_works_in_the_new_folder_alone_and_knows_what_was_said(tmp_path: Path, protocol: int) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "a.txt").write_text("from here")
    (there / "a.txt").write_text("from there")
    reads = [
        asks(call("read_file", path="a.txt")),
        says("one"),
        asks(call("read_file", path=str(here / "a.txt"))),
        says("two"),
    ]
    async with opened(here, says("before"), *reads, protocol=protocol) as (session, _, models):
        await take_turn(session, "remember me")
        again = await session.connection.resume_session(session.id, there, replay=False)
        await take_turn(again)
        await take_turn(again)
        told = [str(request.messages) for request in models.model.requests]
        assert "remember me" in told[1]
        assert "from there" in told[2]
        assert "from here" not in str(told)


async def test_a_turn_at_work_is_not_moved(tmp_path: Path, protocol: int) -> None:
    other = tmp_path / "other"
    other.mkdir()
    problems: list[RpcError] = []

    async def move(session: Session, request: RequestPermissionRequest) -> None:
        try:
            await session.connection.resume_session(session.id, other, replay=False)
        except RpcError as error:
            problems.append(error)

    steps = [asks(call("write_file", path="a.txt", text="x")), says("done")]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, _):
        person.at_question = move
        await take_turn(session)
        assert [error.code for error in problems] == [-32602]
        assert (tmp_path / "a.txt").read_text() == "x"


async def test_a_turn_that_cannot_begin_does_not_keep_the_session_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with opened(tmp_path, says("one")) as (session, _, _):
        with monkeypatch.context() as patch:
            patch.setattr("duologue.agent.Turn.record", raising)
            with pytest.raises(RpcError):
                await take_turn(session)
        again = await session.connection.resume_session(session.id, other, replay=False)
        assert await take_turn(again) == "end_turn"


def raising(*_: object) -> None:
    raise ValueError
