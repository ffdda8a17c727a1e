"""Prompts: what may be in them, and how turns follow each other."""

from __future__ import annotations

from typing import Any

from duologue.check.agents.words import HELLO, READ, RUN, WORLD, WRITE
from duologue.check.bench import Bench, stop_reason
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.serving import REFUSING, RICH
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LINK = {"type": "resource_link", "uri": "file:///nonexistent/duologue.txt", "name": "duologue.txt"}


@probe(Side.AGENT, "v1-prompt-08", "v2-prompt-05")
async def takes_prompt_after_prompt(bench: Bench) -> None:
    """A walk through most of what an agent does, for a client that can do all; the watchers look at it as well."""
    wire, session = await bench.session(RICH[bench.version])
    for text in (WORLD, READ, RUN, WRITE, HELLO):
        turn = bench.begin(wire, session, text)
        if text == WORLD:
            await turn.accepted()
        end = await turn.must_end()
        demand(end.code is None, "after a turn the session does not take the next prompt", end)
    # What follows the last end is looked at too.
    await wire.barrier()


@probe(Side.AGENT, "all-prompt-02")
async def takes_text_and_links(bench: Bench) -> None:
    """Also the walk for a client that can do nothing."""
    for offered in (None, REFUSING[bench.version]):
        wire, session = await bench.session(offered)
        turn = bench.begin(wire, session, [{"type": "text", "text": HELLO}, LINK])
        answer = await wire.answer(turn.request)
        demand(answer.code != ErrorCode.INVALID_PARAMS, "a prompt of a text and a link is refused", answer)
        await turn.end()
        for text in (READ, RUN):
            await bench.turn(wire, session, text)


@probe(Side.AGENT, "all-prompt-03")
async def survives_blocks_unasked_for(bench: Bench) -> None:
    wire, session = await bench.session()
    path = ("promptCapabilities", "image") if bench.version == 1 else ("session", "prompt", "image")
    if wire.talk.offers(Side.AGENT, *path):
        raise Skipped(Reason.CAPABILITY)
    await bench.turn(wire, session, HELLO)
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    await bench.begin(wire, session, [{"type": "text", "text": HELLO}, image]).must_end()


@probe(Side.AGENT, "v1-prompt-02", "v2-updates-10")
async def refuses_bad_prompts(bench: Bench) -> None:
    wire, session = await bench.session()
    bad: list[Any] = [[{"type": "text"}]] if bench.version == 2 else ["hello", [{"type": "text"}]]
    for prompt in bad:
        answer = await wire.ask("session/prompt", {"sessionId": session, "prompt": prompt})
        demand(answer.code == ErrorCode.INVALID_PARAMS, f"the prompt {prompt!r} is not refused with -32602", answer)


@probe(Side.AGENT, "v1-content-02")
async def refuses_unknown_blocks(bench: Bench) -> None:
    wire, session = await bench.session()
    prompt = [{"type": "text", "text": HELLO}, {"type": "video", "data": "AA=="}]
    answer = await wire.ask("session/prompt", {"sessionId": session, "prompt": prompt})
    demand(
        answer.code == ErrorCode.INVALID_PARAMS,
        "a block that version 1 does not have is not refused with -32602",
        answer,
    )


@probe(Side.AGENT, "v1-content-01")
async def takes_odd_annotations(bench: Bench) -> None:
    wire, session = await bench.session()
    block = {"type": "text", "text": HELLO, "annotations": {"audience": ["_duologue"], "priority": "high"}}
    end = await bench.begin(wire, session, [block]).end()
    demand(end.code != ErrorCode.INVALID_PARAMS, "odd annotations fail a prompt", end)


@probe(Side.AGENT, "v2-prompt-13")
async def leaves_nothing_of_a_refused_prompt(bench: Bench) -> None:
    wire, session = await bench.session()
    turn = bench.begin(wire, session, [{"type": "text"}])
    answer = await wire.answer(turn.request)
    if answer.code is None:
        raise Skipped(Reason.BUILDS_ON)
    await wire.barrier()
    left = [
        said
        for said in turn.updates("user_message", "user_message_chunk", "state_update")
        if said.update.get("state", "running") == "running"
    ]
    demand(not left, "a refused prompt leaves something behind", answer, *left)


@probe(Side.AGENT, "v1-prompt-09")
async def answers_a_second_prompt(bench: Bench) -> None:
    wire, session = await bench.session()
    second = bench.prompt(wire, session, HELLO)
    first = bench.begin(wire, session, HELLO, second)
    await first.end()
    await wire.answer(second)


@probe(Side.AGENT, "all-prompt-04")
async def runs_two_sessions(bench: Bench) -> None:
    wire, one = await bench.session()
    other = await bench.open(wire)
    turns = [bench.begin(wire, one, HELLO), bench.begin(wire, other, HELLO)]
    for turn in turns:
        end = await turn.end()
        demand(stop_reason(end) != "cancelled", "a turn is cancelled by one of another session", end)
