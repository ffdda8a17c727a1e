"""MCP servers of a session: their tools reach the model, and are called with permission."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from acp_kit import Person, opened, said, take_turn
from coder_kit import asks, call, says, written
from mcp_servers_kit import QUICK, data, offered, official, results, stub
from msgspec import UNSET
from msgspec.structs import replace

from duologue.coder.conversation import NOT_ASKED
from duologue.protocol.v2.tools import ToolContent
from duologue.protocol.v2.updates import ToolCallUpdateEvent


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.req("v1-mcp-01", "all-mcp-02")
async def test_the_tools_of_all_servers_are_offered_and_called(tmp_path: Path, protocol: int) -> None:
    """Field bug 160: servers of a session never reached the model."""
    steps = [asks(call("official__echo", "c1", text="hello"), call("two__echo", "c2", text="again")), says("done")]
    servers = [official(), stub("two"), stub("three")]
    async with opened(tmp_path, *steps, protocol=protocol, servers=servers, mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        assert {"official__echo", "two__echo", "three__echo"} <= set(offered(models, 0))
        assert [result.text for result in results(models)] == ["hello", "again"]
        # Nobody needs to be told anything.
        assert said(session) == ["done"]


@pytest.mark.req("all-mcp-03")
async def test_arguments_variables_and_the_folder_reach_a_server_and_our_keys_do_not(
    tmp_path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "DUOLOGUE_API_KEY", "SOME_VARIABLE"):
        monkeypatch.setenv(name, "sk-ours")
    steps = [asks(call("official__about")), says()]
    servers = [official("official", "one", "two words", GIVEN="by the client", A_TOKEN="t-123456")]
    async with opened(tmp_path, *steps, protocol=protocol, servers=servers, mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        about = data(results(models)[0])
        assert about["args"] == ["one", "two words"]
        assert about["cwd"] == str(tmp_path)
        assert about["env"]["GIVEN"] == "by the client"
        assert about["env"]["A_TOKEN"] == "t-123456"
        assert "sk-ours" not in about["env"].values()


@pytest.mark.req("v2-mcp-03")
async def test_what_an_entry_leaves_out_is_empty(tmp_path: Path) -> None:
    short = replace(stub("short"), env=UNSET)
    async with opened(tmp_path, says(), protocol=2, servers=[short], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        assert "short__echo" in offered(models)


@pytest.mark.req("all-content-08")
async def test_each_kind_of_content_is_shown_as_it_is(tmp_path: Path, protocol: int) -> None:
    steps = [asks(call("official__parts", "c1")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[official()], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        state = session.transcript.tool_calls["c1"]
        blocks = [item.content for item in state.content if isinstance(item, ToolContent)]
        assert [type(block).__name__ for block in blocks] == [
            *("TextBlock", "ImageBlock", "ResourceLinkBlock", "ResourceBlock")
        ]
        assert blocks[1].mime_type == "image/png"  # type: ignore[union-attr]
        assert blocks[2].uri == "file:///tmp/notes.txt"  # type: ignore[union-attr]
        assert state.raw_output == {"answer": 42}
        told = results(models)[0]
        assert told.ok and told.data == {"answer": 42}
        assert all(text in told.text for text in ("some text", "image/png", "file:///tmp/notes.txt", "remember"))


async def test_an_error_of_a_tool_is_its_result(tmp_path: Path) -> None:
    steps = [asks(call("official__fails", "c1")), says()]
    async with opened(tmp_path, *steps, servers=[official()], mcp_limits=QUICK) as (
        session,
        person,
        models,
    ):
        await take_turn(session)
        (result,) = results(models)
        assert not result.ok and "the oven is cold" in result.text
        assert person.statuses("c1")[-1] == "failed"


async def test_a_call_is_shown_and_asked_about_with_its_input(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "a.txt").touch()
    async with opened(tmp_path, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (session, person, models):
        models.model.steps.append(says())
        await take_turn(session)
        (name,) = [name for name in offered(models) if "read" in name]
        models.model.steps = [asks(call(name, "c1", path="a.txt")), says()]
        await take_turn(session)
        (question,) = person.questions
        assert question.title == "stub: read.file"
        patch = next(each for each in person.of(ToolCallUpdateEvent) if each.tool_call_id == "c1")
        assert (patch.kind, patch.name, patch.raw_input) == ("other", name, {"path": "a.txt"})
        assert [place.path for place in patch.locations or ()] == [str(tmp_path / "a.txt")]
        assert any(f"`{name}`" in option.name for option in question.options)


async def test_a_hint_that_it_only_reads_does_not_spare_the_question(tmp_path: Path) -> None:
    steps = [asks(call("official__echo", text="x")), says()]
    person = Person("reject_once")
    async with opened(tmp_path, *steps, person=person, servers=[official()], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        assert len(person.questions) == 1
        assert "refused" in results(models)[0].text


async def test_always_holds_for_this_tool_alone(tmp_path: Path, protocol: int) -> None:
    echo = [asks(call("stub__echo", f"c{n}", text="x")) for n in range(2)]
    steps = [*echo, asks(call("stub__about", "c3")), says()]
    person = Person("allow_always")
    async with opened(tmp_path, *steps, protocol=protocol, person=person, servers=[stub()], mcp_limits=QUICK) as (
        session,
        _,
        _models,
    ):
        await take_turn(session)
        assert [question.title for question in person.questions] == ["stub: echo", "stub: about"]


@pytest.mark.parametrize("refused", ["write_file", "official__echo"])
async def test_a_refused_call_ends_the_calls_of_tools_of_servers_in_its_step(
    tmp_path: Path, protocol: int, refused: str
) -> None:
    """Those before it are done and stay done; none behind it is asked about, made or shown."""
    (tmp_path / "a.txt").write_text("read")
    note, given = (
        tmp_path / "note",
        {"write_file": {"path": "b.txt", "text": "x"}, "official__echo": {"text": "second"}},
    )
    step = asks(
        call("official__echo", "c1", text="first"),
        call(refused, "c2", **given[refused]),
        call("official__waits", "c3", file=str(note)),
        call("read_file", "c4", path="a.txt"),
        call("write_file", "c5", path="c.txt", text="x"),
    )
    person = Person("allow_once", "reject_once", "allow_once")
    steps = [step, asks(call("official__echo", "c6", text="new step")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, person=person, servers=[official()], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        assert await take_turn(session) == "end_turn"
        told = results(models)
        assert [result.ok for result in told] == [True, False, False, True, False, True]
        assert told[2].text == told[4].text == NOT_ASKED
        assert len(person.questions) == 3
        assert {"c1", "c2", "c4", "c6"} <= set(session.transcript.tool_calls)
        assert not {"c3", "c5"} & set(session.transcript.tool_calls)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]  # noqa: ASYNC240


async def test_nothing_is_called_in_the_mode_that_only_reads(tmp_path: Path) -> None:
    steps = [asks(call("official__echo", text="x")), says()]
    async with opened(tmp_path, *steps, servers=[official()], mcp_limits=QUICK) as (
        session,
        person,
        models,
    ):
        await session.set_config_option("mode", "read_only")
        await take_turn(session)
        assert not person.questions
        assert not results(models)[0].ok


async def test_a_call_is_cancelled_with_its_turn(tmp_path: Path, protocol: int) -> None:
    file = tmp_path / "note"
    steps = [asks(call("official__waits", "c1", file=str(file)))]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[official()], mcp_limits=QUICK) as (
        session,
        person,
        _,
    ):
        turn = asyncio.create_task(take_turn(session))
        assert await written(file) == "began"
        await session.cancel()
        assert await turn == "cancelled"
        assert person.statuses("c1")[-1] in ("cancelled", "failed")
        while await written(file) != "cancelled":  # noqa: ASYNC110 (another process writes it)
            await asyncio.sleep(0.01)


async def test_tools_that_a_server_adds_are_there_at_the_next_step(tmp_path: Path) -> None:
    steps = [asks(call("official__grow")), says()]
    async with opened(tmp_path, *steps, servers=[official()], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        while "official__grown" not in offered(models):
            models.model.steps = [says()]
            await take_turn(session)
        models.model.steps = [asks(call("official__grown", "c9")), says()]
        await take_turn(session)
        assert results(models)[-1].text == "new here"


async def test_text_that_is_no_text_does_no_harm(tmp_path: Path, protocol: int) -> None:
    """Field bug 17: a lone surrogate in the result of a tool made every later request fail."""
    line = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\\ud800b"}]}}'
    steps = [asks(call("stub__raw", line=line)), says("one"), says("two")]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        await take_turn(session)
        assert results(models)[0].text == "a\ufffdb"
        assert said(session) == ["one", "two"]


async def test_an_answer_that_is_not_understood_fails_its_call_alone(tmp_path: Path, protocol: int) -> None:
    lines = [
        '{"jsonrpc":"2.0","id":ID,"result":"no object"}',
        '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram"}]}}',
        '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"too hot"}}',
    ]
    calls = [call("stub__raw", f"c{n}", line=line) for n, line in enumerate(lines)]
    steps = [asks(*calls, call("stub__echo", "c9", text="well")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        told = results(models)
        assert [result.ok for result in told] == [False, False, False, True]
        assert "not understood" in told[0].text and "not understood" in told[1].text and "too hot" in told[2].text


async def test_logs_on_the_wrong_stream_are_passed_over(tmp_path: Path) -> None:
    steps = [asks(call("stub__echo", text="well")), says()]
    servers = [stub("stub", "chatty")]
    async with opened(tmp_path, *steps, servers=servers, mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        assert results(models)[0].text == "well"


async def test_servers_end_with_their_session(tmp_path: Path, protocol: int) -> None:
    """Field bug 86: what a session had started was never freed."""
    steps = [asks(call("stub__about")), says()]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        pid = data(results(models)[0])["pid"]
        os.kill(pid, 0)
        await session.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
