"""Put an edit of what runs at import into loaded modules, by running the statements that depend on it again.

That is quick, and right as long as nobody else kept an object that would come out different. Where another module keeps
one at import (a subclass, a decorator's argument, a constant made from it), it says `CannotSwap`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import NamedTuple

from ..mutate.source import FUNCTIONS, Edit, Source
from .paths import full, inside, text_of
from .swapping import CannotSwap, compiled_part, first_line


class Rerun(NamedTuple):
    """A statement, what runs before and after it, and the names that come out different; all others are put back."""

    node: ast.stmt
    before: CodeType
    after: CodeType
    changed: frozenset[str]


class Modules:
    """The loaded modules of a scratch copy, and what each mentions while it is imported."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self.loaded: dict[str, ModuleType] = {}
        self._mentions: dict[str, frozenset[str]] = {}
        self._plans: dict[tuple[str, int], Rerun | None] = {}
        for module in list(sys.modules.values()):
            path = inside(scratch, getattr(module, "__file__", None) or "<none>")
            if isinstance(module, ModuleType) and path is not None and path.endswith(".py"):
                self.loaded[path] = module
                self._mentions[path] = _mentioned_at_import(scratch, path)

    def plan(self, source: Source, edit: Edit) -> Rerun | None:
        """What has to run again for edits of one statement; None if that is not enough. Made once a statement."""
        index = next(
            (i for i, node in enumerate(source.tree.body) if first_line(node) <= edit.line <= (node.end_lineno or 0)),
            -1,
        )
        key = (source.path, index)
        if key not in self._plans:
            self._plans[key] = self._planned(source, index)
        return self._plans[key]

    def _planned(self, source: Source, index: int) -> Rerun | None:
        if index < 0 or source.path not in self.loaded:
            return None
        rest, changed, whole = _dependents(source, index)
        kept = frozenset().union(*(found for path, found in self._mentions.items() if path != source.path))
        if _affected(source, changed) & kept:
            return None
        body = source.tree.body
        before = self._code(source, body[:index] if whole else [])
        after = self._code(source, body[index + 1 :] if whole else [body[other] for other in rest])
        return Rerun(body[index], before, after, changed)

    def _code(self, source: Source, body: list[ast.stmt]) -> CodeType:
        code: CodeType = compile(ast.Module(body, []), full(self._scratch, source.path), "exec", dont_inherit=True)
        return code

    def transplant(self, source: Source, edit: Edit) -> None:
        """Make the edit live; raises `CannotSwap`, or what the module raises when its statements run."""
        rerun = self.plan(source, edit)
        if rerun is None:
            raise CannotSwap
        module = self.loaded[source.path]
        old = dict(module.__dict__)
        for code in (rerun.before, compiled_part(self._scratch, source, edit, rerun.node), rerun.after):
            exec(code, module.__dict__)
        module.__dict__.update({name: value for name, value in old.items() if name not in rerun.changed})
        self._hand_on(module, old)

    def _hand_on(self, changed: ModuleType, before: dict[str, object]) -> None:
        """Give the new objects to modules that had taken the old ones by `from ... import`."""
        after = changed.__dict__
        renewed = {id(old): name for name, old in before.items() if name in after and after[name] is not old}
        for module in self.loaded.values():
            if module is changed:
                continue
            for name, value in list(module.__dict__.items()):
                origin = renewed.get(id(value))
                if origin is not None and not name.startswith("__") and before[origin] is value:
                    module.__dict__[name] = after[origin]


def _dependents(source: Source, first: int) -> tuple[list[int], frozenset[str], bool]:
    """Other statements to run again, the names that change, and whether it takes the whole module.

    A statement that binds nothing, such as a call that fills a table, may change all that it reaches. To run it again,
    the table has to be made again, so the whole module runs.
    """
    body = source.tree.body
    reach: list[frozenset[str]] = source.once("reach", lambda: [_reach(source, node) for node in body])
    bound: list[frozenset[str]] = source.once("bound by", lambda: [frozenset(_bound(node)) for node in body])
    changed = set(bound[first] or reach[first])
    chosen, whole, before = {first}, not bound[first], -1
    while len(changed) != before:
        before = len(changed)
        for index in range(0 if whole else first + 1, len(body)):
            if reach[index] & changed:
                chosen.add(index)
                changed |= bound[index] or reach[index]
                whole = whole or not bound[index]
    return sorted(chosen - {first}), frozenset(changed), whole


def _reach(source: Source, node: ast.stmt) -> frozenset[str]:
    """Names of the module that a statement mentions while it runs, itself or in functions that it mentions."""
    bodies: dict[str, frozenset[str]] = source.once("bodies", lambda: _bodies(source.tree))
    known: frozenset[str] = source.once("all bound", lambda: _all_bound(source))
    mentions = _import_names(node)
    return mentions.union(*(bodies.get(name, frozenset()) for name in mentions)) & known


def _bodies(tree: ast.Module) -> dict[str, frozenset[str]]:
    return {node.name: _all_names(node) for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
        return
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            yield item.id
        elif isinstance(item, (*FUNCTIONS, ast.ClassDef)):
            yield item.name
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in item.names)


def _all_names(node: ast.AST) -> frozenset[str]:
    return frozenset({getattr(item, "id", "") or getattr(item, "attr", "") for item in ast.walk(node)} - {""})


def _import_names(node: ast.AST) -> frozenset[str]:
    """Names a statement mentions while it runs at import: not those inside of functions, which run later."""
    found: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        item = pending.pop()
        if isinstance(item, FUNCTIONS):
            pending += [*item.decorator_list, item.args, *([item.returns] if item.returns else [])]
            continue
        if isinstance(item, ast.Lambda):
            pending.append(item.args)
            continue
        found |= {getattr(item, "id", ""), getattr(item, "attr", "")}
        pending += ast.iter_child_nodes(item)
    return frozenset(found - {""})


def _mentioned_at_import(scratch: str, path: str) -> frozenset[str]:
    try:
        tree = ast.parse(text_of(scratch, path))
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset().union(*(_import_names(node) for node in tree.body))


def _affected(source: Source, names: frozenset[str]) -> frozenset[str]:
    """Names that change, and functions that would do something else because of it."""
    bodies: dict[str, frozenset[str]] = source.once("bodies", lambda: _bodies(source.tree))
    found, before = set(names), -1
    while len(found) != before:
        before = len(found)
        found |= {name for name, mentions in bodies.items() if mentions & found}
    return frozenset(found)


def _all_bound(source: Source) -> frozenset[str]:
    return frozenset(name for node in source.tree.body for name in _bound(node))
