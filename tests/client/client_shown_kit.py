"""Updates as bare lines, and what they make of a session that a client holds."""

from __future__ import annotations

from typing import Any

from client_kit import Host

from duologue.protocol.v2.tools import ToolContent
from duologue.session import Message, ToolCallState, Transcript
from wire import settle

Json = dict[str, Any]


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def item(value: str) -> Json:
    return {"type": "content", "content": text(value)}


async def tell(host: Host, *updates: Json) -> Transcript:
    """Tell updates between turns; nothing is sent back."""
    host.send(*[host.update(update) for update in updates])
    await settle()
    assert host.wire.pending() == []
    return host.session.transcript


async def told(version: int, *updates: Json) -> Transcript:
    """Tell updates in a turn, which nothing is sent back to and which ends as it does without them."""
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    await tell(host, *updates)
    host.say("the end")
    host.end(request)
    assert await run.end() == "end_turn"
    assert any(message.text.endswith("the end") for message in host.session.transcript.messages)
    return host.session.transcript


def call(kind: str = "tool_call_update", **members: Any) -> Json:
    return {"sessionUpdate": kind, "toolCallId": "c", **members}


def piece(value: str) -> Json:
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": item(value)}


def shown(state: ToolCallState) -> list[str]:
    return [one.content.text for one in state.content if isinstance(one, ToolContent)]  # type: ignore[union-attr]


ENTRY = {"content": "one", "priority": "high", "status": "pending"}


def plan(version: int, entries: list[Any], id: str = "p") -> Json:
    if version == 1:
        return {"sessionUpdate": "plan", "entries": entries}
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": id, "entries": entries}}


def steps(transcript: Transcript) -> dict[str, list[str]]:
    plans: dict[str, Any] = transcript.plans
    return {id: [entry.content for entry in plan.entries] for id, plan in plans.items()}


def spoken(transcript: Transcript) -> list[tuple[str, str]]:
    return [
        (entry.role.value, entry.text) if isinstance(entry, Message) else ("call", str(entry.title))  # type: ignore[union-attr]
        for entry in transcript.entries
    ]
