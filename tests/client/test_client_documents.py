"""The editor's buffers, as an agent is told of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host
from client_nes_kit import ALL, URI, begin, position, stretch
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.documents import Document, TextEdit, apply_edits
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import Position, Range, TextDocumentContentChangeEvent
from wire import close_all, settle


async def events(host: Host) -> list[tuple[str, dict[str, Any]]]:
    """The document events that were sent and not read yet."""
    await settle()
    sent = [message for message in host.wire.pending() if message["method"].startswith("document/")]
    assert not any("id" in message for message in sent)
    return [(message["method"].removeprefix("document/"), message["params"]) for message in sent]


@pytest.mark.req(
    "allu-documents-02", "allu-documents-03", "allu-documents-04", "allu-documents-08", "allu-documents-09"
)
async def test_each_event_as_it_is_sent(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "a😀b\nc", language_id="python")
    document.focus(2, (0, 5))
    document.edit(TextEdit(3, 4, ""))
    document.save()
    document.set_text("whole")
    document.close()
    about = {"sessionId": "N", "uri": URI}
    assert await events(host) == [
        ("didOpen", {**about, "languageId": "python", "version": 1, "text": "a😀b\nc"}),
        ("didFocus", {**about, "version": 1, "position": position(0, 3), "visibleRange": stretch(0, 0, 1, 1)}),
        ("didChange", {**about, "version": 2, "contentChanges": [{"range": stretch(0, 4, 1, 0), "text": ""}]}),
        ("didSave", about),
        ("didChange", {**about, "version": 3, "contentChanges": [{"range": stretch(0, 0, 0, 5), "text": "whole"}]}),
        ("didClose", about),
    ]
    assert session.documents == {}


@pytest.mark.req("allu-documents-08")
async def test_the_focus_is_told_at_each_switch(version: int) -> None:
    host, session = await begin(version)
    first = session.open(URI, "a", language_id="c")
    second = session.open("file:///b", "b", language_id="c")
    for document in (first, second, first, second):
        document.focus(0, (0, 1))
    told = [params["uri"] for name, params in await events(host) if name == "didFocus"]
    assert told == [first.uri, second.uri] * 2


@pytest.mark.req("allu-documents-01")
@pytest.mark.parametrize("left_out", list(ALL))
async def test_only_events_that_the_agent_listed(version: int, left_out: str) -> None:
    wanted = {name: value for name, value in ALL.items() if name != left_out}
    host, session = await begin(version, events=wanted)
    document = session.open(URI, "a", language_id="c")
    document.edit(TextEdit(0, 0, "x"))
    document.focus(0, (0, 1))
    document.save()
    document.close()
    assert {name for name, _ in await events(host)} == set(wanted)


@pytest.mark.req("allu-documents-01", "v2-versioning-03")
async def test_an_agent_that_lists_nothing_is_told_nothing(version: int) -> None:
    host, session = await begin(version, events={})
    document = session.open(URI, "a", language_id="c")
    document.edit(TextEdit(0, 0, "x"))
    document.close()
    assert await events(host) == []


@pytest.mark.req("allu-documents-05")
@pytest.mark.parametrize("kind", ["full", "_own", 3])
async def test_whole_texts_for_an_agent_that_takes_no_pieces(version: int, kind: Any) -> None:
    host, session = await begin(version, events={"didChange": {"syncKind": kind}})
    document = session.open(URI, "abc", language_id="c")
    document.edit(TextEdit(0, 1, "A"), TextEdit(2, 3, "C"))
    sent = await events(host)
    if kind == 3:
        # Of no string nobody knows what it means, not even that changes are wanted.
        assert sent == []
        return
    assert [params["contentChanges"] for _, params in sent] == [[{"text": "AbC"}]]


@pytest.mark.req("allu-documents-04")
async def test_versions_grow_by_document(version: int) -> None:
    host, session = await begin(version)
    first = session.open(URI, "a", language_id="c", version=7)
    second = session.open("file:///b", "b", language_id="c")
    for document in (first, second, first):
        document.edit(TextEdit(0, 0, "x"))
    second.edit()
    second.set_text(second.text)
    told = [(params["uri"], params["version"]) for name, params in await events(host) if name == "didChange"]
    assert told == [(URI, 8), ("file:///b", 2), (URI, 9)]
    assert (first.version, first.text, second.version) == (9, "xxa", 2)


async def test_mistakes_of_the_editor_are_told_to_it_and_nothing_is_sent(version: int) -> None:
    host, session = await begin(version)
    document = session.open(URI, "abc", language_id="c")
    await events(host)
    overlapping = [TextEdit(0, 2, ""), TextEdit(1, 3, "")]
    for edits in ([TextEdit(0, 4, "")], overlapping, [TextEdit(0, 0, "x"), TextEdit(2, 1, "")]):
        with pytest.raises(ValueError, match=r"characters|overlap|no stretch"):
            document.edit(*edits)
    with pytest.raises(ValueError, match="open already"):
        session.open(URI, "", language_id="c")
    document.close()
    for action in (document.save, document.close, lambda: document.focus(0, (0, 0)), lambda: document.set_text("x")):
        with pytest.raises(ValueError, match="not open any more"):
            action()
    assert [name for name, _ in await events(host)] == ["didClose"]
    assert (document.text, document.version) == ("abc", 1)


characters = st.text(st.sampled_from("ab\n\ré😀"), max_size=12)


@pytest.mark.req("allu-documents-06", "allu-nes-09")
@settings(max_examples=40)
@given(characters, st.sampled_from(["utf-8", "utf-16", "utf-32", None, "utf-7"]), st.data())
def test_the_agents_text_is_the_editors_whatever_is_typed(text: str, encoding: str | None, data: st.DataObject) -> None:
    edits: list[list[TextEdit]] = []
    now = text
    for _ in range(data.draw(st.integers(0, 4))):
        places = sorted(data.draw(st.lists(st.integers(0, len(now)), min_size=2, max_size=4)))
        pairs = list(zip(places[::2], places[1::2], strict=False))
        edits.append([TextEdit(*pair, data.draw(characters)) for pair in pairs])
        now = apply_edits(now, edits[-1])
    asyncio.run(_typed(text, encoding, edits, now))


async def _typed(text: str, encoding: str | None, edits: list[list[TextEdit]], expected: str) -> None:
    host, session = await begin(2, encoding=encoding)
    counted = PositionEncodingKind(encoding if encoding in ("utf-8", "utf-32") else "utf-16")
    assert session.encoding is counted
    document = session.open(URI, text, language_id="c")
    for some in edits:
        document.edit(*some)
    (_, opened), *changes = await events(host)
    mirror = Document(URI, opened["text"])
    for _, params in changes:
        mirror.apply([_change(one) for one in params["contentChanges"]], counted)
    assert mirror.text == document.text == expected
    await host.connection.close()
    await close_all()


def _change(told: dict[str, Any]) -> TextDocumentContentChangeEvent:
    ends = [Position(**told["range"][end]) for end in ("start", "end")]
    return TextDocumentContentChangeEvent(range=Range(start=ends[0], end=ends[1]), text=told["text"])
