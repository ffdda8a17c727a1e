"""Drives an edge with JSON on both sides, and holds everything that comes out against the types of its version."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import cache
from typing import Any

from hypothesis import strategies as st
from protocol_values import values

from duologue import codec
from duologue.protocol.changes.edge import Edge
from duologue.protocol.changes.memory import ConnectionMemory
from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse, Step
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.version import V1, V2, Version

Json = Any
SESSION = "sess"


def plain(value: Any) -> Json:
    return json.loads(codec.encode(value))


def fitting(hint: Any, value: Any) -> Any:
    """Decode JSON of ours; nothing of it may have to be dropped."""

    def fail(dropped: codec.Dropped) -> None:
        raise AssertionError(f"does not fit {hint}: {dropped}")

    return codec.decode(hint, json.dumps(value).encode(), report=fail)


def decoded(hint: Any, value: Any) -> Any:
    """Decode JSON of any shape; something of it may be dropped."""
    return codec.decode(hint, json.dumps(value).encode())


@cache
def shape(version: Version, hint: Any) -> Any:
    """JSON of every shape that the schema allows for one of our types."""
    name = next((name for name in version.types if version.types.find(name) is hint), None)
    return st.just({}) if name is None else values(version.name, name)


def method(version: Version, name: str) -> Any:
    found = [one for one in version.methods.values() if one.name == name]
    if not found:
        raise LookupError(f"no {name} in {version}")
    return found[0]


class Line:
    """A connection whose local side speaks v2 and whose wire speaks v1."""

    def __init__(self, side: Side) -> None:
        self.now = 1000.0
        self.memory = ConnectionMemory(clock=lambda: self.now)
        self.edge = Edge(side, self.memory)
        self._asked: dict[Hashable, tuple[Any, Any]] = {}
        self._results: dict[Hashable, Any] = {}

    # What the local side says, as what goes to the wire.

    def update_out(self, update: Json, session_id: str = SESSION) -> list[Json]:
        note = fitting(v2_table.SESSION_UPDATE.params, {"sessionId": session_id, "update": update})
        return self._updates(self.edge.update_out(note), v1_table.SESSION_UPDATE, session_id)

    def notify_out(self, name: str, params: Json) -> list[Json]:
        found = method(V2, name)
        return self._shown(self.edge.notification_out(found, fitting(found.params, params)))

    def ask_out(self, name: str, params: Json, key: Hashable = "key") -> list[Json]:
        found = method(V2, name)
        self._results[key] = found.result
        steps = self.edge.request_out(found, fitting(found.params, params), key)
        return self._shown(steps, found, key)

    def answer_out(self, key: Hashable, result: Json) -> list[Json]:
        inside, _ = self._asked[key]
        return self._shown(self.edge.result_out(key, fitting(inside.result, result)), None, key)

    def refuse_out(self, key: Hashable, code: int, message: str = "no") -> list[Json]:
        return self._shown(self.edge.error_out(key, code, message))

    # What comes from the wire, as what reaches the local side.

    def update_in(self, update: Json, session_id: str = SESSION) -> list[Json]:
        note = fitting(v1_table.SESSION_UPDATE.params, {"sessionId": session_id, "update": update})
        return self._updates(self.edge.update_in(note), v2_table.SESSION_UPDATE, session_id)

    def notify_in(self, name: str, params: Json) -> list[Json]:
        found = method(V1, name)
        return self._shown(self.edge.notification_in(found, fitting(found.params, params)))

    def ask_in(self, name: str, params: Json, key: Hashable = "key") -> list[Json]:
        found = method(V1, name)
        self._results[key] = found.result
        steps = self.edge.request_in(found, fitting(found.params, params), key)
        return self._shown(steps, found, key)

    def answer_in(self, key: Hashable, result: Json) -> list[Json]:
        _, wire = self._asked[key]
        steps = self.edge.result_in(key, fitting(wire.result, result), raw=result)
        return self._shown(steps, None, key)

    def refuse_in(self, key: Hashable, code: int, message: str = "no", data: Json = None) -> list[Json]:
        return self._shown(self.edge.error_in(key, code, message, data))

    # How steps are shown: ["notify", name, params], ["ask", name, params], ["answer", key, result], ["refuse", ...].

    def _updates(self, made: Any, method: Notification[Any], session_id: str) -> list[Json]:
        """The updates of one session alone; anything else is shown as a step."""
        if not isinstance(made, (tuple, list)):
            made = (Notify(method, made),)
        shown = self._shown(made)
        for step in shown:
            if step[1] == "session/update":
                assert step[2]["sessionId"] == session_id
        return [step[2]["update"] if step[1] == "session/update" else step for step in shown]

    def _shown(self, steps: Any, asked: Request[Any, Any] | None = None, key: Hashable = None) -> list[Json]:
        return [self._step(step, asked, key) for step in steps]

    def _step(self, step: Step, asked: Request[Any, Any] | None, key: Hashable) -> Json:
        match step:
            case Notify(method=method, params=params):
                return ["notify", method.name, self._held(method.params, params)]
            case Ask(method=method, params=params):
                inside = asked if asked in V2.methods.values() else method
                wire = method if inside is asked else asked
                self._asked[key] = (inside, wire)
                return ["ask", method.name, self._held(method.params, params)]
            case Answer(key=key, result=result):
                return ["answer", key, self._held(self._results.get(key, Any), result)]
            case Refuse(key=key, code=code, message=message):
                return ["refuse", key, int(code), message]
        raise AssertionError(step)

    def _held(self, hint: Any, value: Any) -> Json:
        """JSON of a value that has exactly the members which its version's type has."""
        shown = plain(value)
        assert plain(fitting(hint, shown)) == shown
        return shown


def agent() -> Line:
    """A v2 agent behind a v1 wire."""
    return Line(Side.AGENT)


def client() -> Line:
    """A v2 client before a v1 wire."""
    return Line(Side.CLIENT)


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def item(words: str) -> Json:
    """A text as content of a tool call."""
    return {"type": "content", "content": text(words)}


def call(tool_call_id: str = "t", **members: Any) -> Json:
    """A tool call as version 1 announces it."""
    return {"sessionUpdate": "tool_call", "toolCallId": tool_call_id, **members}


def tool(tool_call_id: str = "t", **members: Any) -> Json:
    """What is told of a tool call later on, and in version 2 from the start."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": tool_call_id, **members}


def terminal(**members: Any) -> Json:
    return {"sessionUpdate": "terminal_update", "terminalId": "x", **members}


def chunk(kind: str, words: str, message_id: str | None = None) -> Json:
    made = {"sessionUpdate": f"{kind}_chunk", "content": text(words)}
    return made if message_id is None else {**made, "messageId": message_id}


def idle(reason: str | None = "end_turn", **members: Json) -> Json:
    made = {"sessionUpdate": "state_update", "state": "idle", **members}
    return made if reason is None else {**made, "stopReason": reason}


RUNNING = {"sessionUpdate": "state_update", "state": "running"}
REQUIRES_ACTION = {"sessionUpdate": "state_update", "state": "requires_action"}


def prompt(words: str = "hi", session_id: str = SESSION) -> Json:
    return {"sessionId": session_id, "prompt": [text(words)]}


def user_message(message_id: str, words: str = "hi") -> Json:
    return {"sessionUpdate": "user_message", "messageId": message_id, "content": [text(words)]}


def updates(steps: list[Json]) -> list[Json]:
    """The updates among steps, other steps as they are."""
    return [step[2]["update"] if step[1] == "session/update" else step for step in steps]
