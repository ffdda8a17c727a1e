"""Streams of updates that both versions can say come through v1 and back unchanged, whatever their order."""

from __future__ import annotations

from typing import Any

from changes_kit import Line, agent, chunk, client, item, text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
KINDS = ("user_message", "agent_message", "agent_thought")
#: In v2 an id belongs to one message of one kind.
CHUNKS = st.builds(
    lambda kind, words, number: chunk(kind, words, f"{kind}-{number}"), st.sampled_from(KINDS), WORDS, st.integers(0, 2)
)

ITEMS = st.one_of(
    WORDS.map(item),
    st.just({"type": "content", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}}),
)
PATCHES = st.fixed_dictionaries(
    {"sessionUpdate": st.just("tool_call_update"), "toolCallId": st.sampled_from("ab"), "title": WORDS},
    optional={
        "kind": st.sampled_from(["read", "execute", "other"]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": st.lists(ITEMS, max_size=3),
        "locations": st.lists(st.just({"path": "/a", "line": 1}), max_size=2),
        "rawInput": st.sampled_from([1, "x", [], {"a": None}]),
        "name": WORDS,
        "_meta": st.just({"k": [1]}),
    },
)
ENTRIES = st.fixed_dictionaries(
    {
        "content": WORDS,
        "priority": st.sampled_from(["high", "low"]),
        "status": st.sampled_from(["pending", "in_progress", "completed"]),
    }
)
PLANS = st.one_of(
    st.builds(
        lambda plan_id, entries: {"type": "items", "planId": plan_id, "entries": entries},
        st.sampled_from("pq"),
        st.lists(ENTRIES, max_size=3),
    ),
    WORDS.map(lambda words: {"type": "markdown", "planId": "m", "content": words}),
).map(lambda plan: {"sessionUpdate": "plan_update", "plan": plan})
COMMANDS = st.lists(
    st.fixed_dictionaries(
        {"name": WORDS, "description": WORDS},
        optional={"input": WORDS.map(lambda hint: {"type": "text", "hint": hint})},
    ),
    max_size=2,
).map(lambda commands: {"sessionUpdate": "available_commands_update", "availableCommands": commands})
OTHERS = st.sampled_from(
    [
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
        {"sessionUpdate": "session_info_update", "title": None},
        {"sessionUpdate": "_vendor", "x": 1},
        {"sessionUpdate": "plan_removed", "planId": "p"},
    ]
)
STREAMS = st.lists(st.one_of(CHUNKS, PATCHES, PLANS, COMMANDS, OTHERS), max_size=12)
MANY = settings(max_examples=120, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def through(out: Line, back: Line, update: Any) -> list[Any]:
    return [heard for told in out.update_out(update) for heard in back.update_in(told)]


@MANY
@given(STREAMS)
def test_a_stream_comes_back_as_it_was(stream: list[Any]) -> None:
    out, back = agent(), client()
    assert [through(out, back, update) for update in stream] == [[update] for update in stream]


@MANY
@given(st.lists(st.tuples(st.sampled_from(KINDS), st.lists(WORDS, max_size=3)), max_size=6), st.integers(1, 3))
def test_whole_messages_say_the_same_words_in_chunks(messages: list[tuple[str, list[str]]], times: int) -> None:
    out = agent()
    told: dict[str, str] = {}
    meant: dict[str, str] = {}
    for number, (kind, words) in enumerate(messages):
        message_id = f"{number}"
        for upto in range(len(words) + 1):
            for _ in range(times):
                whole = {"sessionUpdate": kind, "messageId": message_id, "content": [text(one) for one in words[:upto]]}
                for update in out.update_out(whole):
                    told[message_id] = told.get(message_id, "") + update["content"]["text"]
        meant[message_id] = "".join(words)
    assert told == {name: words for name, words in meant.items() if name in told}
    assert all(not words for name, words in meant.items() if name not in told)
