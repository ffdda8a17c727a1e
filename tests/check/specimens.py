"""Sound conversations that have nearly everything in them, by label, as messages of either side."""

from __future__ import annotations

from typing import Any, NamedTuple

import unstable_specimen as unstable

Json = dict[str, Any]


class Entry(NamedTuple):
    """A message, or bytes in place of one, and whether the client says it."""

    client: bool
    message: Any


Specimen = dict[str, Entry]

IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
RESOURCE = {"type": "resource", "resource": {"uri": "file:///w/a.txt", "text": "a", "mimeType": "text/plain"}}
NOTED = {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"}
LINK = {"type": "resource_link", "uri": "file:///w/a.txt", "name": "a.txt", "annotations": NOTED, "size": 3}
HOW = {"name": "client", "version": "1", "title": None}
WHO = {"name": "agent", "version": "1", "title": "Agent"}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


class _Writer:
    """Writes a conversation down, with ids that count up on either side."""

    def __init__(self) -> None:
        self.said: Specimen = {}
        self._ids = 0

    def ask(self, label: str, client: bool, method: str, params: Json, answer: Any, *, later: bool = False) -> None:
        """A request with the answer, whose label ends in `.a`; `later` leaves the answer to `answer`."""
        self._ids += 1
        head = {"jsonrpc": "2.0", "id": self._ids}
        self.said[label] = Entry(client, {**head, "method": method, "params": params})
        if not later:
            self.answer(label, answer)

    def answer(self, label: str, answer: Any) -> None:
        asked = self.said[label]
        error = isinstance(answer, int)
        part = {"error": {"code": answer, "message": "No"}} if error else {"result": answer}
        self.said[f"{label}.a"] = Entry(not asked.client, {"jsonrpc": "2.0", "id": asked.message["id"], **part})

    def tell(self, label: str, client: bool, method: str, params: Json) -> None:
        self.said[label] = Entry(client, {"jsonrpc": "2.0", "method": method, "params": params})

    def update(self, label: str, session_update: str, /, **members: Any) -> None:
        self.tell(
            label, False, "session/update", {"sessionId": "s1", "update": {"sessionUpdate": session_update, **members}}
        )


def options(name: str, group: str) -> list[Json]:
    ask, code = {"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}
    grouped = [{group: "all", "name": "All", "options": [ask, code]}]
    mode = {name: "mode", "name": "Mode", "type": "select", "category": "mode", "currentValue": "ask"}
    return [
        {**mode, "options": [ask, code]},
        {**mode, name: "model", "category": "_own", "options": grouped},
        {name: "loud", "name": "Loud", "type": "boolean", "currentValue": False},
    ]


def _elicitation(writer: _Writer) -> None:
    asked = {"sessionId": "s1", "message": "What is your name?"}
    fields = {
        "name": {"type": "string"},
        "size": {"type": "string", "enum": ["small"]},
        "kind": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
        "many": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
    }
    form = {**asked, "mode": "form", "requestedSchema": {"type": "object", "properties": fields}}
    writer.ask("form", False, "elicitation/create", form, {"action": "accept", "content": {"name": "Ada"}})
    url = {**asked, "mode": "url", "elicitationId": "e1", "url": "https://example.org/x"}
    writer.ask("url", False, "elicitation/create", url, {"action": "accept"})
    writer.tell("url.done", False, "elicitation/complete", {"elicitationId": "e1"})


def _talk(writer: _Writer) -> None:
    """What the agent says, in chunks of every sort."""
    for label, block in (("say", text("Hello")), ("link", LINK), ("resource", RESOURCE)):
        writer.update(label, "agent_message_chunk", messageId="m1", content=block)
    for label, block in (("image", IMAGE), ("audio", AUDIO)):
        writer.update(label, "agent_message_chunk", messageId="m1", content=block)
    writer.update("think", "agent_thought_chunk", messageId="m2", content=text("Hm"))
    writer.update("usage", "usage_update", used=1, size=10, cost={"amount": 0.5, "currency": "USD"})
    writer.update("info", "session_info_update", title="Title", updatedAt="2026-01-02T03:04:05Z")


def _listing(writer: _Writer) -> None:
    session: Json = {"sessionId": "s1", "cwd": "/w", "title": None, "updatedAt": "2026-01-02T03:04:05Z"}
    session["additionalDirectories"] = ["/x"]
    writer.ask("list", True, "session/list", {"cwd": "/w"}, {"sessions": [session]})


PERMISSION_OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
YES = {"outcome": {"outcome": "selected", "optionId": "yes"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def v1() -> Specimen:
    w = _Writer()
    offered = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        "elicitation": {"form": {}, "url": {}},
        "auth": {"terminal": True},
        "plan": {},
        **unstable.CLIENT,
    }
    sessions: Json = {name: {} for name in ("list", "close", "resume", "delete", "additionalDirectories")}
    can = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": False, "acp": True},
        "sessionCapabilities": sessions,
        "auth": {"logout": {}},
        **unstable.AGENT,
    }
    terminal = {"type": "terminal", "id": "term", "name": "Terminal", "args": ["--login"], "env": {"A": "b"}}
    by_variable = {"type": "env_var", "id": "var", "name": "Key", "vars": [{"name": "KEY"}]}
    methods = [{"id": "web", "name": "Web"}, terminal, by_variable]
    hands = {"protocolVersion": 1, "clientCapabilities": offered, "clientInfo": HOW}
    shaken = {"protocolVersion": 1, "agentCapabilities": can, "agentInfo": WHO, "authMethods": methods}
    w.ask("init", True, "initialize", hands, shaken)
    w.ask("login", True, "authenticate", {"methodId": "web"}, {})
    unstable.providers(w)
    unstable.suggestions(w, "id")
    servers = [
        {"name": "one", "command": "/bin/one", "args": [], "env": [{"name": "A", "value": "b"}]},
        {"type": "http", "name": "two", "url": "https://example.org", "headers": [{"name": "A", "value": "b"}]},
        unstable.SERVER,
    ]
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    opened = {"sessionId": "s1", "modes": modes, "configOptions": options("id", "group")}
    place = {"cwd": "/w", "mcpServers": servers, "additionalDirectories": ["/x"]}
    w.ask("new", True, "session/new", place, opened)
    unstable.lent(w)
    w.update(
        "commands",
        "available_commands_update",
        availableCommands=[{"name": "plan", "description": "Plans", "input": {"hint": "what"}}],
    )
    blocks = [text("Go on"), LINK, RESOURCE, IMAGE]
    w.ask("prompt", True, "session/prompt", {"sessionId": "s1", "prompt": blocks}, None, later=True)
    _talk(w)
    entry = {"content": "Look", "priority": "high", "status": "pending"}
    w.update("plan", "plan", entries=[entry])
    for label, plan in (
        ("plan.items", {"type": "items", "planId": "p", "entries": [entry]}),
        ("plan.file", {"type": "file", "planId": "q", "uri": "file:///w/plan.md"}),
    ):
        w.update(label, "plan_update", plan=plan)
    w.update("call", "tool_call", toolCallId="c1", title="Edit", name=None, kind="edit", status="pending")
    question = {"sessionId": "s1", "toolCall": {"toolCallId": "c1"}, "options": PERMISSION_OPTIONS}
    w.ask("ask", False, "session/request_permission", question, YES)
    file = {"sessionId": "s1", "path": "/w/a.txt"}
    w.ask("read", False, "fs/read_text_file", {**file, "line": 1, "limit": 2}, {"content": "old"})
    w.ask("write", False, "fs/write_text_file", {**file, "content": "new"}, {})
    terminal_id = {"sessionId": "s1", "terminalId": "t1"}
    started = {"sessionId": "s1", "command": "make", "args": [], "env": [], "cwd": "/w", "outputByteLimit": 100}
    w.ask("create", False, "terminal/create", started, {"terminalId": "t1"})
    content = [
        {"type": "content", "content": text("done")},
        {"type": "diff", "path": "/w/a.txt", "oldText": None, "newText": "new"},
        {"type": "terminal", "terminalId": "t1"},
    ]
    spot = {"path": "/w/a.txt", "line": 1}
    w.update("call.on", "tool_call_update", toolCallId="c1", status="in_progress", content=content, locations=[spot])
    gone = {"exitCode": 0, "signal": None}
    output = {"output": "x", "truncated": False, "exitStatus": gone}
    w.ask("output", False, "terminal/output", terminal_id, output)
    w.ask("wait", False, "terminal/wait_for_exit", terminal_id, gone)
    w.ask("release", False, "terminal/release", terminal_id, {})
    w.update("call.end", "tool_call_update", toolCallId="c1", status="completed")
    _elicitation(w)
    w.update("options", "config_option_update", configOptions=options("id", "group"))
    w.update("mode", "current_mode_update", currentModeId="code")
    used = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    w.answer("prompt", {"stopReason": "end_turn", "usage": used})
    again = {"sessionId": "s1", "prompt": [text("More")]}
    w.ask("prompt2", True, "session/prompt", again, None, later=True)
    w.update("call2", "tool_call", toolCallId="c2", title="Run", kind="execute", status="pending")
    w.ask("ask2", False, "session/request_permission", {**question, "toolCall": {"toolCallId": "c2"}}, None, later=True)
    w.tell("cancel", True, "session/cancel", {"sessionId": "s1"})
    w.answer("ask2", CANCELLED)
    w.tell("withdraw", False, "$/cancel_request", {"requestId": w.said["ask2"].message["id"]})
    w.update("call2.end", "tool_call_update", toolCallId="c2", status="failed")
    w.answer("prompt2", {"stopReason": "cancelled"})
    change = {"sessionId": "s1", "configId": "mode", "value": "code"}
    w.ask("set", True, "session/set_config_option", change, {"configOptions": options("id", "group")})
    w.ask("unknown", True, "_duologue/check", {}, -32601)
    w.ask("unknown2", False, "_duologue/check", {}, -32601)
    _listing(w)
    w.ask("load", True, "session/load", {"sessionId": "s1", **place}, {"modes": modes})
    w.ask("resume", True, "session/resume", {"sessionId": "s1", **place}, {})
    w.ask("close", True, "session/close", {"sessionId": "s1"}, {})
    return w.said


def v2() -> Specimen:
    w = _Writer()
    offered: Json = {"elicitation": {"form": {}, "url": {}}, "auth": {"terminal": {}}, **unstable.CLIENT}
    inner: Json = {
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}, "acp": {}},
        "delete": {},
        "additionalDirectories": {},
    }
    env = [{"name": "A", "value": "b"}]
    terminal = {"type": "terminal", "methodId": "term", "name": "Terminal", "args": ["--login"], "env": env}
    by_variable = {"type": "env_var", "methodId": "var", "name": "Key", "vars": [{"name": "KEY"}]}
    methods = [{"type": "agent", "methodId": "web", "name": "Web"}, terminal, by_variable]
    hands = {"protocolVersion": 2, "capabilities": offered, "info": HOW}
    shaken = {
        "protocolVersion": 2,
        "capabilities": {"session": inner, **unstable.AGENT},
        "info": WHO,
        "authMethods": methods,
    }
    w.ask("init", True, "initialize", hands, shaken)
    w.ask("login", True, "auth/login", {"methodId": "web"}, {})
    unstable.providers(w)
    unstable.suggestions(w, "suggestionId")
    servers = [
        {"type": "stdio", "name": "one", "command": "/bin/one", "args": [], "env": env},
        {"type": "http", "name": "two", "url": "https://example.org", "headers": env},
        unstable.SERVER,
    ]
    place = {"cwd": "/w", "mcpServers": servers, "additionalDirectories": ["/x"]}
    w.ask("new", True, "session/new", place, {"sessionId": "s1", "configOptions": options("configId", "groupId")})
    unstable.lent(w)
    w.update(
        "commands",
        "available_commands_update",
        availableCommands=[{"name": "plan", "description": "Plans", "input": {"type": "text", "hint": "what"}}],
    )
    blocks = [text("Go on"), LINK, RESOURCE, IMAGE]
    w.ask("prompt", True, "session/prompt", {"sessionId": "s1", "prompt": blocks}, {})
    w.update("user", "user_message", messageId="u1", content=blocks)
    w.update("running", "state_update", state="running")
    _talk(w)
    icon = {"src": "https://example.org/i.png", "mimeType": "image/png", "theme": "dark"}
    w.update("icon", "agent_message_chunk", messageId="m1", content={**LINK, "icons": [icon]})
    entry = {"content": "Look", "priority": "high", "status": "pending"}
    w.update("plan", "plan_update", plan={"type": "items", "planId": "p", "entries": [entry]})
    w.update("plan.file", "plan_update", plan={"type": "file", "planId": "q", "uri": "file:///w/plan.md"})
    w.update("call", "tool_call_update", toolCallId="c1", title="Edit", kind="edit", status="pending")
    w.update("waiting", "state_update", state="requires_action")
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "c1"}}
    question = {"sessionId": "s1", "title": "Edit?", "options": PERMISSION_OPTIONS, "subject": subject}
    w.ask("ask", False, "session/request_permission", question, YES)
    w.update("running2", "state_update", state="running")
    patch = "diff --git /w/a.txt /w/a.txt\n--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
    diff = {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/w/a.txt"}],
        "patch": {"format": "git_patch", "text": patch},
    }
    content = [{"type": "content", "content": text("done")}, diff, {"type": "terminal", "terminalId": "t1"}]
    spot = {"path": "/w/a.txt", "line": 1}
    w.update("call.on", "tool_call_update", toolCallId="c1", status="in_progress", content=content, locations=[spot])
    w.update("call.more", "tool_call_content_chunk", toolCallId="c1", content=diff)
    output = {"data": "AAAA"}
    w.update("terminal", "terminal_update", terminalId="t1", command="make", cwd="/w", output=output)
    w.update("terminal.more", "terminal_output_chunk", terminalId="t1", data="AAAA")
    w.update("terminal.end", "terminal_update", terminalId="t1", exitStatus={"exitCode": 0})
    w.update("call.end", "tool_call_update", toolCallId="c1", status="completed")
    _elicitation(w)
    w.update("options", "config_option_update", configOptions=options("configId", "groupId"))
    used = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    w.update("idle", "state_update", state="idle", stopReason="end_turn", usage=used)
    w.ask("prompt2", True, "session/prompt", {"sessionId": "s1", "prompt": [text("More")]}, {})
    w.update("user2", "user_message", messageId="u2", content=[text("More")])
    w.update("running3", "state_update", state="running")
    w.update("call2", "tool_call_update", toolCallId="c2", title="Run", kind="execute", status="pending")
    w.update("waiting2", "state_update", state="requires_action")
    command = {"type": "command", "command": "make", "cwd": "/w", "toolCallId": "c2"}
    w.ask("ask2", False, "session/request_permission", {**question, "subject": command}, None, later=True)
    w.tell("cancel", True, "session/cancel", {"sessionId": "s1"})
    w.answer("ask2", CANCELLED)
    w.tell("withdraw", False, "$/cancel_request", {"requestId": w.said["ask2"].message["id"]})
    w.update("call2.end", "tool_call_update", toolCallId="c2", status="cancelled")
    w.update("idle2", "state_update", state="idle", stopReason="cancelled")
    change = {"sessionId": "s1", "configId": "mode", "type": "id", "value": "code"}
    w.ask("set", True, "session/set_config_option", change, {"configOptions": options("configId", "groupId")})
    w.ask("unknown", True, "_duologue/check", {}, -32601)
    w.ask("unknown2", False, "_duologue/check", {}, -32601)
    _listing(w)
    w.ask("resume", True, "session/resume", {"sessionId": "s1", **place}, {"configOptions": []})
    w.ask("close", True, "session/close", {"sessionId": "s1"}, {})
    return w.said


SPECIMENS = {1: v1(), 2: v2()}
