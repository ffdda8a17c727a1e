"""What the programs of the tour say to each other, as JSON: for each version and receiver, the steps in order.

A step is a method with its params, and a result unless it is a notification. `$session`, `$nes`, `$terminal` and others
stand for what an earlier answer gave, `$cwd` and `$file` for where the tour takes place.
"""

from __future__ import annotations

import json
import sys
from typing import Any

Json = dict[str, Any]

INFO = {"name": "tour", "version": "1"}
TEXT = {"type": "text", "text": "tour"}
URI = "file:///a.py"
POSITION = {"line": 0, "character": 1}
RANGE = {"start": {"line": 0, "character": 0}, "end": POSITION}
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}
PROVIDER = {"providerId": "main", "supported": ["openai"], "required": False}
EVENTS = {"didOpen": {}, "didChange": {"syncKind": "full"}, "didClose": {}, "didSave": {}, "didFocus": {}}
NES = {"events": {"document": EVENTS}}


def step(method: str, params: Json, result: Json | None = None) -> Json:
    return {"method": method, "params": params, **({} if result is None else {"result": result})}


def session(version: int, method: str, result: Json | None = None, **more: Any) -> Json:
    return step(method, {"sessionId": "$session", **more}, result)


def option(version: int, value: str) -> Json:
    id = "id" if version == 1 else "configId"
    values = [{"value": word, "name": word} for word in ("low", "high")]
    return {id: "effort", "name": "Effort", "type": "select", "currentValue": value, "options": values}


def first_steps(version: int) -> list[Json]:
    """The handshake, the login, and a session with its settings."""
    opened: Json = {"sessionId": "session-1", "configOptions": [option(version, "low")]}
    setting = {"configId": "effort", "value": "high", **({"type": "id"} if version == 2 else {})}
    set_option = session(version, "session/set_config_option", {"configOptions": [option(version, "high")]}, **setting)
    if version == 2:
        login = step("auth/login", {"methodId": "key"}, {})
        lent = {"type": "acp", "name": "lent", "serverId": "lent-1"}
        new = step("session/new", {"cwd": "$cwd", "mcpServers": [lent]}, opened)
        return [initialize(version), login, new, set_option]
    modes = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
    opened["modes"] = {"currentModeId": "ask", "availableModes": modes}
    return [
        initialize(version),
        step("authenticate", {"methodId": "key"}, {}),
        step("session/new", {"cwd": "$cwd", "mcpServers": []}, opened),
        session(version, "session/set_mode", {}, modeId="code"),
        set_option,
    ]


