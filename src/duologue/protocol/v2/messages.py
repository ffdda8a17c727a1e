"""Envelopes that only version 2 names."""

from __future__ import annotations

from duologue.protocol.common.messages import NotificationMessage


class ProtocolLevelNotification(NotificationMessage, kw_only=True):
    """A notification that either side sends, about the protocol itself."""
