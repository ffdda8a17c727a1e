"""For each requirement that a probe judges, an agent that breaks it and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from check_kit import PATIENCE, Wrap
from mutating import Json, Past, also, code, error_code, hear, result, rewrite, silent, updating

from duologue.check.agents.words import SLEEP

#: For agents that never answer: no time is lost on what will not come.
SHORT = 0.3
NO_ANSWER: Json = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "No"}}
END: Json = {"stopReason": "end_turn"}


@dataclass(frozen=True)
class Mutant:
    """`wrap` makes the agent misbehave; in `versions` the requirement is broken by it."""

    wrap: Callable[[], Wrap]
    versions: tuple[int, ...] = (1, 2)
    patience: float = PATIENCE


def asked(text: str, past: Past) -> bool:
    """Whether the prompt that a message answers has a text."""
    return past.method == "session/prompt" and text in str(past.params)


def update(session: str, **members: Any) -> Json:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": members}}


def chunk(past: Past) -> Json:
    content = {"type": "text", "text": "Of old."}
    session = past.heard[-1]["params"]["sessionId"]
    return update(session, sessionUpdate="agent_message_chunk", messageId="old", content=content)


# --- connections ------------------------------------------------------------------------------------------------------


def deaf_after(mark: bytes) -> Wrap:
    heard = [False]

    def change(data: bytes) -> bytes:
        heard[0] = heard[0] or mark in data
        return b"" if heard[0] else data

    return hear(change)


def last_initialize(past: Past) -> bool:
    return past.method == "initialize" and sum(m.get("method") == "initialize" for m in past.heard) > 1


def capabilities(past: Past) -> Any:
    return past.params.get("clientCapabilities", past.params.get("capabilities"))


def odd(past: Past) -> bool:
    ours = ("none", {"elicitation": 5}, {"fs": "yes", "terminal": 3})
    return past.method == "initialize" and capabilities(past) in ours


def other_version(message: Any, past: Past) -> Any:
    if past.method != "initialize" or not capabilities(past):
        return message
    return {**message, "result": {**message["result"], "protocolVersion": 3 - message["result"]["protocolVersion"]}}


def again_other(message: Any, past: Past) -> Any:
    if past.method == "initialize" and "result" in message:
        past.asked["first"] = message["result"]
        return message
    if not last_initialize(past):
        return message
    first = past.asked["first"]
    changed = {**first, "protocolVersion": 3 - first["protocolVersion"]}
    return {"jsonrpc": "2.0", "id": message["id"], "result": changed}


def both_layouts(old: Json) -> Json:
    return {**old, "capabilities": {}}


def without_session(message: Any, past: Past) -> Any:
    if past.method != "initialize":
        return message
    rest = {name: value for name, value in message["result"]["capabilities"].items() if name != "session"}
    return {**message, "result": {**message["result"], "capabilities": rest}}


def unsaid_list(message: Any, past: Past) -> Any:
    if past.method != "initialize":
        return message
    told = message["result"]["agentCapabilities"]
    rest = {name: value for name, value in told["sessionCapabilities"].items() if name != "list"}
    changed = {**told, "sessionCapabilities": rest}
    return {**message, "result": {**message["result"], "agentCapabilities": changed}}


def split(message: Any, past: Past) -> Any:
    return tuple(message) if isinstance(message, list) else message


def in_an_array(message: Any, past: Past) -> Any:
    empty = isinstance(message, dict) and message.get("id", 0) is None
    return [message] if empty else message


def more_entries(message: Any, past: Past) -> Any:
    if not isinstance(message, list):
        return message
    return [*message, *[entry for entry in message if entry["id"] is not None][:1]]


def fewer_entries(message: Any, past: Past) -> Any:
    return [m for m in message if m.get("id", 0) is not None] if isinstance(message, list) else message


def sends_empty_batch(past: Past) -> bool:
    return past.knows("_duologue/notice")


CONNECTIONS: dict[str, Mutant] = {
    "all-framing-06": Mutant(lambda: hear(lambda data: data if len(data) > 1 else b""), patience=SHORT),
    "all-framing-07": Mutant(lambda: hear(lambda data: data[: data.find(b"\n") + 1]), patience=SHORT),
    "v2-framing-01": Mutant(lambda: hear(lambda data: b"" if data[:1] == b"[" else data), (2,), SHORT),
    "all-jsonrpc-04": Mutant(lambda: error_code(-32700, -32600, 1)),
    "v2-jsonrpc-02": Mutant(lambda: error_code(-32700, -32600, 2), (2,)),
    "all-jsonrpc-05": Mutant(lambda: error_code(-32600, -32603)),
    "all-jsonrpc-06": Mutant(lambda: also(NO_ANSWER, lambda past: past.knows("unknown/duologue"))),
    "all-jsonrpc-07": Mutant(lambda: code("unknown/duologue", -32603)),
    "all-jsonrpc-08": Mutant(lambda: code("session/new", -32603)),
    "all-jsonrpc-12": Mutant(lambda: silent(lambda message, past: message.get("id", 0) is None)),
    "all-jsonrpc-13": Mutant(
        lambda: silent(lambda m, past: past.method == "_duologue/check" and past.knows("session/prompt")),
        patience=SHORT,
    ),
    "all-jsonrpc-17": Mutant(lambda: code("session/list", -32602, lambda past: "params" not in past.request)),
    "all-jsonrpc-18": Mutant(lambda: deaf_after(b"no json"), patience=SHORT),
    "all-jsonrpc-19": Mutant(
        lambda: also(NO_ANSWER, lambda past: any(m.get("id") == "duologue-nobody-asked" for m in past.heard))
    ),
    "v1-jsonrpc-01": Mutant(lambda: error_code(-32600, -32603), (1,)),
    "v2-jsonrpc-03": Mutant(lambda: rewrite(in_an_array), (2,)),
    "v2-jsonrpc-04": Mutant(lambda: rewrite(split), (2,)),
    "v2-jsonrpc-05": Mutant(lambda: rewrite(more_entries), (2,)),
    "v2-jsonrpc-06": Mutant(lambda: also([], sends_empty_batch), (2,)),
    "v2-jsonrpc-07": Mutant(lambda: rewrite(fewer_entries), (2,)),
    "all-versioning-02": Mutant(lambda: rewrite(other_version)),
    "all-versioning-03": Mutant(
        lambda: code("initialize", -32602, lambda past: past.params["protocolVersion"] == 60000)
    ),
    "all-versioning-06": Mutant(lambda: error_code(-32602, -32603)),
    "v2-versioning-01": Mutant(
        lambda: result(
            "initialize", lambda old: {**old, "capabilities": {}}, lambda p: p.params["protocolVersion"] == 1
        ),
        (2,),
    ),
    "v1-versioning-01": Mutant(lambda: code("auth/login", -32602), (1,)),
    "v2-versioning-04": Mutant(lambda: code("session/load", -32602), (2,)),
    "all-initialize-03": Mutant(lambda: code("initialize", -32603, lambda past: bool(capabilities(past)))),
    "v1-initialize-07": Mutant(lambda: code("initialize", -32602, odd), (1,)),
    "v2-initialize-05": Mutant(lambda: code("initialize", -32602, odd), (2,)),
    "v2-initialize-03": Mutant(lambda: error_code(-32602, -32603), (2,)),
    "all-initialize-04": Mutant(lambda: code("session/new", -32600)),
    "all-initialize-05": Mutant(lambda: result("session/new", lambda old: {"sessionId": "early"})),
    "all-initialize-06": Mutant(lambda: rewrite(again_other)),
    "v1-initialize-13": Mutant(lambda: code("session/prompt", -32601), (1,)),
    "v2-initialize-08": Mutant(lambda: code("session/close", -32601), (2,)),
    "v2-initialize-07": Mutant(lambda: rewrite(without_session), (2,)),
    "v2-session-03": Mutant(lambda: code("session/list", -32603), (2,)),
    "v1-auth-05": Mutant(lambda: code("authenticate", -32603), (1,)),
    "v2-auth-02": Mutant(lambda: code("auth/login", -32601), (2,)),
    "all-extensibility-01": Mutant(lambda: code("initialize", -32602, lambda past: "_meta" in past.params)),
    "all-extensibility-03": Mutant(lambda: code("initialize", -32602, lambda past: "duologueMember" in past.params)),
    "all-extensibility-07": Mutant(lambda: code("_duologue/unknown", -32600)),
    "all-extensibility-08": Mutant(lambda: also(NO_ANSWER, lambda past: past.knows("_duologue/notice"))),
    "all-cancellation-10": Mutant(lambda: also(NO_ANSWER, lambda past: past.knows("$/duologue"))),
    "v1-mcp-01": Mutant(lambda: code("session/new", -32602), (1,)),
    "v2-mcp-03": Mutant(lambda: code("session/new", -32602), (2,)),
    "v2-mcp-04": Mutant(lambda: code("session/new", -32603), (2,)),
}


# --- sessions ---------------------------------------------------------------------------------------------------------


def elsewhere(old: Json) -> Json:
    return {**old, "sessions": [*old["sessions"], {"sessionId": "elsewhere", "cwd": "/elsewhere"}]}


def twice(old: Json) -> Json:
    return {**old, "sessions": [*old["sessions"], *old["sessions"][:1]]}


def undeleted(message: Any, past: Past) -> Any:
    if past.method != "session/list":
        return message
    deleted = next(m["params"]["sessionId"] for m in past.heard if m.get("method") == "session/delete")
    page = message["result"]
    return {**message, "result": {**page, "sessions": [*page["sessions"], {"sessionId": deleted, "cwd": "/"}]}}


def loading(past: Past) -> bool:
    return past.knows("session/load")


def silent_about(kind: str, method: str) -> Wrap:
    return updating(lambda old, past: None if old["sessionUpdate"].startswith(kind) and past.knows(method) else old)


def late(message: Any, past: Past) -> Any:
    """What both sides said comes after the answer to session/load, and after that to what was asked next."""
    said = message.get("params", {}).get("update", {}).get("sessionUpdate")
    if loading(past) and said in {"user_message_chunk", "agent_message_chunk"}:
        past.late.append(message)
        return None
    return (message, *past.late) if past.late and past.method == "_duologue/check" else message


def somebody_else(old: Json, past: Past) -> Json:
    if loading(past) and old["sessionUpdate"] == "user_message_chunk":
        return {**old, "sessionUpdate": "agent_thought_chunk"}
    return old


def one_id(old: Json, past: Past) -> Json:
    return {**old, "messageId": "one"} if past.knows("session/resume") and "messageId" in old else old


def of_old(message: Any, past: Past) -> Any:
    return (chunk(past), message) if past.method == "session/resume" else message


def other_notes(old: Json, past: Past) -> Json:
    changed: Json = json.loads(json.dumps(old).replace("sesquipedalian", "quagmire"))
    return old if changed == old else changed


def second_delete(past: Past) -> bool:
    return len([m for m in past.heard if m.get("method") == "session/delete"]) > 1


SESSIONS: dict[str, Mutant] = {
    "all-errors-07": Mutant(lambda: rewrite(unsaid_list), (1,)),
    "all-session-04": Mutant(lambda: updating(other_notes)),
    "all-session-07": Mutant(lambda: result("session/prompt", lambda old: END), (1,)),
    "v2-session-04": Mutant(lambda: code("session/close", -32603), (2,)),
    "v1-session-05": Mutant(lambda: silent_about("agent_message", "session/load"), (1,)),
    "v1-session-06": Mutant(lambda: rewrite(late), (1,)),
    "v1-session-07": Mutant(lambda: updating(somebody_else), (1,)),
    "v1-session-11": Mutant(lambda: rewrite(of_old), (1,)),
    "v2-session-06": Mutant(lambda: rewrite(of_old), (2,)),
    "v1-session-13": Mutant(lambda: code("session/resume", -32602, lambda p: "mcpServers" not in p.params), (1,)),
    "v2-session-07": Mutant(lambda: silent_about("agent_message", "session/resume"), (2,)),
    "v2-session-08": Mutant(lambda: updating(one_id), (2,)),
    "v2-session-10": Mutant(lambda: result("session/resume", lambda old: {}), (2,)),
    "all-session-08": Mutant(lambda: code("session/close", -32603)),
    "all-session-09": Mutant(lambda: result("session/prompt", lambda old: END), (1,)),
    "all-session-12": Mutant(lambda: result("session/list", elsewhere)),
    "all-session-16": Mutant(
        lambda: result("session/list", lambda old: {"sessions": []}, lambda past: "cursor" in past.params)
    ),
    "all-session-18": Mutant(lambda: result("session/list", twice)),
    "all-session-22": Mutant(lambda: rewrite(undeleted)),
    "all-session-23": Mutant(lambda: code("session/delete", -32602, second_delete)),
    "all-session-27": Mutant(lambda: result("session/new", lambda old: {"sessionId": "taken"})),
}


# --- turns ------------------------------------------------------------------------------------------------------------


def idle(reason: str, when: Callable[[Past], bool] = lambda past: True) -> Wrap:
    """The idle that ends a turn has another stop reason."""

    def change(old: Json, past: Past) -> Json:
        ends = old["sessionUpdate"] == "state_update" and old.get("stopReason") is not None
        return {**old, "stopReason": reason} if ends and when(past) else old

    return updating(change)


def never_idle(old: Json, past: Past) -> Json | None:
    return None if old.get("state") == "idle" else old


def ended(reason: str, when: Callable[[Past], bool]) -> Wrap:
    return result("session/prompt", lambda old: {"stopReason": reason}, when)


def prompts(past: Past, count: int) -> bool:
    return len(_prompts(past)) >= count


def second(past: Past) -> bool:
    return past.method == "session/prompt" and prompts(past, 2) and past.request is _prompts(past)[1]


def _prompts(past: Past) -> list[Json]:
    return [m for m in past.heard if m.get("method") == "session/prompt"]


def running_all_the_same(message: Any, past: Past) -> Any:
    session = _prompts(past)[0]["params"]["sessionId"]
    return update(session, sessionUpdate="state_update", state="running")


def ended_by_another(message: Any, past: Past) -> Json:
    prompt = _prompts(past)[0]
    if "info" in past.heard[0]["params"]:
        session = prompt["params"]["sessionId"]
        return update(session, sessionUpdate="state_update", state="idle", stopReason="cancelled")
    return {"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "cancelled"}}


def answered_twice(message: Any, past: Past) -> Any:
    return (message, message) if past.method == "session/prompt" else message


def odd_prompt(text: str) -> Callable[[Past], bool]:
    return lambda past: asked(text, past)


TURNS: dict[str, Mutant] = {
    "v1-prompt-08": Mutant(lambda: code("session/prompt", -32603, second), (1,)),
    "v2-prompt-05": Mutant(lambda: updating(never_idle), (2,), SHORT),
    "all-prompt-02": Mutant(lambda: code("session/prompt", -32602, odd_prompt("resource_link"))),
    "all-prompt-03": Mutant(lambda: silent(lambda m, past: asked("image", past)), patience=SHORT),
    "v1-prompt-02": Mutant(lambda: error_code(-32602, -32603), (1,)),
    "v2-updates-10": Mutant(lambda: error_code(-32602, -32603), (2,)),
    "v1-content-02": Mutant(lambda: error_code(-32602, -32603), (1,)),
    "v1-content-01": Mutant(lambda: code("session/prompt", -32602, odd_prompt("annotations")), (1,)),
    "v2-prompt-13": Mutant(lambda: also(running_all_the_same, lambda past: past.knows("session/prompt")), (2,)),
    "v1-prompt-09": Mutant(lambda: silent(lambda m, past: second(past)), (1,), SHORT),
    "all-prompt-04": Mutant(lambda: ended("cancelled", second), (1,)),
    "v1-cancellation-01": Mutant(lambda: ended("end_turn", odd_prompt(SLEEP)), (1,)),
    "v1-cancellation-02": Mutant(lambda: code("session/prompt", -32603, odd_prompt(SLEEP)), (1,)),
    "v2-cancellation-01": Mutant(lambda: updating(never_idle), (2,), SHORT),
    "v2-cancellation-03": Mutant(lambda: idle("_torn_down"), (2,)),
    "all-cancellation-01": Mutant(
        lambda: hear(lambda data: b"" if b"session/cancel" in data else data), patience=SHORT
    ),
    "all-cancellation-04": Mutant(lambda: also(NO_ANSWER, lambda past: past.knows("session/cancel"))),
    "all-cancellation-05": Mutant(lambda: also(ended_by_another, lambda past: past.knows("session/cancel"))),
    "all-cancellation-06": Mutant(lambda: ended("cancelled", second), (1,)),
    "all-cancellation-13": Mutant(lambda: silent(lambda m, past: m.get("method") == "$/cancel_request")),
    "all-cancellation-09": Mutant(lambda: rewrite(answered_twice)),
    "all-cancellation-11": Mutant(lambda: also(NO_ANSWER, lambda past: past.knows("$/cancel_request"))),
    "v1-modes-04": Mutant(lambda: result("session/set_mode", lambda old: {}), (1,)),
    "v1-modes-05": Mutant(lambda: code("session/set_mode", -32603), (1,)),
    "all-config-12": Mutant(lambda: result("session/set_config_option", lambda old: {"configOptions": []})),
    "v1-config-04": Mutant(lambda: code("session/set_config_option", -32602), (1,)),
    "all-config-17": Mutant(lambda: code("session/set_config_option", -32603)),
}


# --- permissions ------------------------------------------------------------------------------------------------------


def touching(when: Callable[[Any, Past], bool]) -> Wrap:
    """The command has its effect although it should not."""

    def change(message: Any, past: Past) -> Any:
        if when(message, past):
            (past.folder / "touched.txt").touch()
        return message

    return rewrite(change)


def on(word: str) -> Wrap:
    """... once an answer with that word was read."""
    return touching(lambda message, past: any("method" not in m and word in str(m) for m in past.heard))


PERMISSIONS: dict[str, Mutant] = {
    "all-permissions-06": Mutant(lambda: touching(lambda m, past: m.get("method") == "session/request_permission")),
    "all-permissions-07": Mutant(lambda: on("selected")),
    "all-permissions-09": Mutant(lambda: on("-32603")),
    "all-permissions-10": Mutant(lambda: on("duologue-no-option")),
    "v2-permissions-07": Mutant(lambda: on("'_duologue'"), (2,)),
}

LIVE: dict[str, Mutant] = {**CONNECTIONS, **SESSIONS, **TURNS, **PERMISSIONS}
