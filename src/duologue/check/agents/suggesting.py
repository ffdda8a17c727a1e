"""Suggested edits, and the documents that they are about."""

from __future__ import annotations

from typing import Any

from duologue.check.bench import Bench, items_of, session_of, without_login
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.check.serving import EDITOR
from duologue.check.watching.documents import past_the_end, places
from duologue.check.wire import Wire
from duologue.protocol.method import Side

URI = "file:///duologue-check/notes.py"
TEXT = "def greet(name):\n    return f'Hello, {name'\n\n\nprint(greet('🙂')\n"
#: What takes the place of all of that.
SHORT = "x = (\n"


async def editing(bench: Bench, capabilities: Any = EDITOR) -> tuple[Wire, str]:
    """A connection with a session for suggested edits."""
    wire = await bench.greet(capabilities)
    bench.need(wire, v1=("nes",), v2=("nes",))
    return wire, await session_of(wire, "nes/start")


def about(session: str, **more: Any) -> Json:
    return {"sessionId": session, "uri": URI, **more}


def at(session: str, line: int, version: int = 1) -> Json:
    """The params that ask for suggestions within a line."""
    return about(session, version=version, position={"line": line, "character": 5}, triggerKind="manual")


def opened(bench: Bench, wire: Wire, session: str) -> None:
    """Open a document, where the agent wants to hear of it."""
    if wire.talk.offered(Side.AGENT, "nes", "events", "document", "didOpen") is not None:
        wire.send(wire.tell("document/didOpen", about(session, languageId="python", version=1, text=TEXT)))


async def suggestions(wire: Wire, session: str, line: int, version: int = 1) -> tuple[Said, list[Json]]:
    """What the agent suggests within a line; skips the probe where it refuses to."""
    return await items_of(wire, "nes/suggest", "suggestions", at(session, line, version))


@probe(Side.AGENT, "allu-nes-02")
async def starts_with_nothing(bench: Bench) -> None:
    wire = await bench.greet(EDITOR)
    bench.need(wire, v1=("nes",), v2=("nes",))
    folder = {"uri": bench.folder.as_uri(), "name": bench.folder.name}
    for params in ({}, {"workspaceUri": None}, {"workspaceUri": folder["uri"], "workspaceFolders": [folder]}):
        answer = without_login(await wire.ask("nes/start", params))
        demand(isinstance(answer.result.get("sessionId"), str), "nes/start gives no sessionId", answer)


@probe(Side.AGENT, "allu-nes-03")
async def keeps_apart_from_the_chat(bench: Bench) -> None:
    wire, one = await editing(bench)
    other = await session_of(wire, "nes/start")
    demand(one != other, "two sessions for suggested edits have one id", wire.talk.said[-1])
    prompt = {"sessionId": one, "prompt": [{"type": "text", "text": "Hello"}]}
    answer = await wire.ask("session/prompt", prompt)
    demand("error" in answer.json, "a session for suggested edits takes a prompt", answer)


@probe(Side.AGENT, "allu-nes-07")
async def suggests_what_it_has(bench: Bench) -> None:
    """For clients of each sort; what is said then is looked over by others too."""
    for capabilities in (EDITOR, {}, {"positionEncodings": ["utf-8"]}, {"positionEncodings": ["utf-32", "utf-16"]}):
        wire, session = await editing(bench, capabilities)
        opened(bench, wire, session)
        for line in (1, 4):
            answer = await wire.ask("nes/suggest", at(session, line))
            told = answer.result.get("suggestions")
            demand(isinstance(told, list), "nes/suggest is not answered with suggestions", answer)


@probe(Side.AGENT, "allu-documents-07")
async def takes_a_whole_text(bench: Bench) -> None:
    wire, session = await editing(bench)
    if wire.talk.offered(Side.AGENT, "nes", "events", "document", "didChange") is None:
        raise Skipped(Reason.CAPABILITY)
    opened(bench, wire, session)
    change = about(session, version=2, contentChanges=[{"text": SHORT, "range": None}])
    wire.send(wire.tell("document/didChange", change))
    answer, told = await suggestions(wire, session, 0, version=2)
    found = [place for each in told if each.get("uri") == URI for place in places(each)]
    if not found:
        raise Skipped(Reason.NOT_OBSERVED)
    wrong = [place for place in found if past_the_end(place, SHORT)]
    demand(not wrong, "a change without a range does not replace the document", answer)


@probe(Side.AGENT, "allu-nes-13")
async def closes(bench: Bench) -> None:
    """A request for suggestions is open when the session is closed; it ends in whatever way."""
    wire, session = await editing(bench)
    opened(bench, wire, session)
    asked = wire.request("nes/suggest", at(session, 1))
    closing = wire.request("nes/close", {"sessionId": session})
    wire.send(asked, closing)
    answer = await wire.answer(closing)
    demand(isinstance(answer.json.get("result"), dict), "nes/close is not answered with an object", answer)
    await wire.answer(asked)
    late = await wire.ask("nes/suggest", at(session, 1))
    demand("error" in late.json, "a closed session still gives suggestions", late)
