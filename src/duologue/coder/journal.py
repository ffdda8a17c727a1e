"""What the turns of a session did to files, so that the last of them can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

# A file's content: text, bytes that are no text, or None where there is no file.
Content = str | bytes | None


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after. `real` is where `path` led when this was planned, `mode` what a file has that goes or
    comes as it is."""

    path: Path
    real: Path
    before: Content
    after: Content
    mode: int | None = None

    @property
    def size(self) -> int:
        return len(self.before or "") + len(self.after or "")

    @property
    def whole(self) -> bool:
        """Whether the file itself goes or comes, with its mode: a matter of the disk, not of an editor's text."""
        return self.mode is not None

    def reversed(self) -> Change:
        return replace(self, before=self.after, after=self.before)


class Journal:
    """The changes of each turn, oldest first; beyond `limit` characters or bytes the oldest turns are forgotten."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turns: list[list[Change]] = []

    def begin_turn(self) -> None:
        if not self._turns or self._turns[-1]:
            self._turns.append([])

    def record(self, change: Change) -> None:
        """Note a change before it is made, so that nothing on the disk is unknown here."""
        if not self._turns:
            self._turns.append([])
        self._turns[-1].append(change)
        while self._size() > self._limit and len(self._turns) > 1:
            del self._turns[0]

    def take_back(self, change: Change) -> None:
        """Forget a change that could not be made."""
        self._turns[-1].remove(change)

    def _size(self) -> int:
        return sum(change.size for turn in self._turns for change in turn)

    def last(self) -> tuple[Change, ...]:
        """The newest turn with changes: each file's first state and last, without files that came back to the first."""
        return next((changes for turn in reversed(self._turns) if (changes := _merged(turn))), ())

    def forget(self, real: Path) -> None:
        """Drop what `last` gave of a file, after it was undone."""
        turn = next((turn for turn in reversed(self._turns) if _merged(turn)), [])
        turn[:] = [change for change in turn if change.real != real]


def _merged(turn: Sequence[Change]) -> tuple[Change, ...]:
    merged: dict[Path, Change] = {}
    for change in turn:
        first = merged.get(change.real, change)
        mode = change.mode if first.mode is None else first.mode
        merged[change.real] = replace(change, before=first.before, mode=mode)
    return tuple(change for change in merged.values() if change.before != change.after)
