"""What a session may do: the rules of a person, the mode of the session, and the question to the client."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import UNSET

from duologue.agent import default_options
from duologue.coder.acp_events import Stage
from duologue.coder.acp_options import ASK
from duologue.coder.events import PermissionAnswer, PermissionQuestion
from duologue.coder.permissions import PermissionStore
from duologue.local.rules import Effect, Rule, Subject

#: Answers by the ids of `default_options`.
ANSWERS: dict[str, PermissionAnswer] = {
    "allow_once": "allow_once",
    "allow_always": "allow_always",
    "reject_once": "reject_once",
    "reject_always": "reject_always",
}


class SessionPermissions(PermissionStore):
    """The shared rules behind the mode of one session: in a mode other than "ask" nothing is allowed, whatever a rule
    says. The mode is asked for at each call, since it may change while a turn runs."""

    def __init__(self, shared: PermissionStore, mode: Callable[[], str]) -> None:
        super().__init__()
        self._shared = shared
        self._mode = mode

    def decide(self, subject: Subject, project: Path) -> Effect | None:
        return self._shared.decide(subject, project) if self._mode() == ASK else "reject"

    def allowing(self, subject: Subject, project: Path) -> Rule | None:
        return self._shared.allowing(subject, project)

    def remember(self, rules: Iterable[Rule]) -> None:
        self._shared.remember(rules)


async def ask_client(stage: Stage, question: PermissionQuestion) -> PermissionAnswer:
    """Ask the client about a call that it was told of. An answer that is not understood is a refusal."""
    permission = await stage.voice.ask_permission(
        question.title,
        subject=stage.subject(question),
        description=question.description or UNSET,
        options=default_options(question.scope or None),
    )
    if permission.cancelled:
        return "cancelled"
    return "reject_once" if permission.option is None else ANSWERS[permission.option.option_id]
