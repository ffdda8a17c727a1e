"""What a person reads when an endpoint fails, what is tried again, and that no key gets out."""

from __future__ import annotations

import logging
import socket
import threading
import traceback

import pytest
from msgspec.structs import replace
from remote_kit import KEY, WIRES, ask, collect, ended, model_on
from wire_server import Answer, Fail, Hang, Raw, Reply, WireServer

from duologue.coder.models import remote
from duologue.coder.models.backend import Backend
from duologue.coder.models.base import ModelError, ModelEvent, TextDelta
from duologue.coder.models.config import Wire
from duologue.coder.models.remote import RemoteModel
from duologue.coder.models.settings import RemoteSettings

OPENAI_ERROR = {"error": {"message": f"Incorrect key {KEY} given", "type": "x", "param": None, "code": None}}


async def failure(model: RemoteModel, seen: list[ModelEvent] | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        async for event in model.stream(ask()):
            if seen is not None:
                seen.append(event)
    return caught.value


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("status", "says", "retryable"),
    [
        (400, "refused the request (400)", False),
        (401, "refused the key (401): set HOME_KEY", False),
        (403, "refused access to 'wire-model' (403)", False),
        (404, "has no model 'wire-model', or the base URL is wrong (404)", False),
        (413, "refused the request (413)", False),
        (429, "too many requests (429)", True),
        (500, "failed (500)", True),
        (503, "overloaded (503)", True),
        (529, "overloaded (529)", True),
    ],
)
async def test_each_status_says_what_to_do(wire: Wire, status: int, says: str, retryable: bool) -> None:
    async with WireServer(Fail(status, OPENAI_ERROR)) as server:
        error = await failure(model_on(server, wire, retries=0))
        assert len(server.asked) == 1
    assert says in error.summary and f"home ({server.root}" in error.summary
    assert (error.status, error.retryable) == (status, retryable)
    assert "\n" not in error.summary and len(error.summary) < 500


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_the_key_is_in_no_text_and_no_cause(wire: Wire, status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with WireServer(Fail(status, OPENAI_ERROR)) as server:
        error = await failure(model_on(server, wire, retries=1))
    shown = "".join(traceback.format_exception(error)) + repr(error) + str(vars(error)) + caplog.text
    assert KEY not in shown
    assert error.__cause__ is None and error.__context__ is None


async def test_settings_and_models_do_not_show_the_key() -> None:
    async with WireServer(Hang()) as server:
        model = model_on(server, Wire.OPENAI)
    assert KEY not in repr(model.settings) + str(model.settings.endpoint.key) + model.name + model.description


@pytest.mark.parametrize("wire", WIRES)
async def test_a_page_of_html_is_not_quoted(wire: Wire) -> None:
    async with WireServer(Fail(502, "<html><body>Bad gateway</body></html>")) as server:
        error = await failure(model_on(server, wire, retries=0))
    assert "<" not in error.summary and "failed (502)" in error.summary


@pytest.mark.parametrize(
    ("wire", "reply", "says"),
    [
        (
            Wire.OPENAI,
            Fail(400, {"error": {"message": "too long", "code": "context_length_exceeded"}}),
            "longer than 'wire-model' can take",
        ),
        (
            Wire.ANTHROPIC,
            Fail(400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}),
            "longer than 'wire-model' can take",
        ),
        (Wire.OPENAI, Fail(429, {"error": {"message": "broke", "code": "insufficient_quota"}}), "used up: broke"),
    ],
)
async def test_known_causes_are_named(wire: Wire, reply: Reply, says: str) -> None:
    async with WireServer(reply) as server:
        error = await failure(model_on(server, wire, retries=3))
        assert len(server.asked) == 1
    assert says in error.summary and not error.retryable


@pytest.mark.parametrize("wire", WIRES)
async def test_a_failure_that_may_pass_is_tried_again(wire: Wire) -> None:
    async with WireServer(Fail(529), Fail(500), Answer(text=("Hi",))) as server:
        events = await collect(model_on(server, wire, retries=2).stream(ask()))
        assert len(server.asked) == 3
    assert ended(events).message.text == "Hi"


@pytest.mark.parametrize("wire", WIRES)
async def test_retries_are_bounded(wire: Wire) -> None:
    async with WireServer(Fail(500)) as server:
        error = await failure(model_on(server, wire, retries=2))
        assert len(server.asked) == 3
    assert error.status == 500


async def test_a_wait_that_is_too_long_is_not_waited_for() -> None:
    async with WireServer(Fail(429, headers={"retry-after": "600"})) as server:
        error = await failure(model_on(server, Wire.OPENAI))
        assert len(server.asked) == 1
    assert error.retryable


