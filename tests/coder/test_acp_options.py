"""The options of a session: which model works, and what it may do."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, opened, take_turn
from coder_kit import ScriptedModel, asks, call, says

from duologue.coder.acp_options import BROKEN, ConfiguredModels
from duologue.coder.models.base import Model, ModelError
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import LogoutAuthRequest
from duologue.protocol.v2.updates import ConfigOptionUpdateEvent
from duologue.protocol.version import V1, V2, Version
from duologue.testing import PATIENCE, settle


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def values(options: Any) -> dict[str, str]:
    return {option.config_id: option.current_value for option in options}


@pytest.mark.req("all-config-02", "all-config-04", "all-config-05", "all-config-09")
async def test_a_session_begins_with_the_first_model_and_asks(tmp_path: Path, protocol: int) -> None:
    models = Scripted(says(), others=["test:other"])
    async with opened(tmp_path, protocol=protocol, models=models) as (session, _, _models):
        assert [(option.config_id, option.category) for option in session.config_options] == [  # type: ignore[union-attr]
            ("model", "model"),
            ("mode", "mode"),
        ]
        assert values(session.config_options) == {"model": "test:scripted", "mode": "ask"}
        assert not models.loaded
        await take_turn(session)
        assert models.loaded == ["test:scripted"]


@pytest.mark.req("all-config-13", "all-config-14")
async def test_another_model_works_from_the_next_turn_on(tmp_path: Path, protocol: int) -> None:
    models = Scripted(says(), says(), others=["test:other"])
    async with opened(tmp_path, protocol=protocol, models=models) as (session, _, _models):
        await take_turn(session)
        assert values(await session.set_config_option("model", "test:other"))["model"] == "test:other"
        await take_turn(session)
        await take_turn(session) if models.model.steps else None
        assert models.loaded == ["test:scripted", "test:other"]


@pytest.mark.req("all-config-12", "v1-modes-04")
@pytest.mark.parametrize(("option", "value"), [("model", "test:none"), ("mode", "bypass"), ("colour", "red")])
async def test_what_is_not_offered_is_refused_and_changes_nothing(
    tmp_path: Path, protocol: int, option: str, value: str
) -> None:
    async with opened(tmp_path, protocol=protocol) as (session, _, _models):
        before = values(session.config_options)
        with pytest.raises(RpcError) as caught:
            await session.set_config_option(option, value)
        assert caught.value.code == -32602
        assert values(await session.set_config_option("mode", "ask")) == before


@pytest.mark.req("v1-modes-08", "v1-modes-05")
async def test_read_only_refuses_whatever_a_rule_allows(tmp_path: Path, protocol: int) -> None:
    """Field bug 66."""
    write = call("write_file", path="a.txt", text="x")
    person = Person("allow_always")
    steps = [asks(write), says(), asks(call("write_file", path="b.txt", text="x"), call("list_files", "l")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, person=person) as (session, _, _models):
        await take_turn(session)
        await session.set_mode("read_only")
        assert await take_turn(session) is StopReason.END_TURN
        assert len(person.questions) == 1
        assert (tmp_path / "a.txt").exists() and not (tmp_path / "b.txt").exists()
        assert [str(told.status) for told in session.transcript.tool_calls.values()] == [
            "completed",
            "failed",
            "completed",
        ]


@pytest.mark.req("all-config-17")
async def test_read_only_holds_at_once_for_the_turn_that_runs_and_the_question_that_is_open(
    tmp_path: Path, protocol: int
) -> None:
    async def set_mode(session: Any, request: Any) -> None:
        await session.set_mode("read_only")

    person = Person(at_question=set_mode)
    steps = [asks(call("write_file", path="a.txt", text="x"), call("write_file", "2", path="b.txt", text="x")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, person=person) as (session, _, _models):
        await asyncio.wait_for(take_turn(session), 20)
        assert len(person.questions) == 1
        assert not (tmp_path / "a.txt").exists() and not (tmp_path / "b.txt").exists()


async def test_a_model_that_cannot_be_used_is_told_when_it_is_to_work(tmp_path: Path, protocol: int) -> None:
    """Field bugs 125, 166 and 168: the session opens, and the prompt says what is missing."""
    models = Scripted(says(), others=["test:other"], broken="test:scripted")
    async with opened(tmp_path, protocol=protocol, models=models) as (session, _, _models):
        with pytest.raises(RpcError) as caught:
            await take_turn(session)
        assert caught.value.code == -32000 and "no key for test:scripted" in caught.value.message
        await session.set_config_option("model", "test:other")
        assert await take_turn(session) is StopReason.END_TURN


@pytest.mark.req("v1-auth-01", "v1-auth-04", "v2-auth-01", "v2-auth-02", "v2-auth-05")
async def test_a_missing_key_is_a_login_that_looks_again(tmp_path: Path, protocol: int) -> None:
    """Field bugs 165, 167 and 168: the description says what to do, and nothing opens by itself."""
    models = Scripted(says(), spec="configured", broken="configured")
    models.missing = "no key for openai: set OPENAI_API_KEY"
    async with opened(tmp_path, protocol=protocol, models=models) as (session, person, _):
        (method,) = session.connection.auth_methods
        assert "set OPENAI_API_KEY" in method.description  # type: ignore[union-attr, operator]
        with pytest.raises(RpcError) as caught:
            await session.connection.login("model-key")
        assert caught.value.code == -32000
        models.missing, models.spec = None, "test:ready"
        await session.connection.login("model-key")
        assert values(person.of(ConfigOptionUpdateEvent)[-1].config_options)["model"] == "test:ready"
        assert await take_turn(session) is StopReason.END_TURN


@pytest.mark.req("v1-auth-08", "v2-auth-06")
@pytest.mark.parametrize("version", [V1, V2], ids=["v1", "v2"])
async def test_after_a_logout_nothing_works_until_the_next_login(tmp_path: Path, version: Version) -> None:
    models = Scripted(says())
    models.missing = "no key"
    async with opened(tmp_path, protocol=version.number, models=models) as (session, _, _models):
        connection = session.connection
        models.missing = None
        await connection.login("model-key")
        await connection.peer.request(v2.AUTH_LOGOUT, LogoutAuthRequest())
        for gated in (take_turn(session), connection.new_session(tmp_path)):
            with pytest.raises(RpcError) as caught:
                await gated
            assert caught.value.code == -32000
        await connection.login("model-key")
        await connection.new_session(tmp_path)
        assert await take_turn(session) is StopReason.END_TURN


async def test_no_login_is_offered_where_none_is_needed(tmp_path: Path, protocol: int) -> None:
    async with opened(tmp_path, protocol=protocol) as (session, _, _models):
        assert not session.connection.auth_methods


def test_a_model_that_was_asked_for_is_not_replaced_by_another() -> None:
    models = ConfiguredModels("openai:gpt-5", {})
    first, *others = models.offered()
    assert first.spec == BROKEN and "set OPENAI_API_KEY" in first.description
    assert [choice.spec for choice in others] == ["offline"]
    with pytest.raises(ModelError, match="no key for openai") as caught:
        models.load(first.spec)
    assert caught.value.status == 401


def test_without_any_setting_the_offline_model_works() -> None:
    models = ConfiguredModels(None, {})
    (only,) = models.offered()
    assert models.load(only.spec).name == "offline"


async def test_a_model_that_is_being_loaded_ahead_is_not_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.coder.acp.LOAD_AFTER", 0)
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Scripted):
        def load(self, spec: str) -> Model:
            begun.set()
            assert go_on.wait(PATIENCE)
            return super().load(spec)

    models = Slow(says())
    async with opened(tmp_path, models=models) as (session, _, _models):
        await asyncio.to_thread(begun.wait, PATIENCE)
        turn = asyncio.create_task(take_turn(session))
        await settle()
        go_on.set()
        assert await turn is StopReason.END_TURN
        assert models.loaded == ["test:scripted"]


async def test_a_model_loaded_ahead_never_replaces_one_chosen_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.coder.acp.LOAD_AFTER", 0)
    begun, go_on = threading.Event(), threading.Event()
    chosen = ScriptedModel(says("chosen"))

    class Slow(Scripted):
        def load(self, spec: str) -> Model:
            ahead = super().load(spec)
            if spec == "test:other":
                return chosen
            begun.set()
            assert go_on.wait(PATIENCE)
            return ahead

    models = Slow(says("ahead"), others=["test:other"])
    async with opened(tmp_path, models=models) as (session, _, _models):
        await asyncio.to_thread(begun.wait, PATIENCE)
        await session.set_config_option("model", "test:other")
        go_on.set()
        assert await session.prompt("go").text() == "chosen"
        assert models.loaded == ["test:scripted", "test:other"]
