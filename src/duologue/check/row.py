"""A requirement of the protocol as a small frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from duologue.check.reason import Reason
from duologue.protocol.method import AGENT, BOTH, CLIENT, Side

__all__ = ["AGENT", "BOTH", "CLIENT", "Level", "Row", "row"]


class Level(StrEnum):
    """How strongly something is demanded. A shape is what the schema or the prose states without such a word."""

    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    MAY = "MAY"
    SHAPE = "SHAPE"


@dataclass(frozen=True)
class Row:
    """One requirement. Its id says the version (`v1`, `v2` or `all`), `u` for what is not stable, and the area.

    `sides` are those it binds, `page` where the specification has it; `inferred`: no source says it in so many words.
    `agent` and `client` say why the check does not judge that side; None where it does.
    """

    id: str
    sides: frozenset[Side]
    level: Level
    page: str
    text: str
    inferred: bool = False
    agent: Reason | None = None
    client: Reason | None = None

    @property
    def area(self) -> str:
        return self.id.split("-")[1]

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the protocol versions it holds for."""
        return {"all": (1, 2), "v1": (1,), "v2": (2,)}[self.id.split("-", 1)[0].rstrip("u")]

    @property
    def stable(self) -> bool:
        return not self.id.split("-", 1)[0].endswith("u")

    @property
    def binding(self) -> bool:
        """Whether breaking it is a failure; otherwise it is worth a warning."""
        return not self.inferred and self.level in {Level.MUST, Level.MUST_NOT, Level.SHAPE}

    def unjudged(self, side: Side) -> Reason | None:
        """Why the check does not judge it on that side."""
        return self.agent if side is Side.AGENT else self.client


def row(
    id: str,
    sides: frozenset[Side],
    level: str,
    page: str,
    text: str,
    *,
    inferred: bool = False,
    agent: Reason | None = None,
    client: Reason | None = None,
) -> Row:
    """A row with its level as a plain word. Raises `ValueError` for a word that is no level."""
    return Row(id, sides, Level(level), page, text, inferred, agent, client)
