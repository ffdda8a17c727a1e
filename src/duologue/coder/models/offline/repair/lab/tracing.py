"""Which lines of the project each test runs."""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .paths import inside

TESTS = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_tests?|tests|conftest|setup|noxfile)\.py$")

_CACHED = type(functools.lru_cache()(len))

Lines = dict[str, set[int]]


def forget_cached(scratch: str) -> None:
    """Empty the caches of the project's functions: a test answered from one does not run the lines behind it."""
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", None)).startswith(scratch):
            for value in list(vars(module).values()):
                if isinstance(value, _CACHED):
                    value.cache_clear()


class Tracer:
    """Collects lines of files under a folder that are not tests. `only` limits it to some functions."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._known: dict[CodeType, str | None] = {}
        self._now: dict[CodeType, set[int]] = {}
        self._only: set[tuple[str, int]] | None = None

    def limit_to(self, functions: set[tuple[str, int]]) -> None:
        """From now on look only at functions (file, first line) that matter."""
        self._only = functions
        self._known.clear()

    def around(self, work: Callable[[], Any]) -> tuple[Any, dict[tuple[str, int], set[int]]]:
        """Run, and give the lines by function (file, first line)."""
        self._now = {}
        forget_cached(self._scratch)
        before = sys.gettrace()
        sys.settrace(self._enter)
        threading.settrace(self._enter)
        try:
            value = work()
        finally:
            sys.settrace(before)
            threading.settrace(None)
        return value, {(self._known[code] or "", code.co_firstlineno): lines for code, lines in self._now.items()}

    def so_far(self) -> dict[tuple[str, int], set[int]]:
        """The lines of the run that is under way."""
        return {(self._known[code] or "", code.co_firstlineno): set(lines) for code, lines in self._now.items()}

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._path(code)
        if self._known[code] is None:
            return None
        lines = self._now.setdefault(code, set())

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return step

        return step

    def relative(self, path: str) -> str:
        return inside(self._scratch, path) or path

    def _path(self, code: CodeType) -> str | None:
        relative = inside(self._scratch, code.co_filename)
        if relative is None or TESTS.search(relative):
            return None
        if self._only is not None and (relative, code.co_firstlineno) not in self._only:
            return None
        return relative


def merged(parts: dict[tuple[str, int], set[int]]) -> Lines:
    lines: Lines = {}
    for (path, _), numbers in parts.items():
        lines.setdefault(path, set()).update(numbers)
    return lines
