"""Turns of version 2."""

from __future__ import annotations

from duologue.protocol.base import Extensible
from duologue.protocol.common.ids import SessionId
from duologue.protocol.v2.content import ContentBlock


class PromptRequest(Extensible, kw_only=True):
    """Gives the agent a prompt."""

    session_id: SessionId
    prompt: list[ContentBlock]


class PromptResponse(Extensible, kw_only=True):
    """The prompt is accepted; how its turn goes comes as updates."""


class CancelSessionNotification(Extensible, kw_only=True):
    """Asks the agent to end the turn soon."""

    session_id: SessionId
