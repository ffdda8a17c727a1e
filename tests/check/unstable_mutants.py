"""As `live_mutants`, for what is not stable, and for MCP servers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from check_kit import Wrap
from live_mutants import END, SHORT, Mutant, deaf_after, update
from mutating import Json, Past, code, hear, result, rewrite

from duologue.check.agents.providing import NOWHERE, SECRET
from duologue.check.agents.words import WORLD


def without(capability: str) -> Wrap:
    """A capability is there and not said."""

    def change(message: Any, past: Past) -> Any:
        if past.method != "initialize":
            return message
        told = message["result"]
        name = "capabilities" if "capabilities" in told else "agentCapabilities"
        rest = {key: value for key, value in told[name].items() if key != capability}
        return {**message, "result": {**told, name: rest}}

    return rewrite(change)


def heard_as(change: Callable[[bytes], bytes], answers: Wrap = lambda transport: transport) -> Wrap:
    """The agent hears something else; what it answers is changed as if it had not."""
    return lambda transport: hear(change)(answers(transport))


# --- forks and lists --------------------------------------------------------------------------------------------------


def told_of_the_source(message: Any, past: Past) -> Any:
    if past.method not in {"session/load", "session/resume"}:
        return message
    content = {"type": "text", "text": WORLD}
    session = past.params["sessionId"]
    return (update(session, sessionUpdate="user_message_chunk", messageId="fork", content=content), message)


def rooted(old: Json) -> Json:
    return {**old, "sessions": [{**each, "additionalDirectories": ["/further"]} for each in old["sessions"]]}


def another(old: Json) -> Json:
    return {**old, "sessions": [*old["sessions"], {"sessionId": "listed", "cwd": "/"}]}


def second_list(past: Past) -> bool:
    return len([message for message in past.heard if message.get("method") == "session/list"]) > 1


SESSIONS: dict[str, Mutant] = {
    "all-session-19": Mutant(lambda: result("session/list", another, second_list)),
    "all-session-28": Mutant(lambda: result("session/list", rooted, lambda past: past.knows("session/resume"))),
    "allu-session-01": Mutant(lambda: code("session/fork", -32603, lambda past: "cwd" not in past.params)),
    "allu-session-02": Mutant(lambda: rewrite(told_of_the_source)),
    "allu-session-04": Mutant(lambda: result("session/list", rooted, lambda past: past.knows("session/fork"))),
}

# --- providers --------------------------------------------------------------------------------------------------------


def first_only(old: Json) -> Json:
    return {**old, "providers": old["providers"][1:]}


def kept(old: Json) -> Json:
    current = {"apiType": "openai", "baseUrl": NOWHERE}
    return {**old, "providers": [{**each, "current": current} for each in old["providers"]]}


def is_second_set(data: bytes) -> bool:
    return b"providers/set" in data and b"headers" not in data


def with_headers(data: bytes) -> bytes:
    headers = b'"headers":{"X-Duologue-Check":"%s"},"baseUrl"' % SECRET["X-Duologue-Check"].encode()
    return data.replace(b'"baseUrl"', headers) if is_second_set(data) else data


def as_list(method: str, when: Callable[[bytes], bool]) -> Wrap:
    """Requests of a method are answered and change nothing."""
    name = method.encode()
    change: Callable[[bytes], bytes] = lambda data: data.replace(name, b"providers/list") if when(data) else data  # noqa: E731
    return heard_as(change, result(method, lambda old: {}))


PROVIDERS: dict[str, Mutant] = {
    "allu-providers-02": Mutant(lambda: without("providers")),
    "allu-providers-04": Mutant(lambda: as_list("providers/disable", lambda data: True)),
    "allu-providers-05": Mutant(lambda: result("providers/set", lambda old: {"_meta": {"sent": str(SECRET)}})),
    "allu-providers-06": Mutant(lambda: heard_as(with_headers)),
    "allu-providers-07": Mutant(lambda: code("providers/set", -32603)),
    "allu-providers-08": Mutant(lambda: result("providers/disable", lambda old: {})),
    "allu-providers-11": Mutant(lambda: code("providers/disable", -32602)),
    "allu-providers-12": Mutant(
        lambda: result("providers/list", first_only, lambda past: past.knows("providers/disable"))
    ),
    "allu-providers-13": Mutant(lambda: as_list("providers/set", is_second_set)),
    "allu-providers-14": Mutant(lambda: result("providers/list", kept, lambda past: not past.knows("providers/set"))),
    "allu-providers-15": Mutant(lambda: deaf_after(b'"_duologue"'), patience=SHORT),
}

# --- suggested edits --------------------------------------------------------------------------------------------------


def of_the_old_text(old: Json) -> Json:
    place = {"line": 1, "character": 5}
    moved = {"range": {"start": place, "end": place}, "newText": ")"}
    return {**old, "suggestions": [{**old["suggestions"][0], "edits": [moved]}]}


SUGGESTIONS: dict[str, Mutant] = {
    "allu-nes-02": Mutant(lambda: code("nes/start", -32603)),
    "allu-nes-03": Mutant(lambda: result("session/prompt", lambda old: END), (1,)),
    "allu-nes-07": Mutant(lambda: code("nes/suggest", -32603)),
    "allu-nes-13": Mutant(lambda: code("nes/close", -32603)),
    "allu-documents-07": Mutant(
        lambda: result("nes/suggest", of_the_old_text, lambda past: past.knows("document/didChange"))
    ),
}

# --- MCP servers ------------------------------------------------------------------------------------------------------


def inner(method: str) -> Callable[[Past], bool]:
    return lambda past: past.params.get("method") == method


SERVERS: dict[str, Mutant] = {
    "all-mcp-02": Mutant(lambda: hear(lambda data: re.sub(rb'"mcpServers":\[.*\]', b'"mcpServers":[]', data))),
    "all-mcp-03": Mutant(lambda: hear(lambda data: data.replace(b"two words", b"two"))),
    "allu-mcp-06": Mutant(lambda: result("mcp/message", lambda old: {"result": old}, inner("ping"))),
    "allu-mcp-07": Mutant(lambda: code("mcp/message", -32603, inner("duologue/unknown"))),
    "allu-mcp-08": Mutant(lambda: code("mcp/message", -32601, inner("ping"))),
}

UNSTABLE: dict[str, Mutant] = {**SESSIONS, **PROVIDERS, **SUGGESTIONS, **SERVERS}
