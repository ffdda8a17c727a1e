"""What permission requests of a session have been answered with yes, and the client has not done yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.local import shell
from duologue.local.rules import Run, Subject, Write

if TYPE_CHECKING:
    from duologue.client.subjects import Matter

#: Answers that are remembered in one session until what they allow is done; then the oldest is forgotten.
GRANTS = 100


class Grants:
    """Answers with yes, each good for one time."""

    def __init__(self) -> None:
        self._given: list[Subject] = []

    def give(self, matter: Matter) -> None:
        """Remember a yes; where it is not certain what it covers, it covers nothing."""
        if matter.certain:
            for subject in matter.subjects:
                parts = [Write((path,), subject.kind) for path in subject.paths] if isinstance(subject, Write) else None
                self._given += parts if parts is not None else [subject]
            del self._given[:-GRANTS]

    def take(self, subject: Subject) -> bool:
        """Whether this was allowed; not a second time."""
        for given in self._given:
            if _same(given, subject):
                self._given.remove(given)
                return True
        return False

    def clear(self) -> None:
        self._given.clear()


def _same(given: Subject, wanted: Subject) -> bool:
    """Commands may be quoted in different ways."""
    if isinstance(given, Run) and isinstance(wanted, Run) and given.cwd == wanted.cwd:
        words = shell.simple_words(given.command)
        return given.command == wanted.command or (words is not None and words == shell.simple_words(wanted.command))
    return given == wanted
