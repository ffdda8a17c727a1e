"""Session updates that are the same in both versions."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, UInt64, only_v2
from duologue.protocol.common.plan import PlanRemoved


class Cost(Extensible, kw_only=True):
    """Money spent so far, with its ISO 4217 currency."""

    amount: float
    currency: Annotated[str, only_v2(pattern="^[A-Z]{3}$")]


class SessionInfoUpdate(Extensible, kw_only=True):
    """New facts about a session; an absent member stays as it was, null clears it."""

    title: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET


class UsageUpdate(Extensible, kw_only=True):
    """How full the context window is, in tokens."""

    used: UInt64
    size: UInt64
    cost: Maybe[Cost] = UNSET


class PlanRemovedEvent(PlanRemoved, tag_field="sessionUpdate", tag="plan_removed", kw_only=True):
    """A plan no longer counts."""


class SessionInfoUpdateEvent(SessionInfoUpdate, tag_field="sessionUpdate", tag="session_info_update", kw_only=True):
    """The session has a new title or date."""


class UsageUpdateEvent(UsageUpdate, tag_field="sessionUpdate", tag="usage_update", kw_only=True):
    """The context window's fill or the cost has changed."""
