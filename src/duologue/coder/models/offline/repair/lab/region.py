"""Which edits are worth a trial: candidates on the lines that failing tests run, most suspicious first."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import NamedTuple

from duologue.coder.models.offline.repair.lab.survey import Survey
from duologue.coder.models.offline.repair.lab.tracing import TESTS
from duologue.coder.models.offline.repair.mutate.candidates import candidate_edits
from duologue.coder.models.offline.repair.mutate.source import FUNCTIONS, Edit, Source
from duologue.coder.models.offline.repair.mutate.vocabulary import Vocabulary


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
        touched = {path for path, _ in survey.some} | set(survey.imported)
        for path in sorted(touched):
            source = self._load(path)
            if source is not None:
                self.sources[path] = source
        trees = [source.tree for source in self.sources.values()]
        self.words = Vocabulary([*trees, *_test_trees(scratch)])

    def _load(self, path: str) -> Source | None:
        try:
            with open(os.path.join(self.scratch, path), encoding="utf-8-sig", newline="") as file:
                return Source(path, file.read())
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
        """Edits of what runs at import only: constants, defaults, class bodies. Names the failing code uses come first."""
        loaded = _lines_of_statements(source, self.survey.imported.get(source.path, set()))
        lines = {line: head for line, head in loaded.items() if line not in tried}
        used = self._used_names()
        for edit in candidate_edits(source, lines, self.words, bounds=bounds):
            share = 0.4 if _binds(source, edit.line) & used else 0.05
            yield Suspect(edit, True, share * edit.weight)

    def _used_names(self) -> set[str]:
        names: set[str] = set()
        for path, source in self.sources.items():
            run = {line for file, line in self.survey.some if file == path}
            for node in ast.walk(source.tree):
                if getattr(node, "lineno", 0) in run:
                    names |= {getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "name", "")}
        return names - {""}


def _binds(source: Source, line: int) -> set[str]:
    """The names that the top statement on a line binds, also as a method or a class variable."""
    names: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.lineno <= line <= (node.end_lineno or 0):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.lineno <= line <= (
            node.end_lineno or 0
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)}
    return names


def _lines_of_statements(source: Source, run: set[int]) -> dict[int, int]:
    """All lines of the statements that ran, each with the line that the tracer saw; bodies do not count as their header."""
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
    for folder, _, files in os.walk(scratch):
        for name in files:
            path = os.path.join(folder, name)
            if not name.endswith(".py") or not TESTS.search(os.path.relpath(path, scratch)):
                continue
            budget -= os.path.getsize(path)
            if budget < 0:
                return
            try:
                with open(path, encoding="utf-8") as file:
                    yield ast.parse(file.read())
            except (OSError, SyntaxError, ValueError):
                continue
