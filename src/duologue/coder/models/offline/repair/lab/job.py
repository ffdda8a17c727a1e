"""What the lab is asked, and how it answers."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

#: The result is a message from program to program (an "application program command" of ECMA-48), which terminals do
#: not show: people see what `say` tells them.
RESULT, END = "\x1b_lab-result ", "\x1b\\"


@dataclass
class Job:
    """Times are seconds. `failing` are tests known to fail, or none for: find out. `roots` precede the module path."""

    kind: str
    root: str
    roots: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    start: str = "."
    failing: list[str] = field(default_factory=list)
    seconds: float = 60.0
    hanging: float = 10.0
    most_bytes: int = 300_000_000
    finalists: int = 8
    began: float = field(default_factory=time.monotonic)

    def left(self, share: float = 1.0) -> float:
        """Seconds until a share of the time is used up."""
        return self.began + self.seconds * share - time.monotonic()


def say(text: str) -> None:
    print(text, flush=True)


def answer(result: dict[str, Any]) -> None:
    print(RESULT + json.dumps(result) + END, flush=True)


def result_in(output: str) -> dict[str, Any] | None:
    """The result in what a lab printed; None when there is none. The project's own tests may print anything before."""
    _, found, rest = output.rpartition(RESULT)
    told, ended, _ = rest.partition(END)
    return dict(json.loads(told)) if found and ended else None
