"""What is written down of a session: what the client was told, and what the model knows, in one order.

A record is a kind and a body in JSON. Updates stand as version 2 of the protocol has them.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from duologue import codec
from duologue.coder.models.base import AssistantMessage, ChatMessage, ToolResult, UserMessage
from duologue.coder.store.cleaning import Cleaner
from duologue.local.masking import unfinished
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionUpdate,
    TerminalOutputChunkEvent,
)

#: How much at the end of what was said waits for more, in characters or bytes: a last word that is not whole, or a line
#: or a private key in which a secret may have begun. Half of a secret would not be known as one.
HELD = 16384

_CHUNKS = (AgentMessageChunk, AgentThoughtChunk, TerminalOutputChunkEvent)
Chunk = AgentMessageChunk | AgentThoughtChunk | TerminalOutputChunkEvent


class RecordKind(StrEnum):
    """What a record holds."""

    #: A turn began.
    BEGAN = "began"
    #: A turn ended.
    ENDED = "ended"
    #: The client was told this.
    UPDATE = "update"
    #: A message of the model's history, as are the next two.
    USER = "user"
    ASSISTANT = "assistant"
    RESULT = "result"
    #: The model's history ends before the message of this number.
    DROPPED = "dropped"


class Record(NamedTuple):
    kind: RecordKind
    value: Any = None


MESSAGES: dict[RecordKind, type[ChatMessage]] = {
    RecordKind.USER: UserMessage,
    RecordKind.ASSISTANT: AssistantMessage,
    RecordKind.RESULT: ToolResult,
}
_KINDS = {cls: kind for kind, cls in MESSAGES.items()}


def message_record(message: ChatMessage) -> Record:
    return Record(_KINDS[type(message)], message)


def size_of(record: Record) -> int:
    """About so many bytes of memory are in a record."""
    try:
        return len(msgspec.json.encode(record.value, enc_hook=str))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return len(repr(record.value))


def encoded(record: Record, cleaner: Cleaner) -> bytes:
    """The body of a record, without secrets."""
    match record:
        case (RecordKind.UPDATE, value):
            return codec.encode(cleaner.value(codec.decode(Any, codec.encode(value))))
        case (RecordKind.ASSISTANT, AssistantMessage() as message):
            # The provider's own state goes back to it unchanged or not at all.
            kept = cleaner.value(_plain(msgspec.structs.replace(message, signature=None)))
            return codec.encode({**kept, "signature": _plain(message.signature)})
        case (RecordKind.USER | RecordKind.RESULT, value):
            return codec.encode(cleaner.value(_plain(value)))
        case (_, value):
            return codec.encode(value)
    raise AssertionError(record)


def _plain(value: Any) -> Any:
    return codec.decode(Any, msgspec.json.encode(value, enc_hook=str))


def decoded(kind: str, body: bytes) -> Record:
    """The record of a body. Raises ValueError for one that is none."""
    known = RecordKind(kind)
    if known is RecordKind.UPDATE:
        return Record(known, codec.decode(SessionUpdate, body))
    if known in MESSAGES:
        return Record(known, msgspec.json.decode(body, type=MESSAGES[known]))
    return Record(known, msgspec.json.decode(body, type=int if known is RecordKind.DROPPED else None))


def joined(records: Iterable[Record]) -> Iterator[Record]:
    """The same with pieces of one message, and of one terminal's output, joined where they follow each other."""
    pieces: list[Chunk] = []
    for record in records:
        if pieces and not (record.kind is RecordKind.UPDATE and _goes_on(pieces[-1], record.value)):
            yield Record(RecordKind.UPDATE, _whole(pieces))
            pieces = []
        if record.kind is RecordKind.UPDATE and _is_piece(record.value):
            pieces.append(record.value)
        else:
            yield record
    if pieces:
        yield Record(RecordKind.UPDATE, _whole(pieces))


def split(record: Record) -> tuple[Record | None, Record | None]:
    """What of a last record can be written, and what waits for more."""
    if record.kind is not RecordKind.UPDATE or not _is_piece(record.value):
        return record, None
    chunk: Chunk = record.value
    content = _content(chunk)
    start = _waits_from(content)
    if not 0 < len(content) - start <= HELD:
        return record, None
    tail = Record(RecordKind.UPDATE, _with(chunk, content[start:]))
    return (Record(RecordKind.UPDATE, _with(chunk, content[:start])) if start else None), tail


def _waits_from(content: str | bytes) -> int:
    """Where that begins which the next piece may make a secret."""
    # Byte for character: only the places of letters count.
    text = content if isinstance(content, str) else content.decode("latin-1")
    words = text.rsplit(maxsplit=1)
    last = 0 if not words or text[-1:].isspace() else len(words[-1])
    return min(len(text) - last, unfinished(text))


def _is_piece(update: Any) -> bool:
    if isinstance(update, TerminalOutputChunkEvent):
        return True
    return isinstance(update, AgentMessageChunk | AgentThoughtChunk) and (
        isinstance(update.content, TextBlock) and update.content.annotations is UNSET and update.content.meta is UNSET
    )


def _goes_on(last: Chunk, update: Any) -> bool:
    return type(update) is type(last) and _is_piece(update) and _id(update) == _id(last)


def _id(chunk: Chunk) -> str:
    return chunk.terminal_id if isinstance(chunk, TerminalOutputChunkEvent) else chunk.message_id


def _content(chunk: Chunk) -> Any:
    """The text, or the bytes, of a piece."""
    if isinstance(chunk, TerminalOutputChunkEvent):
        return b64decode(chunk.data)
    assert isinstance(chunk.content, TextBlock)
    return chunk.content.text


def _with(chunk: Chunk, content: Any) -> Chunk:
    if isinstance(chunk, TerminalOutputChunkEvent):
        return msgspec.structs.replace(chunk, data=b64encode(content).decode())
    return msgspec.structs.replace(chunk, content=TextBlock(text=content))


def _whole(pieces: list[Chunk]) -> Chunk:
    if len(pieces) == 1:
        return pieces[0]
    contents = [_content(piece) for piece in pieces]
    return _with(pieces[0], type(contents[0])().join(contents))
