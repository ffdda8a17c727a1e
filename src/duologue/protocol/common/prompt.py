"""What a turn used and why it ended."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum, UInt64


class StopReason(OpenEnum):
    """Why a turn ended."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


class Usage(Extensible, kw_only=True):
    """The tokens that a turn took."""

    total_tokens: UInt64
    input_tokens: UInt64
    output_tokens: UInt64
    thought_tokens: Maybe[UInt64] = UNSET
    cached_read_tokens: Maybe[UInt64] = UNSET
    cached_write_tokens: Maybe[UInt64] = UNSET
