"""Messages: v2 has an id on each chunk and whole messages that replace; v1 only appends.

Down, a whole message becomes chunks of what v1 has not been told yet. One that replaces what was told is shown as a
further message, because v1 cannot take anything back. Up, chunks without an id are joined while their kind stays the
same and no tool call, plan or turn comes between, and an id that two kinds share is made to belong to one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from duologue.protocol.base import Unknown, encode_hook
from duologue.protocol.changes.content import SHARED, block_down, block_up
from duologue.protocol.changes.memory import OpenPrompt, SessionMemory, keep
from duologue.protocol.changes.notes import down
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v1 import updates as v1
from duologue.protocol.v2 import updates as v2

#: Chunks of one message that are held before they are folded into its sum: few, because joining much text at once makes
#: the allocator map and unmap memory each time.
FOLDED_AT = 32

_encode = msgspec.json.Encoder(enc_hook=encode_hook).encode

CHUNKS: dict[type, type] = {
    v2.UserMessageEvent: v1.UserMessageChunk,
    v2.AgentMessageEvent: v1.AgentMessageChunk,
    v2.AgentThoughtEvent: v1.AgentThoughtChunk,
}

#: What tells apart the ids of messages that share one.
KINDS: dict[type, str] = {
    v1.UserMessageChunk: "user",
    v1.AgentMessageChunk: "agent",
    v1.AgentThoughtChunk: "thought",
}


# --- Down ------------------------------------------------------------------------------------------------------------


class Sent(msgspec.Struct):
    """What v1 has been told of a message: how many units (characters, and one for each other block), and their sum.

    `blocks` are chunks that have not been added to the sum yet, so that a chunk costs no more than an append.
    `message_id` differs from v2's id once the message was replaced.
    """

    message_id: str
    units: int = 0
    sum: int = 0
    blocks: list[Any] = msgspec.field(default_factory=list)
    replaced: int = 0

    def fold(self) -> None:
        # Texts that follow each other count like one text, and one text is much cheaper than many.
        for is_text, run in groupby(self.blocks, key=_is_text):
            same = list(run)
            for block in [TextBlock(text="".join([block.text for block in same]))] if is_text else same:
                self.units += _units(block)
                self.sum = _add(self.sum, block)
        self.blocks.clear()


def tell_on(session: SessionMemory, chunk: v2.AgentMessageChunk) -> bool:
    """Count a chunk of text as told, if it goes on with the message that v1 is being told; whether it does."""
    sent = session.telling
    if sent is None or session.telling_id != chunk.message_id or sent.replaced:
        return False
    sent.blocks.append(chunk.content)
    if len(sent.blocks) >= FOLDED_AT:
        sent.fold()
    return True


def chunk_down(session: SessionMemory, note: v2.UpdateSessionNotification) -> Any:
    """An agent's chunk: the same JSON in both versions, unless its block is not."""
    chunk: Any = note.update
    sent = session.telling
    if sent is None or session.telling_id != chunk.message_id:
        sent = _turn_to(session, chunk.message_id)
    blocks = sent.blocks
    blocks.append(chunk.content)
    if len(blocks) >= FOLDED_AT:
        sent.fold()
    if chunk.content.__class__ in SHARED and not sent.replaced:
        return note
    block = block_down(chunk.content)
    if block is chunk.content and not sent.replaced:
        return note
    change = msgspec.structs.replace(chunk, content=block, message_id=sent.message_id)
    return msgspec.structs.replace(note, update=change)


def user_chunk_down(session: SessionMemory, note: v2.UpdateSessionNotification) -> Any:
    """A user's chunk: v1 knows the prompts that are open, so only others and replays are told."""
    assert isinstance(note.update, v2.UserMessageChunk)
    if take_echo(session, note.update.message_id):
        return ()
    return chunk_down(session, note)


def whole_down(session: SessionMemory, note: v2.UpdateSessionNotification) -> Any:
    """A whole message: chunks of what is new in it."""
    message: Any = note.update
    if message.__class__ is v2.UserMessageEvent and take_echo(session, message.message_id):
        return ()
    if message.content is UNSET:
        return ()
    sent = _turn_to(session, message.message_id)
    sent.fold()
    blocks = message.content or []
    news = _after(blocks, sent.units, sent.sum)
    if news is None:
        sent.replaced += 1
        sent.message_id = f"{message.message_id}~{sent.replaced}"
        news = blocks
    sent.units, sent.sum = sum(map(_units, blocks)), _sum(blocks)
    return _chunks(note, CHUNKS[message.__class__], sent.message_id, news)


def _chunks(note: Any, chunk: Callable[..., Any], message_id: str, blocks: Sequence[Any]) -> Any:
    """One notification for each block; `_meta` of the message goes with the first."""
    meta = note.update.meta
    notes = []
    for block in blocks:
        update = chunk(message_id=message_id, content=block_down(block), meta=meta)
        notes.append(v1.SessionNotification(session_id=note.session_id, update=update, meta=note.meta))
        meta = UNSET
    return down(notes)


