"""Why a requirement was not judged: a closed list, so that a report leaves nothing unexplained."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """`value` is the text for a person."""

    # What a person has to do.
    SCREEN = "only a person at the screen sees it"
    READING = "a person reads the documentation"
    LOGIN = "needs an account to log in with"
    MODEL = "needs a model that obeys"
    RECORDING = "a person reads the recorded messages"

    # What no check of a running program over stdio can tell.
    INSIDE = "happens inside of the program and does not show on the wire"
    OTHER_SIDE = "only the other side can do it wrong"
    FREEDOM = "allows something and demands nothing"
    TRANSPORT = "concerns transports other than stdio"
    ROLE = "concerns proxies, conductors and bridges"
    NOISE = "clients may pass over in silence what agents print by mistake"
    GIVEN = "the check itself rests on it"

    # What turned out during a run.
    CAPABILITY = "the capability is not offered"
    NOT_OBSERVED = "not observed"
    BUILDS_ON = "what it builds on failed"
    CONFUSED = "the check could not make sense of what it saw (its log has more)"

    @property
    def by_hand(self) -> bool:
        """Whether a person can judge what the check cannot."""
        return self in _BY_HAND


_BY_HAND = frozenset({Reason.SCREEN, Reason.READING, Reason.LOGIN, Reason.MODEL, Reason.RECORDING})