def initialize(version: int) -> Json:
    client: Json = {"elicitation": {"form": {}, "url": {}}, "nes": {}, "positionEncodings": ["utf-16"]}
    agent: Json = {"nes": NES, "providers": {}, "positionEncoding": "utf-16"}
    if version == 2:
        agent |= {"session": {"delete": {}, "fork": {}, "mcp": {"acp": {}}}}
        method = {"type": "agent", "methodId": "key", "name": "Key"}
        said = {"protocolVersion": 2, "info": INFO, "capabilities": client}
        return step("initialize", said, {**said, "capabilities": agent, "authMethods": [method]})
    client |= {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    agent |= {"loadSession": True, "auth": {"logout": {}}, "mcpCapabilities": {"acp": True}}
    agent["sessionCapabilities"] = {name: {} for name in ("list", "delete", "fork", "resume", "close")}
    return step(
        "initialize",
        {"protocolVersion": 1, "clientInfo": INFO, "clientCapabilities": client},
        {
            "protocolVersion": 1,
            "agentInfo": INFO,
            "agentCapabilities": agent,
            "authMethods": [{"id": "key", "name": "Key"}],
        },
    )


def nes_steps(version: int) -> list[Json]:
    """Documents and suggestions."""
    id = "id" if version == 1 else "suggestionId"
    edit = {"range": RANGE, "newText": "x"}
    suggestion = {"kind": "edit", id: "suggestion-1", "uri": URI, "edits": [edit], "cursorPosition": POSITION}
    on = {"sessionId": "$nes", "uri": URI}
    asked = {**on, "version": 2, "position": POSITION, "triggerKind": "manual"}
    named = {"sessionId": "$nes", id: "$suggestion"}
    return [
        step("nes/start", {"workspaceUri": "file:///w"}, {"sessionId": "nes-1"}),
        step("document/didOpen", {**on, "languageId": "python", "version": 1, "text": "ab"}),
        step("document/didChange", {**on, "version": 2, "contentChanges": [{"text": "abc"}]}),
        step("document/didFocus", {**on, "version": 2, "position": POSITION, "visibleRange": RANGE}),
        step("document/didSave", on),
        step("nes/suggest", asked, {"suggestions": [suggestion, {**suggestion, id: "suggestion-2"}]}),
        step("nes/accept", named),
        step("nes/reject", {**named, id: "$second", "reason": "rejected"}),
        step("document/didClose", on),
        step("nes/close", {"sessionId": "$nes"}, {}),
    ]


def to_agent(version: int) -> list[Json]:
    place: Json = {"cwd": "$cwd", "mcpServers": []}
    prompt = session(version, "session/prompt", {} if version == 2 else {"stopReason": "end_turn"}, prompt=[TEXT])
    listed = {"sessions": [{"sessionId": "session-1", "cwd": "$cwd"}]}
    set_provider = {"providerId": "main", "apiType": "openai", "baseUrl": "https://x.example/v1", "headers": {}}
    return [
        *first_steps(version),
        step("providers/list", {}, {"providers": [PROVIDER]}),
        step("providers/set", set_provider, {}),
        step("providers/disable", {"providerId": "main"}, {}),
        *nes_steps(version),
        prompt,
        step("mcp/message", {"connectionId": "$mcp", "method": "ping", "params": {}}, {}),
        session(version, "session/cancel"),
        step("$/cancel_request", {"requestId": 4711}),
        step("session/list", {}, listed),
        *([session(version, "session/load", {}, **place)] if version == 1 else []),
        session(version, "session/resume", {}, **place),
        session(version, "session/fork", {"sessionId": "session-2"}, **place),
        session(version, "session/close", {}),
        session(version, "session/delete", {}),
        step("logout" if version == 1 else "auth/logout", {}, {}),
    ]


def to_client(version: int) -> list[Json]:
    question: Json = {"options": OPTIONS}
    call = {"toolCallId": "call-1", "title": "Work"}
    question |= {"toolCall": call} if version == 1 else {"title": "Work?"}
    said: Json = {"sessionUpdate": "agent_message_chunk", "content": TEXT}
    page = {"mode": "url", "message": "Look", "url": "https://x.example/", "elicitationId": "page-1"}
    return [
        session(version, "session/update", update=said if version == 1 else {**said, "messageId": "m"}),
        session(
            version, "session/request_permission", {"outcome": {"outcome": "selected", "optionId": "yes"}}, **question
        ),
        session(
            version,
            "elicitation/create",
            {"action": "accept", "content": {"name": "Ada"}},
            mode="form",
            message="Who?",
            requestedSchema=FORM,
        ),
        session(version, "elicitation/create", {"action": "accept"}, **page),
        step("elicitation/complete", {"elicitationId": "page-1"}),
        step("$/cancel_request", {"requestId": 4711}),
        *(files_and_terminals() if version == 1 else []),
        step("mcp/connect", {"serverId": "$server"}, {"connectionId": "mcp-1"}),
        step("mcp/message", {"connectionId": "$mcp", "method": "ping", "params": {}}, {}),
        step("mcp/message", {"connectionId": "$mcp", "method": "notifications/initialized"}),
        step("mcp/disconnect", {"connectionId": "$mcp"}, {}),
    ]


def files_and_terminals() -> list[Json]:
    on = {"terminalId": "$terminal"}
    return [
        session(1, "fs/write_text_file", {}, path="$file", content="written"),
        session(1, "fs/read_text_file", {"content": "written"}, path="$file"),
        session(1, "terminal/create", {"terminalId": "terminal-1"}, command="sleep", args=["60"]),
        session(1, "terminal/output", {"output": "", "truncated": False}, **on),
        session(1, "terminal/kill", {}, **on),
        session(1, "terminal/wait_for_exit", {"exitCode": None, "signal": "SIGTERM"}, **on),
        session(1, "terminal/release", {}, **on),
    ]


def main() -> int:
    tour = {f"v{version}": {"agent": to_agent(version), "client": to_client(version)} for version in (1, 2)}
    json.dump(tour, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
