"""An endpoint that sends without end, or sends on to another: the step ends with an error that says so."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from remote_kit import KEY, WIRES, ask, collect, ended, model_on
from wire_server import Answer, Call, Fail, Raw, Reply, WireServer

from duologue.coder.models.base import ModelError
from duologue.coder.models.config import Wire

BIG = "x" * 200_000


async def refused(reply: Reply, wire: Wire, **changes: Any) -> str:
    """What a person is told of a reply; it is not asked for twice."""
    async with WireServer(reply) as server:
        with pytest.raises(ModelError) as caught:
            await collect(model_on(server, wire, **changes).stream(ask()))
        assert len(server.asked) == 1
    return caught.value.summary


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "reply",
    [
        Raw(f"data: {BIG}".encode()),
        Raw(b"event: ping\n" + BIG.encode()),
        Answer(text=[BIG]),
        Answer(calls=[Call("1", "read_file", [f'{{"path": "{BIG}"}}'])]),
        Fail(500, {"error": {"message": BIG}}),
    ],
)
async def test_a_line_that_is_too_long_ends_the_step(wire: Wire, reply: Reply) -> None:
    assert "sent a line of more than 100000 bytes" in await refused(reply, wire, line_bytes=100_000)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "reply",
    [
        Raw(b": nothing\n\n" * 20_000),
        Answer(text=["x" * 1000] * 200),
        Answer(calls=[Call("1", "read_file", ["x" * 1000] * 200)]),
        Fail(400, "\n" * 200_000),
    ],
)
async def test_an_answer_that_is_too_long_ends_the_step(wire: Wire, reply: Reply) -> None:
    assert "sent an answer of more than 100000 bytes" in await refused(reply, wire, answer_bytes=100_000)


@pytest.mark.parametrize("wire", WIRES)
async def test_what_is_compressed_is_not_taken(wire: Wire) -> None:
    body = gzip.compress(json.dumps({"error": {"message": "no"}}).encode()).decode("latin-1")
    assert "compressed its answer" in await refused(Fail(400, body, {"content-encoding": "gzip"}), wire)
    async with WireServer(Answer(text=["Hello"])) as server:
        assert ended(await collect(model_on(server, wire).stream(ask()))).message.text == "Hello"
        assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_neither_key_nor_conversation_follow_a_redirect_elsewhere(wire: Wire, status: int) -> None:
    async with WireServer(Answer(text=["Hello"])) as other:
        told = await refused(Fail(status, headers={"location": f"{other.root}/elsewhere"}), wire)
        assert other.connections == 0
    assert "sends on to 127.0.0.1" in told and KEY not in told


@pytest.mark.parametrize("wire", WIRES)
async def test_a_redirect_within_the_endpoint_is_followed(wire: Wire) -> None:
    path = "/v2/messages" if wire is Wire.ANTHROPIC else "/v2/chat/completions"
    async with WireServer(Fail(307, headers={"location": path}), Answer(text=["Hello"])) as server:
        assert ended(await collect(model_on(server, wire).stream(ask()))).message.text == "Hello"
        assert server.asked[1].path == path
