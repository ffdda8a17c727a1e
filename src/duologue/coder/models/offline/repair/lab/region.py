"""Which edits are worth a trial: candidates on the lines that failing tests run, most suspicious first."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..mutate.candidates import candidate_edits
from ..mutate.source import Edit, Source
from ..mutate.vocabulary import TYPO, Vocabulary
from .paths import text_of
from .relevance import Noticed, noticed
from .survey import Survey
from .tracing import TESTS

# Tables that are filled at import offer far too many edits to try those that hardly anyone would mistype.
LEAST_AT_IMPORT = 0.35
LEAST_IN_TABLES = 0.75
TABLE_SCORE = 0.3


class Suspect(NamedTuple):
    """An edit to try. `cold` means that the line also runs at import, so the module has to be loaded again."""

    edit: Edit
    cold: bool
    score: float


class Region:
    """The sources of a scratch copy, and the suspects in them."""

    def __init__(self, scratch: str, survey: Survey) -> None:
        self.scratch = scratch
        self.survey = survey
        self.sources: dict[str, Source] = {}
        self._relevant: dict[str, list[Noticed]] | None = None
        touched = {path for path, _ in survey.some} | set(survey.imported)
        for path in sorted(touched):
            source = self._load(path)
            if source is not None:
                self.sources[path] = source
        trees = [source.tree for source in self.sources.values()]
        self.words = Vocabulary([*trees, *_test_trees(scratch)])

    def _load(self, path: str) -> Source | None:
        try:
            return Source(path, text_of(self.scratch, path))
        except (OSError, SyntaxError, ValueError):
            return None

    def suspects(self, *, bounds: bool = False, strict: bool = True) -> list[Suspect]:
        """Edits in the order of trial; `strict` keeps to lines that every failing test runs."""
        places = self.survey.common if strict else self.survey.some - self.survey.common
        found: list[Suspect] = []
        for path, source in self.sources.items():
            run = {line for file, line in places if file == path}
            loaded = self.survey.imported.get(path, set())
            live = _lines_of_statements(source, run)
            for edit in candidate_edits(source, live, self.words, bounds=bounds):
                line = live[edit.line]
                cold = edit.line in loaded or line in loaded
                found.append(Suspect(edit, cold, self._score(path, edit, line)))
            if strict:
                found.extend(self._loaded(source, set(live), bounds))
        return sorted(found, key=lambda suspect: (-suspect.score, suspect.edit.line))

    def _score(self, path: str, edit: Edit, line: int) -> float:
        own = self.survey.score((path, edit.line)) if (path, edit.line) in self.survey.some else 0.0
        return max(own, self.survey.score((path, line))) * edit.weight

    def _loaded(self, source: Source, tried: set[int], bounds: bool) -> Iterator[Suspect]:
        """Edits of what runs at import only (constants, defaults, class bodies), if the failing code can notice."""
        run = self.survey.imported.get(source.path, set())
        places = self._at_import(source.path)
        lines = {line for line in _lines_of_statements(source, run) if line not in tried and line in places}
        for edit in candidate_edits(source, lines, self.words, bounds=bounds):
            score, table = places[edit.line]
            if edit.weight > (LEAST_IN_TABLES if table else LEAST_AT_IMPORT):
                yield Suspect(edit, True, score * edit.weight)

    def _at_import(self, path: str) -> dict[int, tuple[float, bool]]:
        """How suspicious a line is that runs at import, by the passing tests that need it; and if it is in a table."""
        if self._relevant is None:
            cover = {place: self.survey.cover.get(place, set()) for place in self.survey.some}
            self._relevant = noticed(self.sources, self.survey.imported, cover)
        found: dict[int, tuple[float, bool]] = {}
        for part in self._relevant.get(path, ()):
            needed = 1 + len(part.passing) / max(1, len(self.survey.failing))
            score = max(0.9 / math.sqrt(needed), TABLE_SCORE if part.table else 0.0)
            for line in range(part.first, part.last + 1):
                found[line] = max(found.get(line, (0.0, False)), (score, part.table))
        return found


def sure(crashes: set[tuple[str, int, str]], source: Source, edit: Edit) -> bool:
    """True where the error itself names the token: a misspelling, an unknown name, an operator that the values lack."""
    old = source.text[edit.start : edit.end]
    errors = [error for path, line, error in crashes if path == edit.path and line == edit.line]
    named = f"name '{old}' is not defined"
    unsupported = re.compile(rf"unsupported operand type\(s\) for {re.escape(old)}(?: or \S+)?:")
    operator = edit.kind == "arithmetic" and any(unsupported.search(error) for error in errors)
    return edit.kind == TYPO or operator or (edit.kind == "name" and any(named in error for error in errors))


def _lines_of_statements(source: Source, run: set[int]) -> dict[int, int]:
    """All lines of the statements that ran, each with the line that the tracer saw; a header is not its body."""
    found: dict[int, int] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt):
            first, last = _header(node)
            seen = next((line for line in range(first, last + 1) if line in run), None)
            if seen is not None:
                found.update((line, line if line in run else seen) for line in range(first, last + 1))
    return found


def _header(node: ast.stmt) -> tuple[int, int]:
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return first, node.end_lineno or first
    return first, max(first, body[0].lineno - (0 if body[0].lineno == node.lineno else 1))


def _test_trees(scratch: str) -> Iterator[ast.AST]:
    budget = 4_000_000
    for path in sorted(Path(scratch).rglob("*.py")):
        relative = path.relative_to(scratch).as_posix()
        budget -= path.stat().st_size if TESTS.search(relative) else 0
        if budget < 0:
            return
        try:
            if TESTS.search(relative):
                yield ast.parse(text_of(scratch, relative))
        except (OSError, SyntaxError, ValueError):
            continue
