"""Whether a session works, waits or rests."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import SECOND_TAG, Extensible, Maybe
from duologue.protocol.common.prompt import StopReason, Usage


class RunningStateUpdate(Extensible, kw_only=True):
    """The agent is at work."""


class IdleStateUpdate(Extensible, kw_only=True):
    """The agent is at rest; tells why the last turn ended."""

    stop_reason: Maybe[StopReason] = UNSET
    usage: Maybe[Usage] = UNSET


class RequiresActionStateUpdate(Extensible, kw_only=True):
    """The agent waits for the user."""


class SessionState(StrEnum):
    """The second tag of a state update. Closed: other states make the whole update an `Unknown`."""

    RUNNING = "running"
    IDLE = "idle"
    REQUIRES_ACTION = "requires_action"


class StateUpdate(Extensible, kw_only=True):
    """The three updates above in one struct, since a struct has room for one tag and the session update takes it.

    `stop_reason` and `usage` belong to the idle state.
    """

    state: Annotated[SessionState, SECOND_TAG]
    stop_reason: Maybe[StopReason] = UNSET
    usage: Maybe[Usage] = UNSET
