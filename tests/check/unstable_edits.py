"""The same for what is not stable, by the side that breaks it."""

from __future__ import annotations

from editing import GONE, Edit, also, both, move, put
from unstable_specimen import RECENT

Edits = dict[str, Edit | dict[int, Edit]]

SUGGESTION = "result.suggestions.0"
CHANGE = "params.contentChanges.0"


def announced(label: str, path: str, value: object = GONE) -> dict[int, Edit]:
    """A capability of the side that says it there is another one, or gone."""
    start, side = ("params", "client") if label == "init" else ("result", "agent")
    return {
        1: put(label, f"{start}.{side}Capabilities.{path}", value),
        2: put(label, f"{start}.capabilities.{path}", value),
    }


AGENT: Edits = {
    "v1u-nes-01": {1: announced("init.a", "nes.context.recentFiles.maxCount", "many")[1]},
    "v2u-nes-01": {2: announced("init.a", "nes.context.recentFiles.maxCount", "many")[2]},
    "allu-nes-02": put("nes.start.a", "result.sessionId", 5),
    "allu-nes-07": put("suggest.a", "result.suggestions", 5),
    "v1u-nes-02": {1: put("suggest.a", f"{SUGGESTION}.id")},
    "v2u-nes-02": {2: put("suggest.a", f"{SUGGESTION}.suggestionId")},
    "allu-nes-08": announced("init", "nes.jump"),
    "allu-nes-09": announced("init.a", "positionEncoding", "utf-32"),
    "allu-nes-10": put("suggest.a", f"{SUGGESTION}.edits.0.range.end.character", 1),
    "allu-providers-03": put("providers.list.a", "result.providers.0.required"),
    "allu-mcp-02": put("mcp.connect", "params.serverId", 5),
    "allu-mcp-04": put("mcp.ask", "params.connectionId"),
    "allu-mcp-05": put("mcp.ask", "params.method", "notifications/progress"),
    "allu-mcp-09": move("mcp.note", "mcp.end.a"),
}

SECOND = (
    also("mcp.connect.a", False, {"id": 900, "method": "mcp/connect", "params": {"serverId": "srv"}}),
    also("mcp.connect.a + 0", True, {"id": 900, "result": {"connectionId": "k1"}}),
)

CLIENT: Edits = {
    "allu-nes-01": announced("init.a", "nes"),
    "allu-nes-05": put("suggest", "params.triggerKind", "whim"),
    "allu-nes-06": put("suggest", "params.context.recentFiles", [RECENT, RECENT]),
    "allu-nes-09": put("suggest", "params.position.character", 7),
    "allu-nes-10": put("suggest", "params.position.line", 9),
    "allu-nes-12": put("reject", "params.reason", "bored"),
    "allu-documents-01": announced("init.a", "nes.events.document.didSave"),
    "allu-documents-02": put("doc.save", "params.sessionId", "s1"),
    "allu-documents-03": put("doc.open", "params.languageId"),
    "allu-documents-04": put("doc.change", "params.version", 1),
    "allu-documents-05": announced("init.a", "nes.events.document.didChange.syncKind", "full"),
    "allu-documents-06": both(put("doc.change", f"{CHANGE}.range"), put("doc.change", f"{CHANGE}.text", "b(🙂\n")),
    "allu-documents-08": put("doc.focus", "params.visibleRange"),
    "allu-documents-09": put("doc.save", "params.uri"),
    "allu-providers-01": announced("init.a", "providers"),
    "allu-providers-09": put("providers.off", "params.providerId", "main"),
    "allu-providers-10": both(move("providers.set", "new.a"), move("providers.set.a", "providers.set")),
    "allu-mcp-01": put("new", "params.mcpServers.1", {"type": "acp", "name": "other", "serverId": "srv"}),
    "allu-mcp-03": both(*SECOND),
    "allu-mcp-04": put("mcp.back", "params.connectionId"),
    "allu-mcp-05": put("mcp.back", "params.method", "notifications/progress"),
}
