"""What a person is told of permissions in a turn: the store, grants that answer, titles of commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp_kit import Person, opened, said, take_turn
from coder_kit import asks, call, says

from duologue.client import Session
from duologue.coder.acp_options import ConfiguredModels
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.permission import CommandSubject, ToolCallSubject
from duologue.protocol.v2.tools import ToolContent


@pytest.fixture(params=[1, 2])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def texts(session: Session, call_id: str) -> str:
    items = session.transcript.tool_calls[call_id].content
    return "\n".join(
        item.content.text for item in items if isinstance(item, ToolContent) and isinstance(item.content, TextBlock)
    )


async def test_a_store_that_cannot_be_read_is_told_once_in_the_first_turn(tmp_path: Path, protocol: int) -> None:
    store = tmp_path / "permissions.json"
    store.write_text("broken")
    steps = [says("one"), says("two")]
    async with opened(tmp_path, *steps, protocol=protocol, permissions=store) as (session, _, _models):
        await take_turn(session)
        assert said(session)[0].startswith(f"Note: {store}: saved permissions are ignored")
        await take_turn(session)
        assert said(session)[1:] == ["one", "two"]


async def test_an_answer_that_cannot_be_kept_is_told_in_its_turn(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "folder").touch()
    store = tmp_path / "folder" / "permissions.json"
    steps = [asks(call("run_command", command="true")), says("done")]
    person = Person("allow_always")
    async with opened(tmp_path, *steps, protocol=protocol, person=person, permissions=store) as (session, _, _models):
        await take_turn(session)
        assert any(text.startswith(f"Note: {store}: the permission could not be saved") for text in said(session))


async def test_a_grant_that_answers_without_a_question_is_seen(tmp_path: Path, protocol: int) -> None:
    steps = [asks(call("run_command", f"c{n}", command="true")) for n in range(2)]
    person = Person("allow_always")
    async with opened(tmp_path, *steps, says(), protocol=protocol, person=person) as (session, _, _models):
        await take_turn(session)
        assert len(person.questions) == 1
        assert "Allowed without asking" not in texts(session, "c0")
        assert "Allowed without asking by the rule `run:true`" in texts(session, "c1")


async def test_a_command_with_a_title_is_asked_about_with_both(tmp_path: Path, protocol: int) -> None:
    command = "echo one && echo two"
    step = asks(call("run_command", "c", command=command, title="Say two\nthings"))
    async with opened(tmp_path, step, says(), protocol=protocol) as (session, person, _models):
        await take_turn(session)
        assert session.transcript.tool_calls["c"].title == "Say two things"
        (question,) = person.questions
        assert question.title == "Say two things"
        match question.subject:
            case CommandSubject(command=told):
                assert protocol == 2 and told == command
            case ToolCallSubject(tool_call=asked):
                # A v1 client shows the content of the call that asks.
                assert protocol == 1 and command in str(asked.content)


async def test_an_unknown_key_of_the_config_file_is_told_once_in_the_first_turn(tmp_path: Path, protocol: int) -> None:
    file = tmp_path / "config.toml"
    file.write_text('theme = "dark"\n')
    models = ConfiguredModels(env={"DUOLOGUE_CONFIG": str(file)})
    async with opened(tmp_path, protocol=protocol, models=models) as (session, _, _models):  # type: ignore[arg-type]
        await take_turn(session, "hello")
        assert said(session)[0].startswith(f"Note: {file}: unknown key `theme` is ignored; known here: model, ")
        await take_turn(session, "hello")
        assert sum("unknown key" in text for text in said(session)) == 1
