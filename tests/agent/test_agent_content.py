"""Content blocks of prompts: each kind, what opens it, and what is refused."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, until

from duologue.agent import Turn
from duologue.agent.turn import Command
from duologue.protocol.v2.capabilities import (
    PromptAudioCapabilities,
    PromptCapabilities,
    PromptEmbeddedContextCapabilities,
    PromptImageCapabilities,
)
from duologue.protocol.v2.content import ResourceLinkBlock

DATA = b64encode(b"bytes").decode()
FULL = {"audience": ["user", "assistant"], "lastModified": "2024-01-01T00:00:00Z", "priority": 0.5}
TEXT: dict[str, Any] = {"type": "text", "text": "show"}
LINK: dict[str, Any] = {"type": "resource_link", "uri": "file:///a", "name": "a"}
IMAGE = {"type": "image", "data": DATA, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": DATA, "mimeType": "audio/wav"}
RESOURCE: dict[str, Any] = {"type": "resource", "resource": {"uri": "file:///a", "text": "t", "mimeType": "text/plain"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///a", "blob": DATA}}
GATED = {"image": IMAGE, "audio": AUDIO, "embedded_context": RESOURCE}


class Taker(Scripted):
    """Takes what it is told to take, and says back every block of a prompt."""

    def __init__(self, *takes: str) -> None:
        super().__init__(show=self.show)
        self.takes = takes
        self.commands: list[Command | None] = []

    def prompt_capabilities(self) -> PromptCapabilities:
        markers: dict[str, Any] = {
            "image": PromptImageCapabilities(),
            "audio": PromptAudioCapabilities(),
            "embedded_context": PromptEmbeddedContextCapabilities(),
        }
        return PromptCapabilities(**{name: markers[name] for name in self.takes})

    async def show(self, turn: Turn) -> None:
        self.commands.append(turn.command)
        for block in turn.prompt or ():
            await turn.say(block)
            turn.end_message()


async def prompt(talk: Talk, session: str, *blocks: Any) -> dict[str, Any] | None:
    """Send a prompt; the error that refuses it, or None once its turn has ended."""
    request = talk.call("session/prompt", {"sessionId": session, "prompt": list(blocks)})
    talk.send(request)
    answer = await talk.answer(request["id"])
    if "error" in answer:
        error: dict[str, Any] = answer["error"]
        return error
    assert await talk.ended(request["id"]) == [Ended("end_turn")]
    return None


def shown(talk: Talk) -> list[Any]:
    return [update["content"] for update in talk.updates() if update["sessionUpdate"] == "agent_message_chunk"]


@pytest.mark.req("all-content-01", "all-content-03", "all-content-06", "all-updates-03")
@pytest.mark.parametrize("annotations", [None, {}, FULL, {"audience": None, "lastModified": None, "priority": None}])
async def test_each_kind_of_block_comes_and_goes_as_it_is(version: int, annotations: Any) -> None:
    talk = await Talk.begin(Taker("image", "audio", "embedded_context"), version)
    session = await talk.new()
    image = {**IMAGE, "uri": "file:///a.png"}
    link = {**LINK, "description": "d", "mimeType": "text/plain", "size": 5, "title": "A"}
    blocks = [TEXT, *({**block, "annotations": annotations} for block in (link, image, AUDIO, RESOURCE, BLOB))]
    talk.seen.clear()
    assert await prompt(talk, session, *blocks) is None
    assert shown(talk) == blocks


@pytest.mark.parametrize("name", GATED)
@pytest.mark.req("all-content-01")
async def test_field_bug_113_a_block_that_is_not_announced_is_refused(version: int, name: str) -> None:
    agent = Taker(*(other for other in GATED if other != name))
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    error = await prompt(talk, session, TEXT, GATED[name])
    assert error is not None
    assert (error["code"], error["data"]) == (-32602, {"path": "$.params.prompt[1]"})
    assert agent.log == []
    for other in agent.takes:
        assert await prompt(talk, session, TEXT, GATED[other]) is None


@pytest.mark.req("v1-content-02")
@pytest.mark.parametrize(
    "block", [{"type": "video", "data": DATA}, {"type": "_mine", "x": 1}, {"type": "Text", "text": "t"}]
)
async def test_a_block_of_an_unknown_type_is_refused(version: int, block: dict[str, Any]) -> None:
    talk = await Talk.begin(Taker(*GATED), version)
    error = await prompt(talk, await talk.new(), TEXT, block)
    assert error is not None and error["code"] == -32602


@pytest.mark.req("all-jsonrpc-08")
@pytest.mark.parametrize(
    "block",
    [
        *({"type": "text"}, {"type": "text", "text": 5}, {"type": "text", "text": None}, {"text": "t"}, "t", None, []),
        *({"type": "image", "data": DATA}, {"type": "audio", "mimeType": "audio/wav"}, {"type": "resource"}),
        *({"type": "resource_link", "uri": "file:///a"}, {"type": "resource", "resource": {"uri": "file:///a"}}),
    ],
)
async def test_a_broken_block_is_refused(version: int, block: Any) -> None:
    talk = await Talk.begin(Taker(*GATED), version)
    session = await talk.new()
    error = await prompt(talk, session, TEXT, block)
    assert error is not None and error["code"] == -32602
    assert await prompt(talk, session, TEXT) is None


@pytest.mark.req("all-jsonrpc-08")
@pytest.mark.parametrize("params", [{}, {"prompt": [TEXT]}, {"sessionId": "S"}, {"sessionId": "S", "prompt": "hello"}])
async def test_a_prompt_without_what_it_needs_is_invalid(version: int, params: dict[str, Any]) -> None:
    talk = await Talk.begin(Taker(), version)
    assert (await talk.ask("session/prompt", params))["error"]["code"] == -32602


async def test_links_need_no_word(version: int) -> None:
    talk = await Talk.begin(Taker(), version)
    talk.seen.clear()
    assert await prompt(talk, await talk.new(), TEXT, LINK) is None
    assert shown(talk) == [TEXT, LINK]


# --- commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-commands-04")
@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/show", Command("show", "")),
        ("/show  two words ", Command("show", "two words")),
        ("show /it", None),
        (" /show", None),
        ("/ show", None),
        ("/", None),
        ("/show\nmore", Command("show", "more")),
        ("/show a\n  b\tc  d", Command("show", "a\n  b\tc  d")),
    ],
)
async def test_field_bug_119_a_command_is_what_a_prompt_begins_with(
    version: int, text: str, command: Command | None
) -> None:
    agent = Taker()
    agent.scripts = dict.fromkeys(("show", "/show", "/"), agent.show)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    assert await prompt(talk, session, {"type": "text", "text": text}, LINK) is None
    # Version 2 accepts a prompt before its turn begins.
    await until(lambda: agent.commands == [command])
    assert await prompt(talk, session, LINK, {"type": "text", "text": text}) is None
    await until(lambda: agent.commands == [command, command])


@pytest.mark.req("v2-content-03")
async def test_a_block_that_breaks_a_format_is_a_mistake_of_the_author(version: int) -> None:
    bad = ResourceLinkBlock(name="a", uri="a.txt")

    async def show(turn: Turn) -> None:
        with pytest.raises(ValueError, match="absolute"):
            turn.say(bad)
        async with turn.tool_call("Look") as call:
            with pytest.raises(ValueError, match="absolute"):
                call.content(bad)
        await turn.say("went on")

    talk = await Talk.begin(Scripted(show=show), version)
    assert await talk.turn(await talk.new(), "show") == Ended("end_turn")
    assert "a.txt" not in str(talk.seen)
    assert talk.said() == "went on"
