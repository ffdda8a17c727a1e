"""What the library warns of, as lines of a run."""

from __future__ import annotations

import logging

from duologue.cli.screen import Screen, printable


class Notes(logging.Handler):
    """Prints warnings on a screen."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.WARNING)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.line(printable(self.format(record)), "dim")
