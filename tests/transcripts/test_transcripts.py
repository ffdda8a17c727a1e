"""What released programs said to each other: all that the protocol defines comes back, and sessions can be folded.

The data are recordings that `reduce.py` made small.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import Recorded, kept, read, recorded, survey, version_of

from duologue.codec import CodecError, decode, decoder_for
from duologue.protocol.changes.edge import Edge
from duologue.protocol.changes.steps import Notify
from duologue.protocol.common.content import TextBlock
from duologue.protocol.method import Side
from duologue.protocol.v1 import table as v1
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import V1
from duologue.session import Transcript
from duologue.session.entries import Role

FILES = sorted((Path(__file__).parent / "data").glob("*.jsonl"))
RECORDS = {file.stem: list(recorded(read(file))) for file in FILES}

#: All that does not come back as it was. What is new here is either a program's invention or a fault of ours.
NEWS = {
    # Members that neither version defines.
    "v1 initialize result: $.agentCapabilities.sessionCapabilities.subagents",
    "v1 initialize result: $.agentCapabilities.sessionCapabilities.systemPrompt",
    "v1 initialize result: $.agentCapabilities.sessionCapabilities.title",
    "v1 session/new result: $.models",
    "v2 initialize result: $.capabilities.session.systemPrompt",
    "v2 initialize result: $.capabilities.session.title",
    "v2 session/new result: $.availableCommands",
    "v2 session/prompt result: $.messageId",
    "v2 session/resume result: $.availableCommands",
    "v2 session/update params: $.update.availableCommands[].type",
    "v2 session/update params: $.update.background",
    # Null where an object is due: read as an empty one.
    "v1 session/list result: salvaged at $",
    # Wrong on purpose: the recorder tried what programs do with them.
    "v1 session/update params: refused: $.update: required member is missing",
    "v2 session/set_config_option params: refused: $.type: required member is missing",
    "v2 authenticate params: no such method",
    "v2 session/load params: no such method",
    "v2 session/set_mode params: no such method",
    # Names outside of the protocol.
    "v1 _acme/changed params: no such method",
    "v1 _acme/thing params: no such method",
    "v1 _auth/status_update params: no such method",
    "v1 foo/bar params: no such method",
    "v1 foo/changed params: no such method",
    "v2 _auth/status_update params: no such method",
}


def test_all_that_the_protocol_defines_comes_back() -> None:
    """The list is exact in both directions, so that a loss that begins or ends is noticed."""
    records = [record for file in RECORDS.values() for record in file]
    assert len(records) > 550
    assert set().union(*(survey(record) for record in records)) == NEWS


def test_a_loss_would_be_noticed() -> None:
    (record,) = (record for record in RECORDS["claude-v2"] if record.name == "initialize" and record.part == "result")
    invented = {**record.wire, "capabilities": {**record.wire["capabilities"], "session": {"invented": {}}}}
    changed = Recorded(record.version, record.receiver, record.name, record.part, invented, record.wanted)
    assert "v2 initialize result: $.capabilities.session.invented" in survey(changed)


def test_the_recordings_hold_many_methods_and_updates() -> None:
    records = [record for file in RECORDS.values() for record in file if record.wanted is not None]
    assert len({record.name for record in records}) >= 20
    tags = {record.wire["update"]["sessionUpdate"] for record in records if "update" in (record.wire or {})}
    assert len(tags) >= 14
    assert {record.version.number for record in records} == {1, 2}


def test_the_strict_pass_reads_all_but_what_is_unknown_or_null() -> None:
    records = [record for file in RECORDS.values() for record in file if record.wanted is not None]
    slow = [record.wire for record in records if comes_back(record) and not fits(record)]
    unknown = {wire["update"]["sessionUpdate"] for wire in slow if wire is not None}
    assert unknown == {"notice", "hologram_update"}


def comes_back(record: Recorded) -> bool:
    try:
        return bool(kept(record))
    except CodecError:
        return False


def fits(record: Recorded) -> bool:
    try:
        decoder_for(record.wanted).decode(json.dumps(record.wire))
    except ValueError:
        return False
    return True


# --- sessions ---------------------------------------------------------------------------------------------------------


def heard(file: Path) -> list[tuple[str, Any, list[Any]]]:
    """The updates of a recording: session, JSON, and what a client of ours sees of it, in v2's words."""
    said = read(file)
    version = version_of(said)
    edge = Edge(Side.CLIENT) if version is V1 else None
    told: list[tuple[str, Any, list[Any]]] = []
    for _, message in said:
        match message:
            case {"method": "session/update", "params": {"sessionId": session, "update": update} as params}:
                told.append((session, update, in_v2s_words(edge, params)))
    return told


def in_v2s_words(edge: Edge | None, params: Any) -> list[Any]:
    data = json.dumps(params).encode()
    if edge is None:
        return [decode(v2.SESSION_UPDATE.params, data).update]
    note = decode(v1.SESSION_UPDATE.params, data)
    steps = edge.notification_in(v1.SESSION_UPDATE, note)
    return [step.params.update for step in steps if isinstance(step, Notify)]


def fold(updates: list[Any]) -> Transcript:
    transcript = Transcript()
    for update in updates:
        transcript.apply(update)
    return transcript


def text_of(transcript: Transcript, role: Role) -> str:
    blocks = [block for message in transcript.messages if message.role is role for block in message.content]
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_sessions_are_folded_with_all_that_was_said(file: Path) -> None:
    told = heard(file)
    for session in {session for session, _, _ in told}:
        transcript = fold([one for owner, _, seen in told if owner == session for one in seen])
        wire = [update for owner, update, _ in told if owner == session and isinstance(update, dict)]
        chunks = [update for update in wire if update["sessionUpdate"] == "agent_message_chunk"]
        assert text_of(transcript, Role.AGENT) == "".join(chunk["content"].get("text", "") for chunk in chunks)
        assert list(transcript.tool_calls) == list(dict.fromkeys(u["toolCallId"] for u in wire if "toolCallId" in u))
        for id, call in transcript.tool_calls.items():
            told_last = [u["status"] for u in wire if u.get("toolCallId") == id and u.get("status")]
            assert not told_last or call.status == told_last[-1]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_folded_session_gives_updates_that_fold_to_the_same(file: Path) -> None:
    told = heard(file)
    for session in {session for session, _, _ in told}:
        transcript = fold([one for owner, _, seen in told if owner == session for one in seen])
        again = fold(list(transcript.updates()))
        assert list(again.tool_calls) == list(transcript.tool_calls)
        assert [call.content for call in again.tool_calls.values()] == [
            call.content for call in transcript.tool_calls.values()
        ]
        assert [text_of(again, role) for role in Role] == [text_of(transcript, role) for role in Role]
        assert (again.plans, again.commands) == (transcript.plans, transcript.commands)
        assert (again.config_options, again.usage) == (transcript.config_options, transcript.usage)
