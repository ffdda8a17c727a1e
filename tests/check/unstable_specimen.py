"""What is not stable, as parts of the specimens."""

from __future__ import annotations

from typing import Any, Protocol

Json = dict[str, Any]

URI = "file:///w/a.py"
CLIENT: Json = {"nes": {"jump": {}, "rename": {}, "searchAndReplace": {}}, "positionEncodings": ["utf-8"]}
EVENTS: Json = {name: {} for name in ("didOpen", "didClose", "didSave", "didFocus")}
AGENT: Json = {
    "nes": {
        "events": {"document": {**EVENTS, "didChange": {"syncKind": "incremental"}}},
        "context": {"recentFiles": {"maxCount": 1}},
    },
    "positionEncoding": "utf-8",
    "providers": {},
}
SERVER: Json = {"type": "acp", "name": "lent", "serverId": "srv"}
RECENT: Json = {"uri": URI, "languageId": "python", "text": "a"}


class Writer(Protocol):
    def ask(self, label: str, client: bool, method: str, params: Json, answer: Any) -> None: ...

    def tell(self, label: str, client: bool, method: str, params: Json) -> None: ...


def place(line: int, character: int) -> Json:
    return {"line": line, "character": character}


def stretch(start: int, end: int) -> Json:
    return {"start": place(0, start), "end": place(0, end)}


def providers(w: Writer) -> None:
    now = {"apiType": "openai", "baseUrl": "https://example.org/v1"}
    main = {"providerId": "main", "supported": ["openai"], "required": True, "current": now}
    spare = {"providerId": "spare", "supported": ["openai"], "required": False, "current": None}
    w.ask("providers.list", True, "providers/list", {}, {"providers": [main, spare]})
    w.ask("providers.set", True, "providers/set", {"providerId": "spare", **now}, {})
    w.ask("providers.off", True, "providers/disable", {"providerId": "spare"}, {})


def suggestions(w: Writer, id_name: str) -> None:
    """A line of six bytes, of which a smiley has four."""
    w.ask("nes.start", True, "nes/start", {}, {"sessionId": "n1"})
    about = {"sessionId": "n1", "uri": URI}
    w.tell("doc.open", True, "document/didOpen", {**about, "languageId": "python", "version": 1, "text": "a(🙂\n"})
    change = {"range": stretch(0, 1), "text": "b"}
    w.tell("doc.change", True, "document/didChange", {**about, "version": 2, "contentChanges": [change]})
    seen = {"version": 2, "position": place(0, 6), "visibleRange": stretch(0, 6)}
    w.tell("doc.focus", True, "document/didFocus", {**about, **seen})
    w.tell("doc.save", True, "document/didSave", about)
    asked = {**about, "version": 2, "position": place(0, 6), "triggerKind": "manual", "selection": stretch(0, 1)}
    told = [
        {"kind": "edit", id_name: "1", "uri": URI, "edits": [{"range": stretch(6, 6), "newText": ")"}]},
        {"kind": "jump", id_name: "2", "uri": URI, "position": place(0, 0)},
        {"kind": "rename", id_name: "3", "uri": URI, "position": place(0, 0), "newName": "c"},
        {"kind": "searchAndReplace", id_name: "4", "uri": URI, "search": "b", "replace": "c"},
    ]
    w.ask("suggest", True, "nes/suggest", {**asked, "context": {"recentFiles": [RECENT]}}, {"suggestions": told})
    w.tell("accept", True, "nes/accept", {"sessionId": "n1", id_name: "1"})
    w.tell("reject", True, "nes/reject", {"sessionId": "n1", id_name: "2", "reason": "ignored"})
    w.tell("doc.close", True, "document/didClose", about)
    w.ask("nes.close", True, "nes/close", {"sessionId": "n1"}, {})


def lent(w: Writer) -> None:
    w.ask("mcp.connect", False, "mcp/connect", {"serverId": "srv"}, {"connectionId": "k1"})
    w.ask("mcp.ask", False, "mcp/message", {"connectionId": "k1", "method": "ping", "params": {}}, {})
    w.tell("mcp.note", False, "mcp/message", {"connectionId": "k1", "method": "notifications/initialized"})
    w.ask("mcp.back", True, "mcp/message", {"connectionId": "k1", "method": "ping"}, {})
    w.ask("mcp.end", False, "mcp/disconnect", {"connectionId": "k1"}, {})
