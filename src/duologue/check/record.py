"""What was said on a connection, line by line, and the same as messages that belong together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from duologue.protocol.method import Side

Json = dict[str, Any]

#: The longest part of a line that a report shows, in characters.
SHOWN = 400


@dataclass(frozen=True)
class Line:
    """A line as it went over the wire. `ours`: the checker said it."""

    number: int
    ours: bool
    data: bytes

    @cached_property
    def json(self) -> Any:
        """What it says; None where that is no JSON in UTF-8."""
        try:
            return json.loads(self.data.decode("utf-8"))
        except (ValueError, RecursionError):
            return None

    @property
    def messages(self) -> list[Json]:
        """The messages in it: one, or those of a batch."""
        entries = self.json if isinstance(self.json, list) else [self.json]
        return [entry for entry in entries if isinstance(entry, dict)]

    def __str__(self) -> str:
        text = self.data.decode("utf-8", "backslashreplace").rstrip("\n")
        more = f" … {len(text) - SHOWN} more characters" if len(text) > SHOWN else ""
        return f"{'->' if self.ours else '<-'} {text[:SHOWN]}{more}"


@dataclass(frozen=True, eq=False)
class Said:
    """A message, with the line that it came in."""

    line: Line
    json: Json

    @property
    def ours(self) -> bool:
        return self.line.ours

    @property
    def method(self) -> str | None:
        method = self.json.get("method")
        return method if isinstance(method, str) else None

    @property
    def asks(self) -> bool:
        return "method" in self.json and "id" in self.json

    @property
    def tells(self) -> bool:
        return "method" in self.json and "id" not in self.json

    @property
    def answers(self) -> bool:
        return "method" not in self.json

    @property
    def id(self) -> tuple[str, Any]:
        """The id with its type, since 1, true and "1" are three ids."""
        return key_of(self.json.get("id"))

    @property
    def params(self) -> Json:
        """Its params; empty where they are no object."""
        params = self.json.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def result(self) -> Json:
        """Its result; empty where it is no object."""
        result = self.json.get("result")
        return result if isinstance(result, dict) else {}

    @property
    def code(self) -> int | None:
        """The code of the error that it is; None where it is none."""
        error = self.json.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        return code if isinstance(code, int) else None

    @property
    def session(self) -> Any:
        return self.params.get("sessionId")

    @property
    def update(self) -> Json:
        """What a session/update tells; empty for anything else."""
        update = self.params.get("update") if self.method == "session/update" else None
        return update if isinstance(update, dict) else {}

    @property
    def kind(self) -> Any:
        """The kind of update that it is."""
        return self.update.get("sessionUpdate")


@dataclass(eq=False)
class Talk:
    """One connection. `side` is that of the program under test, `proposed` the version of the checker's proposal."""

    side: Side
    proposed: int
    #: Which probe had it.
    title: str = ""
    lines: list[Line] = field(default_factory=list)
    #: All messages of both sides, in order.
    said: list[Said] = field(default_factory=list)

    def add(self, ours: bool, data: bytes) -> list[Said]:
        """Take down a line; the messages in it."""
        line = Line(len(self.lines), ours, data)
        messages = [Said(line, message) for message in line.messages]
        self.lines.append(line)
        self.said += messages
        self.__dict__.pop("_pairs", None)  # is out of date now
        return messages

    @property
    def theirs(self) -> list[Said]:
        """What the program under test said."""
        return [said for said in self.said if not said.ours]

    def heard(self, since: int) -> list[Said]:
        """What the program said after the first `since` messages of both sides."""
        return [said for said in self.said[since:] if not said.ours]

    @property
    def version(self) -> int | None:
        """The version that was agreed on; None before that."""
        for said in self.said:
            if said.answers and (request := self.request_of(said)) is not None and request.method == "initialize":
                version = said.result.get("protocolVersion")
                if isinstance(version, int):
                    return version
        return None

    @cached_property
    def _pairs(self) -> tuple[dict[int, Said], dict[int, Said]]:
        """Requests by the identity of their answers, and first answers by the identity of their requests."""
        requests: dict[int, Said] = {}
        answers: dict[int, Said] = {}
        open_: dict[tuple[bool, tuple[str, Any]], list[Said]] = {}
        for said in self.said:
            if said.asks:
                open_.setdefault((said.ours, said.id), []).append(said)
            elif said.answers and (waiting := open_.get((not said.ours, said.id))):
                request = waiting.pop(0)
                requests[id(said)] = request
                answers[id(request)] = said
        return requests, answers

    def request_of(self, answer: Said) -> Said | None:
        """What an answer answers; None for a second answer, or for one that nobody asked for."""
        return self._pairs[0].get(id(answer))

    def answer_to(self, request: Said) -> Said | None:
        return self._pairs[1].get(id(request))

    def answered(self, method: str, *, ours: bool) -> Iterator[tuple[Said, Said]]:
        """The requests of a method that one side made, each with its answer, as far as there is one."""
        for said in self.said:
            if said.asks and said.ours is ours and said.method == method:
                answer = self.answer_to(said)
                if answer is not None:
                    yield said, answer

    def updates(self, *kinds: str) -> Iterator[Said]:
        """The session updates of these kinds, or all of them."""
        for said in self.said:
            if said.method == "session/update" and (not kinds or said.kind in kinds):
                yield said

    def capabilities(self, side: Side) -> Json:
        """What a side said of itself in the handshake, in the words of the version; empty where it said nothing."""
        for request, answer in self.answered("initialize", ours=self.side is Side.AGENT):
            said = request.params if side is Side.CLIENT else answer.result
            for name in ("capabilities", f"{side.value}Capabilities"):
                if isinstance(said.get(name), dict):
                    found: Json = said[name]
                    return found
        return {}

    def offered(self, side: Side, *path: str) -> Any:
        """What a side said of one of its capabilities; None where it said nothing."""
        return inside(self.capabilities(side), *path)

    def offers(self, side: Side, *path: str) -> bool:
        """Whether a side said that it has a capability."""
        return self.offered(side, *path) not in (None, False)


def key_of(id: Any) -> tuple[str, Any]:
    """An id with its type."""
    return type(id).__name__, id if isinstance(id, str | int | float | None) else json.dumps(id)


def inside(value: Any, *path: str) -> Any:
    """The member at the end of a path; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def tail(lines: Sequence[Line], most: int = 6) -> list[Line]:
    """The last lines of a connection, for a report."""
    return list(lines[-most:])