def _turn_to(session: SessionMemory, message_id: str) -> Sent:
    if session.telling is not None:
        session.telling.fold()
    known = session.sent.pop(message_id, None)
    sent: Sent = known if known is not None else Sent(message_id)
    keep(session.sent, message_id, sent, session.connection.bounds.messages)
    session.telling, session.telling_id = sent, message_id
    return sent


def take_echo(session: SessionMemory, message_id: str) -> bool:
    """Give a new user message to the prompt that owns it; whether v1 has that open, and so knows what it says. The n-th
    prompt owns the n-th new message. Of a prompt that a later replay lacks v1 knows nothing."""
    if session.replays:
        return False
    if message_id in session.echoes:
        return True
    prompt = next((prompt for prompt in session.prompts if prompt.message_id is None), None)
    if prompt is None or message_id in session.sent:
        return False
    prompt.message_id = message_id
    if prompt.retold:
        return False
    keep(session.echoes, message_id, None, session.connection.bounds.messages)
    return True


def _is_text(block: Any) -> bool:
    return block.__class__ is TextBlock


def _units(block: Any) -> int:
    return len(block.text) if block.__class__ is TextBlock else 1


def _add(total: int, block: Any) -> int:
    """Texts that follow each other count like one text; other blocks stand for themselves."""
    if block.__class__ is TextBlock:
        return zlib.crc32(block.text.encode(errors="surrogatepass"), total)
    return zlib.crc32(b"\0" + _encode(block), total)


def _sum(blocks: Sequence[Any]) -> int:
    total = 0
    for block in blocks:
        total = _add(total, block)
    return total


def _after(blocks: Sequence[Any], units: int, total: int) -> list[Any] | None:
    """The blocks behind the first `units`, None if those do not have the sum `total`."""
    passed = 0
    for index, block in enumerate(blocks):
        if not units:
            return list(blocks[index:]) if passed == total else None
        size = _units(block)
        if size > units:
            head = msgspec.structs.replace(block, text=block.text[:units])
            tail = msgspec.structs.replace(block, text=block.text[units:])
            return [tail, *blocks[index + 1 :]] if _add(passed, head) == total else None
        units -= size
        passed = _add(passed, block)
    return [] if not units and passed == total else None


# --- Up --------------------------------------------------------------------------------------------------------------


def in_v1s_words(note: v2.UpdateSessionNotification) -> v1.SessionNotification:
    """An agent's chunk that was read in v2's words, as v1 has it."""
    chunk: Any = note.update
    content = chunk.content if isinstance(chunk.content, Unknown) else block_down(chunk.content)
    update = v1.AgentMessageChunk(message_id=chunk.message_id, content=content, meta=chunk.meta)
    return v1.SessionNotification(session_id=note.session_id, update=update, meta=note.meta)


def agent_chunk_up(session: SessionMemory, note: v1.SessionNotification) -> Any:
    return _chunk_up(session, note, v2.AgentMessageChunk)


def thought_chunk_up(session: SessionMemory, note: v1.SessionNotification) -> Any:
    return _chunk_up(session, note, v2.AgentThoughtChunk)


def user_chunk_up(session: SessionMemory, note: v1.SessionNotification) -> Any:
    """A user's chunk. Agents that send a prompt back are not heard: v2 has its user message already."""
    prompt = session.prompts[0] if session.prompts and not session.replays else None
    if prompt is not None and _sends_back(prompt, note.update):
        return ()
    return _chunk_up(session, note, v2.UserMessageChunk)


def _sends_back(prompt: OpenPrompt, chunk: Any) -> bool:
    if not prompt.content or prompt.content[0] != block_up(chunk.content):
        return False
    prompt.content = prompt.content[1:]
    return True


def _chunk_up(session: SessionMemory, note: v1.SessionNotification, chunk_type: Callable[..., Any]) -> Any:
    chunk: Any = note.update
    message_id = _message_id(session, chunk.__class__, chunk.message_id)
    update = chunk_type(message_id=message_id, content=block_up(chunk.content), meta=chunk.meta)
    return v2.UpdateSessionNotification(session_id=note.session_id, update=update, meta=note.meta)


def _message_id(session: SessionMemory, kind: type, message_id: str | UnsetType | None) -> str:
    if message_id is None:
        message_id = UNSET
    if session.chunk_type is kind and session.chunk_id == message_id:
        return session.message_id
    session.chunk_type, session.chunk_id = kind, message_id
    session.message_id = _own_id(session, kind, message_id) if isinstance(message_id, str) else session.make_id()
    return session.message_id


def _own_id(session: SessionMemory, kind: type, message_id: str) -> str:
    """The id itself for the kind that had it first; some agents give one id to a thought and to the answer."""
    owner = session.kinds.get(message_id)
    if owner is None:
        keep(session.kinds, message_id, kind, session.connection.bounds.messages)
        return message_id
    return message_id if owner is kind else f"{message_id}~{KINDS[kind]}"
