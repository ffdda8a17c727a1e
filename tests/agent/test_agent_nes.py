"""Suggested edits on the agent's side: what is announced, sessions, requests, suggestions and their fate."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_kit import Talk, settle, until
from nes_kit import (
    URI,
    Hearing,
    Scripted,
    agent_with,
    begin,
    name_of_id,
    opening,
    position,
    shake,
    start,
    stretch,
    suggesting,
)

from duologue.agent import Agent, NesRequest
from duologue.documents import Document, TextEdit
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.nes_capabilities import NesContextCapabilities, NesRecentFilesCapabilities


def nothing(request: NesRequest) -> list[Any]:
    return []


# --- What is announced -----------------------------------------------------------------------------------------------


@pytest.mark.req("v1u-nes-01", "v2u-nes-01")
async def test_what_is_overridden_is_announced(version: int) -> None:
    class Wanting(Hearing):
        def context(self) -> NesContextCapabilities:
            return NesContextCapabilities(recent_files=NesRecentFilesCapabilities(max_count=3))

    talk = await Talk.open(agent_with(Wanting(nothing)), version)
    whole = {"didOpen": {}, "didChange": {"syncKind": "incremental"}, "didClose": {}, "didSave": {}, "didFocus": {}}
    capabilities = await shake(talk)
    assert capabilities["nes"] == {"events": {"document": whole}, "context": {"recentFiles": {"maxCount": 3}}}

    talk = await Talk.open(agent_with(Scripted(nothing)), version)
    needed = {name: whole[name] for name in ("didOpen", "didChange", "didClose")}
    assert (await shake(talk))["nes"] == {"events": {"document": needed}}


@pytest.mark.req("v2u-nes-01")
async def test_suggestions_need_no_sessions() -> None:
    talk = await Talk.open(agent_with(Scripted(nothing)), 2)
    assert "session" not in await shake(talk)
    session = await start(talk)
    assert (await talk.ask("nes/suggest", suggesting(session)))["result"] == {"suggestions": []}
    assert (await talk.ask("session/new", {"cwd": "/"}))["error"]["code"] == -32601


async def test_an_agent_without_suggestions_knows_none_of_it(version: int) -> None:
    talk = await Talk.open(Agent(), version)
    capabilities = await shake(talk, {"positionEncodings": ["utf-32"]})
    assert "nes" not in capabilities and "positionEncoding" not in capabilities
    for method, params in (("nes/start", {}), ("nes/close", {"sessionId": "x"}), ("nes/suggest", suggesting("x"))):
        assert (await talk.ask(method, params))["error"]["code"] == -32601


@pytest.mark.req("allu-nes-09")
@pytest.mark.parametrize(
    ("offered", "answered", "character"),
    [
        (["utf-8", "utf-32"], "utf-32", 2),
        (["utf-16", "utf-8"], "utf-8", 5),
        (["utf-16"], "utf-16", 3),
        (["utf-7"], None, 3),
        (None, None, 3),
    ],
)
async def test_the_position_encoding_is_one_that_the_client_offers(
    version: int, offered: list[str] | None, answered: str | None, character: int
) -> None:
    def behind(request: NesRequest) -> list[Any]:
        assert request.document is not None and request.offset == 2
        return [request.jump(request.document.text.index("b"))]

    talk = await Talk.open(agent_with(Scripted(behind)), version)
    capabilities = await shake(
        talk, {"positionEncodings": offered, "nes": {"jump": {}}} if offered else {"nes": {"jump": {}}}
    )
    assert capabilities.get("positionEncoding") == answered
    session = await start(talk)
    talk.send(opening(session, "a😀b"))
    answer = await talk.ask("nes/suggest", suggesting(session, 0, character))
    assert answer["result"]["suggestions"][0]["position"] == position(0, character)


# --- Sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-nes-02", "allu-nes-03")
async def test_sessions_need_nothing_and_are_no_chats(version: int) -> None:
    nes = Scripted(nothing)
    talk = await begin(nes, version)
    first = await start(talk)
    assert nes.session is not None and nes.session.workspace_uri is None and nes.session.repository is None
    folders = [{"uri": "file:///w", "name": "w"}]
    repository = {"name": "n", "owner": "o", "remoteUrl": "https://x/y"}
    second = await start(talk, {"workspaceUri": "file:///w", "workspaceFolders": folders, "repository": repository})
    assert nes.session.workspace_uri == "file:///w" and nes.session.workspace_folders[0].name == "w"
    assert nes.session.repository is not None and nes.session.repository.owner == "o"
    assert first != second
    for session in (first, second):
        assert (await talk.ask("nes/suggest", suggesting(session)))["result"] == {"suggestions": []}
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "x"}]}
        assert "error" in await talk.ask("session/prompt", prompt)
    for method, params in (("nes/close", {"sessionId": "no"}), ("nes/suggest", suggesting("no"))):
        assert (await talk.ask(method, params))["error"]["code"] == -32002


async def test_a_session_that_needs_a_login_is_refused(version: int) -> None:
    class Closed(Scripted):
        async def start(self, session: Any) -> None:
            raise RpcError(-32000, "Log in first")

    talk = await begin(Closed(nothing), version)
    assert (await talk.ask("nes/start", {}))["error"]["code"] == -32000


@pytest.mark.req("allu-nes-13")
async def test_closing_cancels_what_is_asked_and_frees_the_session(version: int) -> None:
    ended: list[str] = []

    async def slow(request: NesRequest) -> list[Any]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("request")
        raise AssertionError

    nes = Scripted(slow)
    talk = await begin(nes, version)
    session, other = await start(talk), await start(talk)
    asked = [talk.call("nes/suggest", suggesting(session)) for _ in range(2)]
    kept = talk.call("nes/suggest", suggesting(other))
    talk.send(*asked, kept)
    await settle()
    close = talk.call("nes/close", {"sessionId": session})
    again = talk.call("nes/close", {"sessionId": session})
    late = talk.call("nes/suggest", suggesting(session))
    talk.send(close, again, late)
    assert (await talk.answer(close["id"]))["result"] == {}
    assert ended == ["request"] * 2 and nes.log == [("close", session)]
    for request in asked:
        assert (await talk.answer(request["id"]))["error"]["code"] == -32800
    for request in (again, late):
        assert (await talk.answer(request["id"]))["error"]["code"] == -32002
    await talk.connection.close()
    assert nes.log == [("close", session), ("close", other)] and len(ended) == 3


async def test_the_end_of_the_connection_closes_each_session(version: int) -> None:
    nes = Scripted(nothing)
    talk = await begin(nes, version)
    sessions = [await start(talk) for _ in range(3)]
    await talk.wire.near.close()
    await asyncio.wait_for(talk.connection.wait_ended(), 10)
    assert nes.log == [("close", session) for session in sessions]


# --- Suggestions -----------------------------------------------------------------------------------------------------


def of_each_kind(request: NesRequest) -> list[Any]:
    other = Document("file:///b.py", "é\nz")
    return [
        request.edit(TextEdit(2, 3, "B"), TextEdit(0, 1, "A"), cursor=3),
        request.jump(2, document=other),
        request.rename(0, "fresh"),
        request.search_and_replace("a", "b"),
        request.search_and_replace("a+", "b", is_regex=True, uri="file:///c"),
    ]


@pytest.mark.req("allu-nes-07", "allu-nes-10", "v1u-nes-02", "v2u-nes-02")
async def test_each_kind_of_suggestion(version: int) -> None:
    kinds: dict[str, Any] = {"jump": {}, "rename": {}, "searchAndReplace": {}}
    talk = await begin(Scripted(of_each_kind), version, {"nes": kinds})
    session = await start(talk)
    talk.send(opening(session, "a\nb"))
    answer = await talk.ask("nes/suggest", suggesting(session))
    edit, jump, rename, plain, regex = answer["result"]["suggestions"]
    name = name_of_id(version)
    ids = [one.pop(name) for one in (edit, jump, rename, plain, regex)]
    assert len(set(ids)) == 5 and all(isinstance(one, str) for one in ids)
    assert edit == {
        "kind": "edit",
        "uri": URI,
        "edits": [
            {"range": stretch(0, 0, 0, 1), "newText": "A"},
            {"range": stretch(1, 0, 1, 1), "newText": "B"},
        ],
        "cursorPosition": position(1, 1),
    }
    assert jump == {"kind": "jump", "uri": "file:///b.py", "position": position(1, 0)}
    assert rename == {"kind": "rename", "uri": URI, "position": position(0, 0), "newName": "fresh"}
    assert plain == {"kind": "searchAndReplace", "uri": URI, "search": "a", "replace": "b"}
    assert regex["isRegex"] is True and regex["uri"] == "file:///c"


@pytest.mark.req("allu-nes-08")
@pytest.mark.parametrize(
    ("client", "kinds"),
    [
        (None, ["edit"]),
        ({}, ["edit"]),
        ({"jump": {}}, ["edit", "jump"]),
        ({"rename": {}, "jump": None}, ["edit", "rename"]),
        ({"searchAndReplace": {}}, ["edit", "searchAndReplace", "searchAndReplace"]),
    ],
)
async def test_only_kinds_that_the_client_can_show(version: int, client: Any, kinds: list[str]) -> None:
    talk = await begin(Scripted(of_each_kind), version, None if client is None else {"nes": client})
    session = await start(talk)
    talk.send(opening(session, "a\nb"))
    answer = await talk.ask("nes/suggest", suggesting(session))
    assert [one["kind"] for one in answer["result"]["suggestions"]] == kinds


def test_an_edit_suggestion_has_edits_of_the_text() -> None:
    from duologue.agent import NesSession
    from duologue.protocol.common.capabilities import PositionEncodingKind
    from duologue.protocol.common.documents import Position
    from duologue.protocol.common.nes import NesTriggerKind, StartNesRequest, SuggestNesRequest

    session = NesSession(StartNesRequest(), PositionEncodingKind.UTF_16)
    place = Position(line=0, character=0)
    raw = SuggestNesRequest(session_id="s", uri=URI, version=1, position=place, trigger_kind=NesTriggerKind.MANUAL)
    request = NesRequest(session, raw, Document(URI, "abc"))
    with pytest.raises(ValueError, match="at least one edit"):
        request.edit()
    with pytest.raises(ValueError, match="overlap"):
        request.edit(TextEdit(0, 2, ""), TextEdit(1, 3, ""))
    with pytest.raises(ValueError, match="no stretch"):
        request.edit(TextEdit(0, 4, ""))
    with pytest.raises(ValueError, match="is not known: give a document"):
        NesRequest(session, raw, None).jump(0)


async def test_a_request_about_text_that_is_not_told_has_its_positions_alone(version: int) -> None:
    seen: list[NesRequest] = []

    def watch(request: NesRequest) -> list[Any]:
        seen.append(request)
        return []

    nes = Scripted(watch)
    talk = await begin(nes, version)
    session = await start(talk)
    files = [{"uri": "file:///r", "languageId": "c", "text": "t"}]
    more: dict[str, Any] = {"selection": stretch(0, 0, 0, 2), "context": {"recentFiles": files}}
    await talk.ask("nes/suggest", suggesting(session, 3, 1, **more))
    talk.send(opening(session, "abc"))
    await talk.ask("nes/suggest", suggesting(session, 0, 1, **more))
    assert (seen[0].document, seen[0].offset, seen[0].selection) == (None, None, None)
    assert seen[0].raw.position.line == 3 and seen[0].trigger_kind == "automatic"
    assert (seen[1].offset, seen[1].selection) == (1, (0, 2))
    assert seen[1].context.recent_files and seen[1].context.recent_files[0].text == "t"


async def test_a_request_sees_the_text_that_it_was_made_for(version: int) -> None:
    """What is read behind it changes the mirror, not the request's document."""
    seen: list[tuple[str, int, str]] = []
    go = asyncio.Event()

    async def later(request: NesRequest) -> list[Any]:
        await go.wait()
        assert request.document is not None
        held = request.session.documents[URI]
        seen.append((request.document.text, request.document.version, held.text))
        return []

    talk = await begin(Scripted(later), version)
    session = await start(talk)
    change = {"range": stretch(0, 3, 0, 3), "text": "d"}
    ask = talk.call("nes/suggest", suggesting(session))
    did = {"sessionId": session, "uri": URI, "version": 2, "contentChanges": [change]}
    talk.send(opening(session, "abc"), ask, {"method": "document/didChange", "params": did})
    await settle()
    go.set()
    await talk.answer(ask["id"])
    assert seen == [("abc", 1, "abcd")]
    stale = await talk.ask("nes/suggest", suggesting(session, version=1))
    assert stale["error"]["code"] == -32602 and "in version 2, not 1" in stale["error"]["message"]


