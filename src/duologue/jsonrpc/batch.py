"""One batch array of the peer, from its first member to the one array that answers it."""

from __future__ import annotations


class Batch:
    """Gathers the answers to a batch; it is done when it is read to its end and no request of it is open."""

    __slots__ = ("_answers", "_open")

    def __init__(self) -> None:
        self._answers: list[bytes] = []
        # Reading the array counts as one: an answer that is given meanwhile does not complete it.
        self._open = 1

    def expect(self) -> None:
        """Count one more request that will be answered."""
        self._open += 1

    def add(self, answer: bytes) -> None:
        """Add the answer to a member that was never opened as a request."""
        self._answers.append(answer)

    def settle(self, answer: bytes | None = None) -> bytes | None:
        """Close one request, or the reading; give the whole array once nothing is open and there is any answer."""
        if answer is not None:
            self._answers.append(answer)
        self._open -= 1
        if self._open or not self._answers:
            return None
        return b"[" + b",".join(self._answers) + b"]"
