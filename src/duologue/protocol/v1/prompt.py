"""Turns of version 1."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe
from duologue.protocol.common.ids import SessionId
from duologue.protocol.common.prompt import StopReason, Usage
from duologue.protocol.v1.content import ContentBlock


class PromptRequest(Extensible, kw_only=True):
    """Gives the agent a prompt; the turn lasts until the response."""

    session_id: SessionId
    prompt: list[ContentBlock]


class PromptResponse(Extensible, kw_only=True):
    """Why the turn ended."""

    stop_reason: StopReason
    usage: Maybe[Usage] = UNSET


class CancelNotification(Extensible, kw_only=True):
    """Asks the agent to end the turn soon."""

    session_id: SessionId
