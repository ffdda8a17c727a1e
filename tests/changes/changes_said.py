"""What agents of both versions may say in words that both have: strategies for streams of updates."""

from __future__ import annotations

import base64
from typing import Any

from changes_kit import chunk, terminal, text, tool
from hypothesis import strategies as st

from duologue.protocol.patches import make_patch

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ROLES = st.sampled_from(["user_message", "agent_message", "agent_thought"])
TOOLS = st.sampled_from(["a", "b"])
WAITS = st.sampled_from([0.0, 0.05, 0.2])
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
LINK = {"type": "resource_link", "name": "n", "uri": "file:///n", "_meta": {"k": 1}}
BLOCKS = WORDS.map(text) | st.sampled_from([IMAGE, LINK])
PATCH = make_patch("/w/a", "one\ntwo\n", "one\n2\n")
DIFF = {
    "type": "diff",
    "changes": [{"operation": "modify", "path": "/w/a"}],
    "patch": {"format": "git_patch", "text": PATCH},
}
TERMINAL = {"type": "terminal", "terminalId": "x"}
ITEMS = BLOCKS.map(lambda block: {"type": "content", "content": block}) | st.sampled_from([DIFF, TERMINAL])


def coded(words: str) -> str:
    return base64.b64encode(words.encode()).decode()


def mode(current: str) -> Any:
    values = [{"value": name, "name": name.title(), "_meta": {"k": name}} for name in ("ask", "code")]
    return {
        "configId": "how",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        **chosen(current),
        "options": values,
    }


def chosen(value: Any) -> Any:
    return {"currentValue": value}


def switch(on: bool) -> Any:
    return {"configId": "fast", "name": "Fast", "type": "boolean", "description": "d", **chosen(on)}


def options(current: str, on: bool) -> Any:
    return {"sessionUpdate": "config_option_update", "configOptions": [mode(current), switch(on)]}


PATCHED = st.fixed_dictionaries(
    {},
    optional={
        "title": WORDS,
        "kind": st.sampled_from(["read", "execute", "other"]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": st.lists(ITEMS, max_size=3),
        "locations": st.lists(st.just({"path": "/a", "line": 1}), max_size=2),
        "rawInput": st.sampled_from([1, "x", [], {"a": None}]),
        "rawOutput": st.sampled_from([False, {"n": [1]}]),
        "name": WORDS,
        "_meta": st.just({"k": [1]}),
    },
)
ENTRIES = st.fixed_dictionaries(
    {
        "content": WORDS,
        "priority": st.sampled_from(["high", "medium", "low"]),
        "status": st.sampled_from(["pending", "in_progress", "completed"]),
    },
    optional={"_meta": st.just({"k": 1})},
)
ITEMS_PLAN = st.builds(
    lambda plan_id, entries: {"type": "items", "planId": plan_id, "entries": entries},
    st.sampled_from("pq"),
    st.lists(ENTRIES, max_size=3),
)
COMMAND = st.fixed_dictionaries(
    {"name": WORDS, "description": WORDS}, optional={"input": WORDS.map(lambda hint: {"type": "text", "hint": hint})}
)

#: What an agent says, by the tag of the update. `grow` stands for a whole message with more content than before.
SAID: dict[str, Any] = {
    **{
        f"{role}_chunk": st.builds(
            lambda number, block, role=role: {**chunk(role, "", f"{role}-{number}"), "content": block},
            st.integers(0, 2),
            BLOCKS,
        )
        for role in ("user_message", "agent_message", "agent_thought")
    },
    "grow": st.tuples(st.just("grow"), ROLES, st.integers(0, 2), st.lists(BLOCKS, min_size=1, max_size=2)),
    "tool_call_update": st.builds(lambda name, members: tool(name, **members), TOOLS, PATCHED),
    "tool_call_content_chunk": st.builds(
        lambda name, item: {"sessionUpdate": "tool_call_content_chunk", "toolCallId": name, "content": item},
        TOOLS,
        ITEMS,
    ),
    "terminal_output_chunk": WORDS.map(
        lambda words: {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": coded(words)}
    ),
    "terminal_update": st.sampled_from([{"exitCode": 0}, {"exitCode": 3}, {"signal": "SIGINT"}]).map(
        lambda status: terminal(exitStatus=status)
    ),
    "plan_update": (ITEMS_PLAN | WORDS.map(lambda words: {"type": "markdown", "planId": "m", "content": words})).map(
        lambda plan: {"sessionUpdate": "plan_update", "plan": plan}
    ),
    "plan_removed": st.sampled_from("pqm").map(lambda name: {"sessionUpdate": "plan_removed", "planId": name}),
    "available_commands_update": st.lists(COMMAND, max_size=2).map(
        lambda commands: {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    ),
    "config_option_update": st.builds(options, st.sampled_from(["ask", "code"]), st.booleans()),
    "usage_update": st.integers(0, 9).map(lambda used: {"sessionUpdate": "usage_update", "used": used, "size": 9}),
    "session_info_update": WORDS.map(lambda title: {"sessionUpdate": "session_info_update", "title": title}),
}
STREAMS = st.lists(st.tuples(st.one_of(*SAID.values()), WAITS), max_size=14)

#: The tool calls of a stream have a title from the start, and one of them shows the terminal.
OPENING = [terminal(cwd="/w"), tool("a", title="A", content=[TERMINAL]), tool("b", title="B")]


def grown(stream: list[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """The stream with each `grow` as the whole message that it makes, after all that was said of it."""
    known: dict[str, list[Any]] = {}
    made = []
    for said, wait in stream:
        if isinstance(said, tuple):
            _, role, number, blocks = said
            whole = known.setdefault(f"{role}-{number}", [])
            whole += blocks
            said = {"sessionUpdate": role, "messageId": f"{role}-{number}", "content": list(whole)}
        elif "messageId" in said:
            known.setdefault(said["messageId"], []).append(said["content"])
        made.append((said, wait))
    return made


V1_DIFF = {"type": "diff", "path": "/w/a", "oldText": "one\ntwo", "newText": "one\n2\n"}
V1_ITEMS = BLOCKS.map(lambda block: {"type": "content", "content": block}) | st.sampled_from([V1_DIFF, TERMINAL])
V1_META = st.sampled_from(
    [
        {"terminal_output": {"terminal_id": "x", "data": "ä\n"}},
        {"terminal_exit": {"terminal_id": "x", "exit_code": 1, "signal": None}},
        {"k": 1},
    ]
)
V1_SAID: dict[str, Any] = {
    "chunks": st.builds(chunk, ROLES, WORDS, st.sampled_from([None, "m", "n"])),
    "tool_call": st.builds(
        lambda name, members, items: {**tool(name, title="T", content=items, **members), "sessionUpdate": "tool_call"},
        TOOLS,
        st.fixed_dictionaries({}, optional={"kind": st.just("read"), "status": st.just("pending")}),
        st.lists(V1_ITEMS, max_size=2),
    ),
    "tool_call_update": st.builds(
        lambda name, members: tool(name, **members),
        TOOLS,
        st.fixed_dictionaries(
            {},
            optional={
                "status": st.sampled_from([None, "in_progress", "completed", "failed"]),
                "content": st.none() | st.lists(V1_ITEMS, max_size=2),
                "title": st.none() | WORDS,
                "_meta": V1_META,
            },
        ),
    ),
    "plan": st.lists(ENTRIES, max_size=2).map(lambda entries: {"sessionUpdate": "plan", "entries": entries}),
    "current_mode_update": st.sampled_from(["ask", "code"]).map(
        lambda name: {"sessionUpdate": "current_mode_update", "currentModeId": name}
    ),
}
