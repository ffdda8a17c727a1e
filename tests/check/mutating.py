"""Agents that do one thing wrong: what a sound one writes or reads is changed on its way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duologue.testing import Fault, Misbehaving
from duologue.transports.base import Sink, Transport

Json = dict[str, Any]
#: Given a message that is to leave, and what was read and said so far: what leaves instead.
Change = Callable[[Any, "Past"], Any]


@dataclass
class Past:
    """What an agent has read so far. `asked` are the requests by id, `request` the one that a message answers."""

    heard: list[Json] = field(default_factory=list)
    asked: dict[str, Json] = field(default_factory=dict)
    request: Json = field(default_factory=dict)
    #: What was held back, to be said later.
    late: list[Json] = field(default_factory=list)
    #: How many messages the change was made to.
    count: int = 0

    @property
    def method(self) -> str:
        return str(self.request.get("method", ""))

    @property
    def params(self) -> Json:
        params = self.request.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def folder(self) -> Path:
        """The folder of the session."""
        return next(Path(m["params"]["cwd"]) for m in self.heard if m.get("method") == "session/new")

    def knows(self, method: str) -> bool:
        return any(message.get("method") == method for message in self.heard)

    def awaits(self, method: str, **params: Any) -> bool:
        """Whether a request of that method was read."""
        return any(
            message.get("method") == method and params.items() <= message.get("params", {}).items()
            for message in self.heard
        )


class Rewriting(Fault):
    """Changes what is sent."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._past = Past()

    def received(self, message: Any) -> None:
        for each in message if isinstance(message, list) else [message]:
            if isinstance(each, dict):
                self._past.heard.append(each)
                if "id" in each and "method" in each:
                    self._past.asked[json.dumps(each["id"])] = each

    def sent(self, line: bytes, message: Any) -> Iterable[bytes | None]:
        answers = isinstance(message, dict) and "method" not in message
        self._past.request = self._past.asked.get(json.dumps(message.get("id")), {}) if answers else {}
        changed = self._change(message, self._past)
        if changed is message:
            return (line,)
        if changed is None:
            return ()
        several = changed if isinstance(changed, tuple) else (changed,)
        return tuple(json.dumps(each).encode() + b"\n" for each in several)


def rewrite(change: Change) -> Callable[[Transport], Transport]:
    return lambda transport: Misbehaving(transport, Rewriting(change))


class Hearing:
    """A transport whose reader hears something else than what comes."""

    def __init__(self, transport: Transport, hear: Callable[[bytes], bytes]) -> None:
        self._transport = transport
        self._hear = hear
        self.write = transport.write
        self.buffered = transport.buffered
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.close = transport.close

    async def start(self, sink: Sink) -> None:
        self.connection_lost = sink.connection_lost
        self.pause_writing = sink.pause_writing
        self.resume_writing = sink.resume_writing
        self._sink = sink
        await self._transport.start(self)

    def data_received(self, data: bytes) -> None:
        if heard := self._hear(data):
            self._sink.data_received(heard)


def hear(change: Callable[[bytes], bytes]) -> Callable[[Transport], Transport]:
    return lambda transport: Hearing(transport, change)


# --- changes ----------------------------------------------------------------------------------------------------------


def code(method: str, code: int, when: Callable[[Past], bool] = lambda past: True) -> Callable[[Transport], Transport]:
    """Requests of a method fail with another code, or at all."""

    def change(message: Any, past: Past) -> Any:
        if past.method != method or not when(past):
            return message
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "No"}}

    return rewrite(change)


def result(
    method: str, result: Callable[[Json], Any], when: Callable[[Past], bool] = lambda past: True
) -> Callable[[Transport], Transport]:
    """Requests of a method succeed with another result."""

    def change(message: Any, past: Past) -> Any:
        if past.method != method or not when(past):
            return message
        return {"jsonrpc": "2.0", "id": message["id"], "result": result(message.get("result") or {})}

    return rewrite(change)


def error_code(old: int, new: int, which: int = 0) -> Callable[[Transport], Transport]:
    """One of the errors with a code has another one; `which` counts from 1, and 0 means all of them."""

    def change(message: Any, past: Past) -> Any:
        if not isinstance(message, dict) or message.get("error", {}).get("code") != old:
            return message
        past.count += 1
        return {**message, "error": {**message["error"], "code": new}} if which in (0, past.count) else message

    return rewrite(change)


def silent(when: Callable[[Any, Past], bool]) -> Callable[[Transport], Transport]:
    """Some messages are never sent."""
    return rewrite(lambda message, past: None if when(message, past) else message)


def also(extra: Any, when: Callable[[Past], bool]) -> Callable[[Transport], Transport]:
    """Before the next message something else is sent, once."""

    def change(message: Any, past: Past) -> Any:
        if past.count or not when(past):
            return message
        past.count += 1
        return (extra(message, past) if callable(extra) else extra, message)

    return rewrite(change)


def updating(change: Callable[[Json, Past], Json | None]) -> Callable[[Transport], Transport]:
    """Updates are changed."""

    def whole(message: Any, past: Past) -> Any:
        if not isinstance(message, dict) or message.get("method") != "session/update":
            return message
        update = message["params"]["update"]
        changed = change(update, past)
        if changed is update:
            return message
        return None if changed is None else {**message, "params": {**message["params"], "update": changed}}

    return rewrite(whole)
