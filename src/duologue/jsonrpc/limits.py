"""Every limit of a connection, with its default, in one frozen value."""

from __future__ import annotations

import msgspec

KIB = 1024
MIB = 1024 * KIB
#: Decoders recurse, and this depth is safe on every interpreter.
MAX_DEPTH = 500


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a connection accepts, keeps and queues at most. Every limit is a whole number above zero.

    Raises `ValueError` for anything else. A limit is changed by name: ``Limits(message_bytes=1024 * 1024)``.
    """

    #: Bytes of one message: one line, without its line feed. A longer line is skipped and answered with an error.
    message_bytes: int = 128 * MIB
    #: Nesting of arrays and objects in one message, the message itself included.
    depth: int = 200
    #: Bytes of one request id, as it is written in JSON.
    id_bytes: int = KIB
    #: Members of one batch array.
    batch_members: int = 4096
    #: Requests of this side that wait for an answer.
    pending_requests: int = 4096
    #: Requests of the peer that wait for an answer.
    inbound_requests: int = 4096
    #: Messages queued for handlers before reading pauses.
    undelivered: int = 1024
    #: Bytes of messages queued for handlers before the connection is closed with an error.
    inbound_bytes: int = 256 * MIB
    #: Bytes that wait to be written. Beyond it one more message raises `LimitError`, and one more answer ends the
    #: connection; the engine gives no more answers to broken input.
    outbound_bytes: int = 64 * MIB

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"Limits.{name} must be a whole number above zero, not {value!r}")
        if self.depth > MAX_DEPTH:
            raise ValueError(f"Limits.depth must be at most {MAX_DEPTH}, not {self.depth}: decoders recurse")
