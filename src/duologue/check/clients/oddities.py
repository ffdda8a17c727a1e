"""Odd things that an agent may say, and that no client may stumble over: each is said, and the client goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duologue.check.clients.bench import SESSION, ClientBench
from duologue.check.judging import probe
from duologue.check.record import Json
from duologue.protocol.method import Side

CALL = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
TEXT = {"type": "text", "text": "x"}
CHUNK = {"sessionUpdate": "agent_message_chunk", "messageId": "m9"}
ENTRY = {"content": "Look", "priority": "high", "status": "pending"}
PIXEL = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
ITEM = {"type": "content", "content": TEXT}
DIFF = {"type": "diff", "changes": [{"operation": "modify", "path": "/w/a.txt"}]}

#: The updates by the requirement that is kept when the client lives on.
UPDATES: Mapping[str, tuple[Json, ...]] = {
    "v1-updates-02": ({"sessionUpdate": "duologue_unknown", "size": 3},),
    "v2-updates-09": ({"sessionUpdate": "_duologue_unknown", "size": 3},),
    "v2-updates-12": ({"sessionUpdate": "state_update", "state": "_duologue"},),
    "v1-updates-03": (
        {"sessionUpdate": "agent_message_chunk", "messageId": None, "content": TEXT},
        {"sessionUpdate": "agent_message_chunk", "content": TEXT},
    ),
    "v1-updates-06": ({**CHUNK, "messageId": 5, "content": TEXT},),
    "v2-updates-10": ({**CHUNK, "content": {"type": "text"}},),
    "all-updates-04": ({"sessionUpdate": "session_info_update", "title": None, "updatedAt": None},),
    "all-content-07": ({**CHUNK, "content": PIXEL}, {**CHUNK, "content": SOUND}),
    "v1-content-01": ({**CHUNK, "content": {**TEXT, "annotations": {"audience": ["_duologue"], "priority": "high"}}},),
    "v2-content-02": ({**CHUNK, "content": {"type": "_duologue", "size": 3}},),
    "v1-tools-02": ({"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "Look"},),
    "v1-tools-04": ({"sessionUpdate": "tool_call", "toolCallId": "c3", "title": "Fly", "kind": "fly", "status": "up"},),
    "v1-tools-07": ({**CALL, "title": None, "kind": None, "status": None},),
    "v1-tools-08": ({**CALL, "toolCallId": "never-seen", "status": "completed"},),
    "all-tools-06": ({**CALL, "title": "Look", "rawInput": [1, None], "rawOutput": "text"},),
    "all-tools-07": ({**CALL, "title": "Look", "content": [{"type": "content"}, ITEM], "locations": [5]},),
    "v2-tools-03": ({**CALL, "title": "Look"}, {**CALL, "title": None}),
    "v2-tools-04": ({**CALL, "title": "Look", "content": [ITEM]}, {**CALL, "content": None, "locations": []}),
    "v2-tools-07": ({**CALL, "toolCallId": "c4"},),
    "v2-tools-09": ({**CALL, "title": "Fly", "kind": "_fly", "status": "_up", "content": [{"type": "_duologue"}]},),
    "v2-tools-16": ({**CALL, "title": "Edit", "content": [DIFF, {**DIFF, "patch": None}]},),
    "v2-tools-17": (
        {
            **CALL,
            "title": "Edit",
            "content": [
                {"type": "diff", "changes": [{"operation": "_swap", "path": "/w/a.txt"}]},
                {**DIFF, "patch": {"format": "_duologue", "text": "x"}},
            ],
        },
    ),
    "all-plan-02": (
        {"sessionUpdate": "plan", "entries": [{"content": 5}, ENTRY]},
        {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [{"content": 5}, ENTRY]}},
    ),
    "v2-plan-05": (
        {"sessionUpdate": "plan_update", "plan": {"type": "_duologue", "planId": "q"}},
        {
            "sessionUpdate": "plan_update",
            "plan": {"type": "items", "planId": "r", "entries": [{**ENTRY, "priority": "_now", "status": "_odd"}]},
        },
    ),
    "v2u-plan-01": (
        {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "s", "content": "- x"}},
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "t", "uri": "file:///w/plan.md"}},
        {"sessionUpdate": "plan_removed", "planId": "s"},
    ),
    "v2-terminal-04": (
        {"sessionUpdate": "terminal_update", "terminalId": "t9", "command": "make", "output": {"data": "AAAA"}},
        {**CALL, "title": "Run", "content": [{"type": "terminal", "terminalId": "t8"}]},
        {"sessionUpdate": "terminal_update", "terminalId": "t8", "command": "make", "exitStatus": {}},
    ),
    "v2-terminal-11": (
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t7", "data": "4w=="},
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t7", "data": "gYI="},
    ),
    "v2-commands-02": (
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "x", "description": "x", "input": {"type": "_duologue"}}],
        },
    ),
    "all-extensibility-01": (
        {**CHUNK, "content": TEXT, "_meta": None},
        {**CHUNK, "content": TEXT, "_meta": {"x": [1]}},
    ),
    "all-extensibility-03": ({**CHUNK, "content": TEXT, "duologueMember": {"deep": [1]}},),
    "v2-prompt-07": (
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "_duologue"},
        {"sessionUpdate": "state_update", "state": "running"},
    ),
}

GOOD = {"id": "good", "methodId": "good", "type": "agent", "name": "Good"}
MODE: Json = {"id": "mode", "configId": "mode", "name": "Mode", "type": "select", "currentValue": "a"}
SELECT: Json = {**MODE, "options": [{"value": "a", "name": "A"}]}

#: Additions to the answer to initialize.
INTRODUCTIONS: Mapping[str, Json] = {
    "all-auth-02": {"authMethods": [{**GOOD, "type": "_duologue", "id": "odd", "methodId": "odd"}, GOOD]},
    "v1-auth-02": {"authMethods": [{"id": "a", "name": "A"}, {"id": "b", "name": "B", "type": "agent"}]},
    "v2-auth-09": {"authMethods": [{"type": "agent", "name": "No id"}, GOOD]},
    "v1-initialize-07": {"agentCapabilities": {"loadSession": "yes", "promptCapabilities": 5}},
    "v1-initialize-12": {"authMethods": [{"name": 5}, GOOD]},
    "v2-initialize-05": {"capabilities": {"session": {"prompt": 5}}},
    "all-initialize-03": {"agentCapabilities": {}, "capabilities": {"session": {}}},
}

#: Additions to the answer to session/new.
OPENINGS: Mapping[str, Json] = {
    "v1-session-02": {"modes": None, "configOptions": None},
    "all-config-07": {"configOptions": [SELECT, {**SELECT, "id": "x", "configId": "x", "category": "duologue"}]},
    "all-config-11": {"configOptions": [SELECT, {**MODE, "type": "_duologue"}]},
}


def _said(row: str, updates: tuple[Json, ...]) -> None:
    async def survives(bench: ClientBench) -> None:
        wire, prompt = await bench.working()
        for update in updates:
            wire.send(wire.tell("session/update", {"sessionId": SESSION, "update": update}))
        await wire.barrier()
        bench.finish(wire, prompt)

    _declare(row, survives)


def _answered(row: str, name: str, addition: Json) -> None:
    async def survives(bench: ClientBench) -> None:
        for member, value in addition.items():
            if member not in _OF_THE_OTHER[bench.version]:
                getattr(bench, name)[member] = value
        wire = await bench.start()
        lacking = f"no prompt after an odd answer ({', '.join(addition)})"
        await wire.wait(lambda: next(iter(bench.prompts), None), lacking)

    _declare(row, survives)


#: What only the other version says in the handshake.
_OF_THE_OTHER = {1: frozenset({"capabilities"}), 2: frozenset({"agentCapabilities"})}


def _declare(row: str, action: Any) -> None:
    action.__name__ = f"survives_{row.replace('-', '_')}"
    probe(Side.CLIENT, row)(action)


for each, updates in UPDATES.items():
    _said(each, updates)
for each, addition in INTRODUCTIONS.items():
    _answered(each, "introduction", addition)
for each, addition in OPENINGS.items():
    _answered(each, "opening", addition)
