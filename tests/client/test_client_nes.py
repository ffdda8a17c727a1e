"""Suggested edits on the client's side: requests, what becomes stale, suggestions in offsets, and their fate."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host
from client_nes_kit import ALL, URI, Asking, Editor, asked, begin, edit, offering, position, stretch, told
from msgspec.structs import fields

from duologue.client import (
    Client,
    ClientConnection,
    Login,
    NotOffered,
    SuggestedEdit,
    SuggestedJump,
    SuggestedRename,
    SuggestedReplacement,
)
from duologue.documents import TextEdit, apply_edits
from duologue.jsonrpc.errors import RpcError
from duologue.peer import ConnectionClosed
from duologue.protocol.common.documents import Position
from duologue.protocol.common.nes import (
    NesDiagnostic,
    NesDiagnosticSeverity,
    NesEditHistoryEntry,
    NesExcerpt,
    NesOpenFile,
    NesRecentFile,
    NesRejectReason,
    NesRelatedSnippet,
    NesRepository,
    NesSuggestContext,
    NesTriggerKind,
    NesUserAction,
    StartNesRequest,
    WorkspaceFolder,
)
from duologue.protocol.common.nes_capabilities import ClientNesCapabilities, NesDocumentEventCapabilities
from duologue.protocol.v2.capabilities import ClientCapabilities
from wire import PATIENCE, settle

# --- What is announced and asked for ---------------------------------------------------------------------------------


async def test_a_client_announces_what_it_shows_and_how_it_counts(version: int) -> None:
    member = "capabilities" if version == 2 else "clientCapabilities"
    host = await Host.begin(version, Editor())
    said = host.introduced[member]
    assert said["nes"] == {"jump": {}, "rename": {}, "searchAndReplace": {}}
    assert said["positionEncodings"] == ["utf-32", "utf-8", "utf-16"]
    plain = (await Host.begin(version)).introduced[member]
    assert "nes" not in plain and "positionEncodings" not in plain


@pytest.mark.req("allu-nes-01", "v2-versioning-03")
async def test_an_agent_that_offers_none_is_not_asked(version: int) -> None:
    host = await Host.begin(version, Editor())
    with pytest.raises(NotOffered, match="nes/start"):
        await host.connection.start_nes()
    await host.wire.silence()


async def test_a_session_says_what_is_known_of_the_workspace(version: int) -> None:
    host = await Host.begin(version, Editor(), **offering(version, nes={}))
    request = StartNesRequest(
        workspace_uri="file:///w",
        workspace_folders=[WorkspaceFolder(uri="file:///w", name="w")],
        repository=NesRepository(name="n", owner="o", remote_url="https://x"),
    )
    starting = asyncio.create_task(host.connection.start_nes(request))
    sent = await host.wire.read_method("nes/start")
    assert sent["params"] == {
        "workspaceUri": "file:///w",
        "workspaceFolders": [{"uri": "file:///w", "name": "w"}],
        "repository": {"name": "n", "owner": "o", "remoteUrl": "https://x"},
    }
    host.answer(sent, {"sessionId": "N"})
    session = await asyncio.wait_for(starting, PATIENCE)
    # An agent that wants no events and no context can be asked all the same.
    document = session.open(URI, "x", language_id="c")
    assert await asked(host, session, document) == {
        "sessionId": "N",
        "uri": URI,
        "version": 1,
        "position": position(0, 0),
        "triggerKind": "automatic",
    }


@pytest.mark.req("allu-nes-04")
async def test_a_login_that_is_asked_for_is_done_and_the_call_repeated(version: int) -> None:
    class Logging(Editor):
        async def log_in(self, agent: ClientConnection) -> Login:
            return Login("web")

    name = "methodId" if version == 2 else "id"
    methods = [{name: "web", "name": "Web", **({"type": "agent"} if version == 2 else {})}]
    host = await Host.begin(version, Logging(), **offering(version, nes={}), authMethods=methods)
    starting = asyncio.create_task(host.connection.start_nes())
    host.refuse(await host.wire.read_method("nes/start"), -32000, "Log in first")
    host.answer(await host.wire.read_method("auth/login" if version == 2 else "authenticate"), {})
    host.answer(await host.wire.read_method("nes/start"), {"sessionId": "N"})
    assert (await asyncio.wait_for(starting, PATIENCE)).id == "N"


@pytest.mark.req("allu-nes-05", "allu-nes-09", "allu-nes-10")
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1), (None, 2)])
async def test_a_request_counts_in_the_agreed_encoding(version: int, encoding: str | None, end: int) -> None:
    host, session = await begin(version, encoding=encoding)
    document = session.open(URI, "x\n😀y", language_id="c")
    params = await asked(host, session, document, offset=3, selection=(2, 3), trigger=NesTriggerKind.MANUAL)
    assert params == {
        "sessionId": "N",
        "uri": URI,
        "version": 1,
        "position": position(1, end),
        "triggerKind": "manual",
        "selection": stretch(1, 0, 1, end),
    }


CONTEXT = NesSuggestContext(
    recent_files=[NesRecentFile(uri=f"file:///{n}", language_id="c", text="") for n in range(3)],
    related_snippets=[NesRelatedSnippet(uri=URI, excerpts=[NesExcerpt(start_line=0, end_line=1, text="x")])],
    edit_history=[NesEditHistoryEntry(uri=URI, diff=str(n)) for n in range(3)],
    user_actions=[
        NesUserAction(action=str(n), uri=URI, position=Position(line=0, character=0), timestamp_ms=n) for n in range(3)
    ],
    open_files=[NesOpenFile(uri=URI, language_id="c")],
)


@pytest.mark.req("allu-nes-06")
@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (None, None),
        ({}, None),
        ({"diagnostics": {}}, {"diagnostics": 1}),
        ({"recentFiles": {"maxCount": 2}, "editHistory": {"maxCount": None}}, {"recentFiles": 2, "editHistory": 3}),
        ({"userActions": {"maxCount": 0}, "openFiles": {}}, {"userActions": 0, "openFiles": 1}),
        ({"relatedSnippets": {}, "recentFiles": None, "_own": {}}, {"relatedSnippets": 1}),
        ({"userActions": {"maxCount": 99}}, {"userActions": 3}),
    ],
)
async def test_of_the_context_only_what_was_asked_for(version: int, wanted: Any, sent: dict[str, int] | None) -> None:
    host, session = await begin(version, context=wanted)
    document = session.open(URI, "abc", language_id="c")
    diagnostic = NesDiagnostic(
        uri=URI, range=document.range(1, 2), severity=NesDiagnosticSeverity.ERROR, message="no such name"
    )
    members = {name: getattr(CONTEXT, name) for name in CONTEXT.__struct_fields__}
    params = await asked(host, session, document, context=NesSuggestContext(**{**members, "diagnostics": [diagnostic]}))
    found = params.get("context")
    assert (found and {name: len(entries) for name, entries in found.items()}) == sent
    if found and "diagnostics" in found:
        assert found["diagnostics"][0]["range"] == stretch(0, 1, 0, 2)
    if found and "recentFiles" in found:
        assert [entry["uri"] for entry in found["recentFiles"]] == ["file:///0", "file:///1"]


# --- What is stale ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["typing", "another request", "closing the document", "closing the session"])
async def test_a_request_that_is_stale_is_withdrawn_and_finds_nothing(version: int, how: str) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    other = session.open("file:///b", "b", language_id="c")
    asking = Asking(session, document)
    request = await host.wire.read_method("nes/suggest")
    later: asyncio.Task[Any] | None = None
    match how:
        case "typing":
            other.edit(TextEdit(0, 0, "this text was not asked about"))
            await settle()
            assert not asking.task.done()
            document.edit(TextEdit(0, 0, "x"))
        case "another request":
            later = Asking(session, other).task
        case "closing the document":
            document.close()
        case _:
            later = asyncio.create_task(session.close())
    cancel = await host.wire.read_method("$/cancel_request")
    assert cancel["params"] == {"requestId": request["id"]}
    assert await asking.found() == ()
    # An answer that still comes has no effect.
    host.answer(request, {"suggestions": [{"kind": "jump", "id": "1", "suggestionId": "1"}]})
    if later is not None:
        host.answer(
            await host.wire.read_method("nes/close" if "session" in how else "nes/suggest"), {"suggestions": []}
        )
        await asyncio.wait_for(later, PATIENCE)
    assert await host.heard("nes/reject") == []


@pytest.mark.req("allu-nes-12")
async def test_suggestions_that_come_with_a_change_are_rejected_as_cancelled(version: int) -> None:
    """They were read before the editor's next word, and nobody has seen them."""
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    asking = Asking(session, document)
    request = await host.wire.read_method("nes/suggest")
    name = "suggestionId" if version == 2 else "id"
    taken = asyncio.get_running_loop().create_future()
    real = document.session._asked.copy().pop()._take

    def take(response: Any) -> None:
        real(response)
        document.edit(TextEdit(0, 0, "x"))
        taken.set_result(None)

    # The editor types right after the answer was read.
    call = next(iter(host.connection.peer._asking._calls.values()))
    call.applied = take
    host.answer(request, {"suggestions": [{name: "s1", **edit((stretch(0, 0, 0, 1), "A"))}]})
    await asyncio.wait_for(taken, PATIENCE)
    assert await asking.found() == ()
    (reject,) = await host.heard("nes/reject")
    assert reject["params"] == {"sessionId": "N", name: "s1", "reason": "cancelled"}