@pytest.mark.parametrize("wire", WIRES)
async def test_nothing_is_tried_again_once_something_was_seen(wire: Wire) -> None:
    seen: list[ModelEvent] = []
    async with WireServer(Answer(text=("Half ", "an ", "answer"), until=4, then="drop")) as server:
        error = await failure(model_on(server, wire), seen)
        assert len(server.asked) == 1
    assert any(isinstance(event, TextDelta) for event in seen)
    assert error.retryable and "broke before the answer was whole" in error.summary


@pytest.mark.parametrize("wire", WIRES)
async def test_a_connection_that_breaks_at_once_is_tried_again(wire: Wire) -> None:
    async with WireServer(Answer(until=0, then="drop"), Answer(text=("Hi",))) as server:
        events = await collect(model_on(server, wire).stream(ask()))
        assert len(server.asked) == 2
    assert ended(events).message.text == "Hi"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_that_just_ends_is_no_answer(wire: Wire) -> None:
    """A body that ends cleanly in the middle must not pass for a whole answer."""
    async with WireServer(Answer(text=("Half ", "an answer"), until=3)) as server:
        error = await failure(model_on(server, wire))
    assert "ended before it was whole" in error.summary


async def test_a_server_that_never_gives_a_reason_to_end_is_accepted() -> None:
    async with WireServer(Answer(text=("Hi",), finish="none")) as server:
        events = await collect(model_on(server, Wire.OPENAI).stream(ask()))
    assert ended(events).message.text == "Hi"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("body", [b"data: {not json\n\n", b'event: message_start\ndata: {"type": \n\n'])
async def test_a_malformed_stream_is_an_error_and_not_a_crash(wire: Wire, body: bytes) -> None:
    async with WireServer(Raw(body)) as server:
        error = await failure(model_on(server, wire, retries=0))
    assert "home (" in error.summary and "\n" not in error.summary


async def test_an_error_event_inside_the_stream() -> None:
    overloaded = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    async with WireServer(Raw(overloaded)) as server:
        error = await failure(model_on(server, Wire.ANTHROPIC, retries=0))
    assert error.retryable and error.status == 529
    async with WireServer(Raw(b'data: {"error":{"message":"GPU fell over","code":500}}\n\n')) as server:
        error = await failure(model_on(server, Wire.OPENAI, retries=0))
    assert "failed (500)" in error.summary and "GPU fell over" in error.summary


@pytest.mark.parametrize("wire", WIRES)
async def test_silence_is_bounded(wire: Wire) -> None:
    async with WireServer(Hang()) as server:
        error = await failure(model_on(server, wire, retries=0, silence_timeout=0.2))
    assert "sent nothing for 0.2 s" in error.summary and error.retryable


async def test_silence_in_mid_stream_is_bounded() -> None:
    async with WireServer(Answer(text=("One ", "two"), until=3, then="hang")) as server:
        error = await failure(model_on(server, Wire.OPENAI, silence_timeout=0.2))
    assert "sent nothing for 0.2 s" in error.summary


@pytest.mark.parametrize("wire", WIRES)
async def test_an_endpoint_that_is_not_there(wire: Wire) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with WireServer(Hang()) as server:
        model = model_on(server, wire, retries=0)
    endpoint = replace(model.settings.endpoint, base_url=f"http://user:hunter2@127.0.0.1:{port}/v1?key=hunter2")
    error = await failure(RemoteModel(replace(model.settings, endpoint=endpoint)))
    assert f"cannot reach home (http://127.0.0.1:{port}/v1)" in error.summary
    assert "hunter2" not in error.summary


async def test_the_library_loads_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading takes a second or two; other sessions must go on meanwhile."""
    threads: list[threading.Thread] = []
    load = remote._load

    def watched(settings: RemoteSettings) -> Backend:
        threads.append(threading.current_thread())
        return load(settings)

    monkeypatch.setattr(remote, "_load", watched)
    async with WireServer(Answer(text=("Hi",))) as server:
        await collect(model_on(server, Wire.OPENAI).stream(ask()))
    assert len(threads) == 1 and threads[0] is not threading.main_thread()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("body", [b"{}", b"<html><body>Welcome</body></html>", b""])
async def test_an_answer_of_another_kind_says_what_was_expected(wire: Wire, body: bytes) -> None:
    async with WireServer(Raw(body)) as server:
        error = await failure(model_on(server, wire, retries=0))
    name = "OpenAI chat completions" if wire is Wire.OPENAI else "Anthropic messages"
    assert f"expected a stream of {name}" in error.summary and "(status 200)" in error.summary
    assert "http://127.0.0.1:" in error.summary and "check that the base URL" in error.summary
    assert KEY not in error.summary and "Welcome" not in error.summary