# --- Their fate ------------------------------------------------------------------------------------------------------


async def test_the_agent_hears_what_became_of_its_suggestions(version: int) -> None:
    nes = Scripted(lambda request: [request.edit(TextEdit(0, 0, str(number))) for number in range(3)])
    talk = await begin(nes, version)
    session = await start(talk)
    talk.send(opening(session, ""))
    answer = await talk.ask("nes/suggest", suggesting(session))
    name = name_of_id(version)
    ids = [one[name] for one in answer["result"]["suggestions"]]

    def fate(method: str, id: str, **more: Any) -> dict[str, Any]:
        return {"method": method, "params": {"sessionId": session, name: id, **more}}

    talk.send(
        fate("nes/accept", ids[1]),
        fate("nes/reject", ids[0], reason="replaced"),
        fate("nes/accept", ids[0]),  # its fate is told already
        fate("nes/reject", "nobody's"),
        fate("nes/reject", ids[2]),
    )
    await until(lambda: len(nes.log) == 3)
    assert [(entry[0], entry[1].suggestion_id, *entry[2:]) for entry in nes.log] == [
        ("accepted", ids[1]),
        ("rejected", ids[0], "replaced"),
        ("rejected", ids[2], None),
    ]
    await settle()
    assert len(nes.log) == 3
