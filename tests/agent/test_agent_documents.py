"""The agent's mirror of the client's buffers."""

from __future__ import annotations

import logging

import pytest
from agent_kit import settle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nes_kit import URI, Hearing, Scripted, begin, note, opening, position, start, stretch, suggesting


async def test_each_event_reaches_its_hook_in_order(version: int) -> None:
    nes = Hearing(lambda request: [])
    talk = await begin(nes, version)
    session = await start(talk)
    changes = [{"range": stretch(0, 1, 0, 3), "text": "é"}, {"range": stretch(0, 2, 0, 2), "text": "\n"}]
    talk.send(
        opening(session, "a😀b", 7),
        note("didChange", session, version=8, contentChanges=changes),
        note("didChange", session, version=9, contentChanges=[{"text": "new\ntext"}]),
        note("didFocus", session, version=9, position=position(1, 1), visibleRange=stretch(0, 0, 2, 0)),
        note("didSave", session),
        note("didClose", session),
        note("didSave", session),
    )
    await settle()
    assert nes.log == [
        ("opened", URI, "python", 7, "a😀b"),
        ("changed", URI, 8, "aé\nb"),
        ("changed", URI, 9, "new\ntext"),
        ("focused", URI, 5, (0, 8)),
        ("saved", URI),
        ("closed", URI),
    ]
    assert nes.session is not None and nes.session.documents == {}


@pytest.mark.req("allu-documents-07")
@pytest.mark.parametrize("whole", [{"text": "whole"}, {"text": "whole", "range": None}])
async def test_a_whole_text_needs_no_document_before_it(version: int, whole: dict[str, object]) -> None:
    nes = Scripted(lambda request: [])
    talk = await begin(nes, version)
    session = await start(talk)
    talk.send(note("didChange", session, version=4, contentChanges=[whole]))
    await settle()
    assert nes.session is not None
    assert (nes.session.documents[URI].text, nes.session.documents[URI].version) == ("whole", 4)


async def test_events_of_what_is_not_open_are_ignored(version: int, caplog: pytest.LogCaptureFixture) -> None:
    nes = Hearing(lambda request: [])
    talk = await begin(nes, version)
    session = await start(talk)
    place = {"version": 1, "position": position(0, 0), "visibleRange": stretch(0, 0, 0, 0)}
    with caplog.at_level(logging.WARNING):
        talk.send(
            opening("nobody's", "x"),
            note("didChange", session, version=2, contentChanges=[{"range": stretch(0, 0, 0, 0), "text": "x"}]),
            note("didFocus", session, **place),
            note("didClose", session),
        )
        await settle()
    assert nes.log == [] and nes.session is not None and nes.session.documents == {}
    assert "a change of a document that is not open" in caplog.text
    assert (await talk.ask("nes/suggest", suggesting(session)))["result"] == {"suggestions": []}


async def test_sessions_have_buffers_of_their_own(version: int) -> None:
    nes = Hearing(lambda request: [])
    talk = await begin(nes, version)
    first = await start(talk)
    one = nes.session
    second = await start(talk)
    two = nes.session
    talk.send(opening(first, "one"), opening(second, "two"), note("didClose", first))
    await settle()
    assert one is not None and two is not None
    assert (one.documents, two.documents[URI].text) == ({}, "two")


async def test_a_hook_that_fails_costs_nothing_else(version: int) -> None:
    class Broken(Hearing):
        def opened(self, session: object, document: object) -> None:
            raise ValueError("broken")

    nes = Broken(lambda request: [])
    talk = await begin(nes, version)
    session = await start(talk)
    talk.send(opening(session, "a"), note("didSave", session))
    await settle()
    assert nes.log == [("saved", URI)]
    assert "result" in await talk.ask("nes/suggest", suggesting(session))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["open", "change", "whole", "save", "close", "ask"]), max_size=12))
def test_any_order_of_events_leaves_the_mirror_right(kinds: list[str]) -> None:
    import asyncio

    asyncio.run(_any_order(kinds))


async def _any_order(kinds: list[str]) -> None:
    nes = Scripted(lambda request: [])
    talk = await begin(nes, 2)
    session = await start(talk)
    text: str | None = None
    for number, kind in enumerate(kinds, 1):
        match kind:
            case "open":
                text = f"open {number}"
                talk.send(opening(session, text, number))
            case "change":
                change = {"range": stretch(0, 0, 0, 1), "text": str(number)}
                talk.send(note("didChange", session, version=number, contentChanges=[change]))
                text = None if text is None else f"{number}{text[1:]}"
            case "whole":
                text = f"whole {number}"
                talk.send(note("didChange", session, version=number, contentChanges=[{"text": text}]))
            case "save":
                talk.send(note("didSave", session))
            case "close":
                talk.send(note("didClose", session))
                text = None
            case _:
                await talk.ask("nes/suggest", suggesting(session, version=number))
    await settle()
    assert nes.session is not None
    document = nes.session.documents.get(URI)
    assert (document and document.text) == text
    await talk.connection.close()
