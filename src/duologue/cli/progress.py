"""How far a check has come: a line of a terminal that changes, or lines for who reads a file or a pipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from duologue.cli.screen import Screen


class Line:
    """One line on a terminal, with the probe that was begun last."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._total = 0

    def planned(self, version: int, areas: Mapping[str, int]) -> None:
        self._total = sum(areas.values())

    def begun(self, version: int, number: int, name: str) -> None:
        self.end()
        self._screen.write(f"version {version}: {number}/{self._total} {name.replace('_', ' ')}")

    def ended(self, version: int, area: str) -> None:
        """Nothing to say: the next one is begun at once."""

    def end(self) -> None:
        """Take the line away."""
        self._screen.write("\r\x1b[K")


class Lines:
    """A line for each version, and for each area whose probes have all ended."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._left: Counter[str] = Counter()
        self._areas: Mapping[str, int] = {}
        self._total = 0

    def planned(self, version: int, areas: Mapping[str, int]) -> None:
        self._areas, self._left, self._total = areas, Counter(areas), sum(areas.values())
        self._screen.line(f"version {version}: {self._total} probes in {len(areas)} areas")

    def begun(self, version: int, number: int, name: str) -> None:
        """Told by area, when all of it is done."""

    def ended(self, version: int, area: str) -> None:
        self._left[area] -= 1
        if not self._left[area]:
            done = self._total - self._left.total()
            self._screen.line(f"version {version}: {area} ({self._areas[area]}), {done} of {self._total} done")

    def end(self) -> None:
        """Each line stands."""
