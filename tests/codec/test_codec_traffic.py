"""Messages as released programs send them, in both versions: read at full speed and written back with all they said.

The data are shapes: members, tags, enum values and kinds as recorded, texts and ids replaced.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from duologue.codec import Dropped, decode, decoder_for, encode

LINES = (Path(__file__).parent / "data" / "traffic.jsonl").read_text(encoding="utf-8").splitlines()
RECORDS = [json.loads(line) for line in LINES]

#: Members that programs send and neither version defines; a type of ours has no place for them.
UNDEFINED = {
    *("$.models", "$.availableCommands", "$.messageId", "$.update.background", "$.update.availableCommands[].type"),
    *("$.agentCapabilities.sessionCapabilities.systemPrompt", "$.capabilities.session.systemPrompt"),
    *("$.agentCapabilities.sessionCapabilities.subagents", "$.agentCapabilities.sessionCapabilities.title"),
}


def wire_type(name: str) -> Any:
    module, _, member = name.rpartition(".")
    return getattr(importlib.import_module(f"duologue.protocol.{module}"), member)


def changes(before: Any, after: Any, path: str = "$") -> set[str]:
    """Paths at which two JSON values differ, list indexes left out."""
    match before, after:
        case dict(), dict():
            common = before.keys() & after.keys()
            inner = [changes(before[key], after[key], f"{path}.{key}") for key in common]
            return set().union({f"{path}.{key}" for key in before.keys() ^ after.keys()}, *inner)
        case list(), list() if len(before) == len(after):
            return set().union(*(changes(*pair, f"{path}[]") for pair in zip(before, after, strict=True)))
        case _:
            return set() if before == after and isinstance(before, bool) == isinstance(after, bool) else {path}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record['peer']}-{record['type']}")
def test_real_messages_lose_nothing_that_the_protocol_defines(record: dict[str, Any]) -> None:
    wanted, wire = wire_type(record["type"]), record["json"]
    losses: list[Dropped] = []
    value = decode(wanted, json.dumps(wire).encode(), losses.append)
    assert decode(wanted, encode(value)) == value
    if wire is None:
        assert [loss.path for loss in losses] == ["$"]
        return
    assert not losses
    assert changes(wire, json.loads(encode(value))) <= UNDEFINED


def test_the_strict_pass_reads_nearly_all_of_it() -> None:
    slow = [record for record in RECORDS if not fits(record)]
    unknown = [record for record in slow if record["json"] and "update" in record["json"]]
    assert {record["json"]["update"]["sessionUpdate"] for record in unknown} == {"notice", "hologram_update"}
    assert [record["json"] for record in slow if record not in unknown] == [None] * (len(slow) - len(unknown))


def fits(record: dict[str, Any]) -> bool:
    try:
        decoder_for(wire_type(record["type"])).decode(json.dumps(record["json"]))
    except ValueError:
        return False
    return True