async def test_cancelling_the_caller_withdraws_the_request(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    asking = Asking(session, document)
    request = await host.wire.read_method("nes/suggest")
    asking.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking.found()
    cancel = await host.wire.read_method("$/cancel_request")
    assert cancel["params"] == {"requestId": request["id"]}


async def test_a_caller_that_is_cancelled_stays_so_when_its_request_is_stale_too(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    asking = Asking(session, document)
    await host.wire.read_method("nes/suggest")
    document.edit(TextEdit(0, 0, "x"))
    asking.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking.found()


async def test_a_refusal_and_the_end_of_the_connection_reach_the_caller(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    asking = Asking(session, document)
    host.refuse(await host.wire.read_method("nes/suggest"), -32602, "no")
    with pytest.raises(RpcError, match="-32602"):
        await asking.found()
    asking = Asking(session, document)
    await host.wire.read_method("nes/suggest")
    await host.wire.near.close()
    with pytest.raises(ConnectionClosed):
        await asking.found()


# --- Suggestions -----------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-nes-10")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_each_kind_in_offsets(version: int, encoding: str) -> None:
    host, session = await begin(version, encoding=encoding)
    text = "é😀 = 1\nprint(é😀)"
    document = session.open(URI, text, language_id="python")
    width = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[encoding]
    names = [(stretch(1, 6, 1, 6 + width), "x"), (stretch(0, 0, 0, width), "x")]
    found = await told(
        host,
        session,
        document,
        edit(*names, cursorPosition=position(1, 7)),
        {"kind": "jump", "uri": URI, "position": position(1, 6 + width)},
        {"kind": "rename", "uri": URI, "position": position(0, width), "newName": "y"},
    )
    changed, jump, rename = found
    assert isinstance(changed, SuggestedEdit)
    assert changed.edits == (TextEdit(0, 2, "x"), TextEdit(13, 15, "x"))
    assert apply_edits(text, changed.edits) == "x = 1\nprint(x)" and changed.cursor == 13
    assert jump == SuggestedJump("1", URI, 1, 15)
    assert rename == SuggestedRename("2", URI, 1, 2, "y")


@pytest.mark.req("allu-nes-11")
@pytest.mark.parametrize("flag", [{}, {"isRegex": None}, {"isRegex": False}])
async def test_search_and_replace_is_plain_text_unless_it_says_regex(version: int, flag: dict[str, Any]) -> None:
    host, session = await begin(version)
    document = session.open(URI, "a.b a.b axb", language_id="c")
    change = {"kind": "searchAndReplace", "uri": URI, "search": "a.b", "replace": r"\g<0>"}
    (plain,) = await told(host, session, document, {**change, **flag})
    assert isinstance(plain, SuggestedReplacement) and plain.edits is not None and not plain.is_regex
    assert apply_edits(document.text, plain.edits) == r"\g<0> \g<0> axb"
    (regex,) = await told(host, session, document, {**change, "isRegex": True})
    assert regex == SuggestedReplacement("0", URI, 1, "a.b", r"\g<0>", True, None)
    (empty,) = await told(host, session, document, {**change, "search": ""})
    assert isinstance(empty, SuggestedReplacement) and empty.edits == ()


@pytest.mark.req("v2u-nes-03")
async def test_what_cannot_be_shown_is_left_out_and_rejected_as_ignored(version: int) -> None:
    class EditsOnly(Client):
        def capabilities(self) -> ClientCapabilities:
            return ClientCapabilities(nes=ClientNesCapabilities())

    host, session = await begin(version, client=EditsOnly())
    document = session.open(URI, "abc", language_id="c")
    overlapping = [(stretch(0, 0, 0, 2), ""), (stretch(0, 1, 0, 3), "")]
    found = await told(
        host,
        session,
        document,
        {"kind": "_fold", "uri": URI},
        edit((stretch(0, 0, 0, 1), "A")),
        {"kind": "jump", "uri": URI, "position": position(0, 0)},
        edit(*overlapping),
        edit((stretch(0, 0, 0, 0), "x"), uri="file:///other"),
    )
    assert [one.id for one in found] == ["1"]
    rejected = [message["params"] for message in await host.heard("nes/reject")]
    name = "suggestionId" if version == 2 else "id"
    assert [(one[name], one["reason"]) for one in rejected] == [(id, "ignored") for id in ("0", "2", "3", "4")]


async def test_a_file_that_is_not_open_is_read_by_the_editor(version: int) -> None:
    files = {"file:///b": "one\ntwo"}
    host, session = await begin(version, read_file=files.get)
    document = session.open(URI, "abc", language_id="c")
    places = [{"kind": "jump", "uri": uri, "position": position(1, 1)} for uri in ("file:///b", "file:///c")]
    assert await told(host, session, document, *places) == (SuggestedJump("0", "file:///b", None, 5),)


# --- Their fate ------------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-nes-12")
async def test_the_fate_of_a_suggestion_is_told_once(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    one = edit((stretch(0, 0, 0, 1), "A"))
    first, second, third = await told(host, session, document, one, one, one)
    session.accept(first)
    session.reject(second, NesRejectReason.REPLACED)
    session.reject(third)
    session.accept(third)
    session.reject(first)
    await settle()
    sent = [message for message in host.wire.pending() if message["method"].startswith("nes/")]
    assert not any("id" in message for message in sent)
    name = "suggestionId" if version == 2 else "id"
    assert [(message["method"], message["params"]) for message in sent] == [
        ("nes/accept", {"sessionId": "N", name: "0"}),
        ("nes/reject", {"sessionId": "N", name: "1", "reason": "replaced"}),
        ("nes/reject", {"sessionId": "N", name: "2"}),
    ]


async def test_a_closed_session_is_over(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    (one,) = await told(host, session, document, edit((stretch(0, 0, 0, 1), "A")))
    closing = asyncio.create_task(session.close())
    request = await host.wire.read_method("nes/close")
    assert request["params"] == {"sessionId": "N"}
    host.answer(request, None)
    await asyncio.wait_for(closing, PATIENCE)
    await session.close()
    session.accept(one)
    with pytest.raises(ValueError, match="is closed"):
        session.open(URI, "", language_id="c")
    with pytest.raises(ValueError, match="is closed"):
        await session.suggest(document, 0)
    with pytest.raises(ValueError, match="not open any more"):
        document.save()
    await host.wire.silence()


def test_all_events_are_there() -> None:
    names = {field.encode_name for field in fields(NesDocumentEventCapabilities)}
    assert names - {"_meta"} == set(ALL)


async def test_a_client_that_announces_none_asks_for_none(version: int) -> None:
    """Fail closed: the agent has them, and was not told that this client wants any."""
    said: dict[str, Any] = {"capabilities" if version == 2 else "agentCapabilities": {"nes": {}, "session": {}}}
    host = await Host.begin(version, Client(), **said)
    with pytest.raises(RuntimeError, match=r"has not announced suggested edits: let Client\.capabilities return"):
        await host.connection.start_nes()
    await host.wire.silence()
