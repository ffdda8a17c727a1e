"""A v2 agent and a v2 client with a v1 wire between them, and what a transcript makes of what they hear."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from changes_kit import SESSION, Json, agent, client, fitting, plain, updates
from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.steps import Notify
from duologue.protocol.v2 import table as v2
from duologue.session.entries import Message, ToolCallState
from duologue.session.terminal import TerminalState
from duologue.session.transcript import Transcript


class Road:
    """Whatever one end says goes down to v1 and up again; `heard` are the updates that reached the client."""

    def __init__(self) -> None:
        self.agent, self.client = agent(), client()
        self.heard: list[Json] = []

    def wait(self, seconds: float) -> None:
        """Let time pass; the timer of the agent's side runs when it is over."""
        self.agent.now += seconds
        if self.agent.edge.behind():
            late = [step for step in self.agent.edge.catch_up() if isinstance(step, Notify)]
            self._carry([["notify", step.method.name, plain(step.params)] for step in late])

    def update(self, said: Json) -> None:
        """An update of the agent."""
        self._carry(self.agent.update_out(said))

    def ask_agent(self, name: str, params: Json, key: str) -> list[Json]:
        """A request of the client, as what the agent is asked."""
        return [
            heard
            for _, wire, told in self.client.ask_out(name, params, key)
            for heard in self.agent.ask_in(wire, told, key)
        ]

    def answer_client(self, key: str, result: Json) -> list[Json]:
        """The agent's answer, as what reaches the client apart from updates."""
        return self._carry(self.agent.answer_out(key, result))

    def ask_client(self, name: str, params: Json, key: str) -> list[Json]:
        """A request of the agent, as what reaches the client apart from updates."""
        return self._carry(self.agent.ask_out(name, params, key), key)

    def _carry(self, told: list[Json], key: str = "") -> list[Json]:
        came = [heard for step in told for heard in self._step(step, key)]
        self.heard += [one for one in came if isinstance(one, dict)]
        return [one for one in came if not isinstance(one, dict)]

    def _step(self, step: Json, key: str) -> list[Json]:
        match step:
            case {"sessionUpdate": _}:
                return self.client.update_in(step)
            case ["notify", "session/update", {"update": update}]:
                return self.client.update_in(update)
            case ["answer", key, result]:
                return updates(self.client.answer_in(key, result))
            case ["refuse", key, code, message]:
                return updates(self.client.refuse_in(key, code, message))
            case ["ask", name, params]:
                return updates(self.client.ask_in(name, params, key))
        raise AssertionError(step)


def folded(said: Iterable[Json]) -> Json:
    """All that a transcript shows once it has taken in these updates. Prompts have their number in place of an id."""
    transcript = Transcript()
    for update in said:
        transcript.apply(fitting(v2.SESSION_UPDATE.params, {"sessionId": SESSION, "update": update}).update)
    shown = [shown_entry(entry) for entry in transcript.entries]
    made = [entry for entry in shown if str(entry.get("id")).startswith(("prompt-", "duologue-"))]
    for number, entry in enumerate(made):
        entry["id"] = f"made {number}"
    return {
        "entries": shown,
        "terminals": [shown_terminal(terminal) for terminal in transcript.terminals.values()],
        "plans": {name: plain(plan) for name, plan in transcript.plans.items()},
        "commands": plain(transcript.commands),
        "options": plain(transcript.config_options),
        "usage": plain(transcript.usage),
        "info": [transcript.title, transcript.updated_at],
        "state": [transcript.state, transcript.stop_reason],
    }


def shown_entry(entry: Any) -> Json:
    match entry:
        case Message():
            return {"id": entry.id, "role": entry.role.value, "content": joined(plain(entry.content))}
        case ToolCallState():
            content = [{**item, "content": item.get("content")} for item in plain(entry.content)]
            return {"id": entry.id, "content": content, **members(entry)}
        case Unknown(raw=raw):
            return {"unknown": raw}
    raise AssertionError(entry)


def members(call: ToolCallState) -> Json:
    names = ("name", "title", "kind", "status", "locations", "raw_input", "raw_output", "meta")
    return {name: plain(value) for name in names if (value := getattr(call, name)) is not UNSET}


def shown_terminal(terminal: TerminalState) -> Json:
    return [terminal.id, terminal.command, terminal.cwd, terminal.text, plain(terminal.exit_status)]


def joined(blocks: list[Json]) -> list[Json]:
    """Text that follows text is one text, however it came."""
    made: list[Json] = []
    for block in blocks:
        if block.keys() == {"type", "text"} and made and made[-1].keys() == {"type", "text"}:
            made[-1] = {**block, "text": made[-1]["text"] + block["text"]}
        else:
            made.append(block)
    return made
