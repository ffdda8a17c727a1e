"""A client that answers by the kinds it is given, and keeps what it was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from duologue.client import Client, Session
from duologue.client.client import picked
from duologue.protocol.common.permission import (
    CancelledOutcome,
    PermissionOptionKind,
    RequestPermissionOutcome,
)
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import SessionUpdate

T = TypeVar("T")


class Answers(Client):
    """Answers one question after the other with the first option of a kind, and the last kind for ever.

    A kind that is not offered, ``"cancelled"`` among them, is answered with `cancelled`. Raises `ValueError` for
    what is no kind of option.
    """

    name = "answers"

    def __init__(self, *kinds: str) -> None:
        named = PermissionOptionKind.named
        self.kinds = [kind if kind == "cancelled" else named(kind) for kind in kinds or ("allow_once",)]
        self.questions: list[RequestPermissionRequest] = []
        self.updates: list[SessionUpdate] = []

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        self.updates.append(update)

    def of(self, kind: type[T]) -> Sequence[T]:
        """The updates of one class."""
        return [update for update in self.updates if isinstance(update, kind)]

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.questions.append(request)
        kind = self.kinds.pop(0) if len(self.kinds) > 1 else self.kinds[0]
        return picked(request, kind) or CancelledOutcome()
