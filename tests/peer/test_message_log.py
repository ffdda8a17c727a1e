"""A file of messages: one JSON object a line, without secrets, for its owner alone."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue import Agent, Turn
from duologue.jsonrpc.messages import Malformed
from duologue.local.masking import MASK, mask
from duologue.peer import Peer
from duologue.peer.message_log import LOGGED_CHARACTERS, MessageLog
from duologue.protocol.method import Side
from duologue.protocol.version import V1
from duologue.testing import connected

STDIO = {"name": "a", "command": "x", "args": ["--verbose"], "env": [{"name": "HOME", "value": "hush"}]}
HTTP = {
    "type": "http",
    "url": "https://user:hush@host/x?api_key=hush&page=1",
    "headers": [{"name": "X-Any", "value": "hush"}],
}


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class Greeter(Agent):
    async def prompt(self, turn: Turn) -> None:
        turn.say("hello")


@pytest.mark.parametrize("protocol", [1, 2])
async def test_every_message_is_a_line_in_the_order_of_the_wire(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "log"
    async with connected(Greeter(), protocol=2 if protocol == 2 else 1, trace=MessageLog(path)) as agent:
        session = await agent.new_session(tmp_path)
        assert await session.prompt("go").text() == "hello"
    told = entries(path)
    assert [entry["message"].get("method") for entry in told if entry["direction"] == "out"] == [
        "initialize",
        "session/new",
        "session/prompt",
    ]
    assert told[0]["direction"] == "out" and told[1]["direction"] == "in"
    assert any("hello" in json.dumps(entry) for entry in told if entry["direction"] == "in")
    times = [datetime.fromisoformat(entry["time"]) for entry in told]
    assert all(time.tzinfo is not None for time in times)


@pytest.mark.parametrize(
    "members",
    [
        {"mcpServers": [STDIO, HTTP]},
        {"env": {"TOKEN": "hush", "HOME": "hush"}},
        {"_meta": {"terminal-auth": {"env": {"A": "hush"}}, "authToken": "hush", "x-api-key": "hush"}},
        {"headers": {"Cookie": "hush"}, "Authorization": "Basic hush", "client_secret": ["hush"]},
        {"text": "curl -H 'Authorization: Bearer hush-hush' https://user:hush@host"},
        {"fields": {"password": {"value": "hush"}}},
    ],
)
def test_secrets_are_masked(tmp_path: Path, members: dict[str, Any]) -> None:
    path = tmp_path / "log"
    MessageLog(path)("in", json.dumps({"method": "x", "params": members}).encode())
    text = path.read_text()
    assert "hush" not in text and MASK in text
    assert entries(path)[0]["message"]["method"] == "x"


def test_what_only_sounds_like_a_secret_stays() -> None:
    value = {"totalTokens": 5, "progressToken": 7, "page": "1", "token": None, "key": "value", "value": "plain"}
    assert mask(value, 100) == value
    assert mask({"env": None, "headers": []}, 100) == {"env": None, "headers": []}


def test_names_of_variables_stay(tmp_path: Path) -> None:
    assert mask({"env": STDIO["env"]}, 100) == {"env": [{"name": "HOME", "value": MASK}]}


def test_what_is_no_json_stands_as_text_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = MessageLog(path)
    for line in (b"noise \xff", b'{"apiKey": "hush"', b'{"a": NaN, "value": "hush"}', b"[" * 100_000):
        log("in", line)
    told = entries(path)
    assert [set(entry) for entry in told] == [{"time", "direction", "text"}] * 4
    assert told[0]["text"] == "noise �" and "hush" not in path.read_text()


def test_a_secret_with_a_quote_in_it_is_masked_whole(tmp_path: Path) -> None:
    MessageLog(tmp_path / "log")("in", b'{"token": "hush\\"hush", "next": "shown')
    (entry,) = entries(tmp_path / "log")
    assert "hush" not in entry["text"] and "shown" in entry["text"]


def test_the_beginning_of_a_broken_line_is_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "duologue"):
        Peer(Side.AGENT, V1).reading.take([Malformed(-32700, "broken", b'{"apiKey": "hush", "x": broken')])
    assert "it began with" in caplog.text and "hush" not in caplog.text


def test_long_strings_are_cut_and_the_line_stays_json(tmp_path: Path) -> None:
    path = tmp_path / "log"
    MessageLog(path)("out", json.dumps({"data": "x" * (LOGGED_CHARACTERS + 5)}).encode())
    (entry,) = entries(path)
    assert entry["message"]["data"].endswith("x … 5 more characters")


@given(st.binary(max_size=200))
def test_any_bytes_are_one_line(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "log"
    log = MessageLog(path)
    log("in", line)
    log.close()
    assert len(entries(path)) == 1


def test_only_its_owner_can_read_it_and_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("{}\n")
    path.chmod(0o644)
    MessageLog(path)("in", b"{}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(entries(path)) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[OSError] = []
    log = MessageLog(Path("/dev/full"), failed=failures.append)
    for _ in range(3):
        log("in", b"{}")
    assert len(failures) == 1
    MessageLog(Path("/dev/full"))("in", b"{}")
    assert caplog.text.count("is not written any more") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_nobody_reads_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="start its reader first"):
        MessageLog(tmp_path / "pipe")


@pytest.mark.parametrize(("name", "words"), [("", "this is a folder"), ("none/log", "there is no such folder: .*none")])
def test_a_file_that_cannot_be_opened_is_told_with_what_to_do(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(OSError, match=words):
        MessageLog(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nothing_waits_for_a_reader_that_does_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    monkeypatch.setattr("duologue.peer.message_log.PENDING_BYTES", 10_000)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    log = MessageLog(path)
    for number in range(200):
        log("in", json.dumps({"n": number, "x": "x" * 2000}).encode())
    # It would stand still here if a full pipe were waited for.
    told = read_all(reader)
    log("in", b'{"n": "last"}')
    told += read_all(reader)
    log.close()
    os.close(reader)
    lines = [json.loads(line) for line in told.splitlines()]
    numbers = [line["message"]["n"] for line in lines if "message" in line]
    (lost,) = [line["lost"] for line in lines if "lost" in line]
    assert numbers == [*range(200 - lost), "last"] and 0 < lost < 200


def read_all(reader: int) -> bytes:
    """What stands in a pipe."""
    told = b""
    with contextlib.suppress(BlockingIOError):
        while data := os.read(reader, 65536):
            told += data
    return told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_reader_that_goes_away_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    failures: list[OSError] = []
    log = MessageLog(path, failed=failures.append)
    log("in", b"{}")
    os.close(reader)
    for _ in range(3):
        log("in", b"{}")
    assert [type(error) for error in failures] == [BrokenPipeError]


def test_the_file_may_be_named_by_a_text(tmp_path: Path) -> None:
    with contextlib.closing(MessageLog(str(tmp_path / "log"))) as log:
        log("in", b"{}")
    assert '"direction":"in"' in (tmp_path / "log").read_text().replace(" ", "")
    with pytest.raises(TypeError, match="the file of a MessageLog must be a path or a string, not int"):
        MessageLog(3)  # type: ignore[arg-type] # the mistake
