"""Which statements that run at import can matter to code that runs later, judged by names in their scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from duologue.coder.models.offline.repair.mutate.names import bound_names
from duologue.coder.models.offline.repair.mutate.source import FUNCTIONS, Source


class Unit(NamedTuple):
    """A statement outside of functions, a function's head, or the body of one that runs at import."""

    path: str
    first: int
    last: int
    owner: str
    binds: frozenset[str]
    reads: Reads


class Reads(NamedTuple):
    """What code takes from outside of its function: names of the module, and attributes."""

    names: frozenset[str]
    attributes: frozenset[str]


class Needs:
    """What is needed so far: names by module, names that modules take from each other, and attributes of classes."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._taken = {path: _taken(source) for path, source in sources.items()}
        self._names: dict[str, set[str]] = {path: set() for path in sources}
        self._own = {path: bound_names(source.tree) | self._taken[path] for path, source in sources.items()}
        self._shared: set[str] = set()
        self._attributes: set[str] = set()

    def add(self, path: str, reads: Reads) -> None:
        names = (reads.names & self._own[path]) - self._names[path]
        self._names[path] |= names
        self._shared |= names & self._taken[path]
        self._attributes |= reads.attributes

    def cover(self, unit: Unit, run: Mapping[str, Unit]) -> bool:
        """True if the unit makes something that is needed, or changes it in place."""
        wanted = self._names[unit.path] | self._shared
        if unit.owner:
            special = any(name.startswith("__") and name.endswith("__") for name in unit.binds) and unit.owner in wanted
            return special or bool(unit.binds & self._attributes)
        if unit.binds:
            return bool(unit.binds & (wanted | self._attributes))
        called = [run[name] for name in unit.reads.names | unit.reads.attributes if name in run]
        return bool(unit.reads.names & wanted) or any(other.reads.names & self._names[other.path] for other in called)


def noticed(
    sources: Mapping[str, Source], imported: Mapping[str, set[int]], executed: Mapping[str, set[int]]
) -> dict[str, list[tuple[int, int]]]:
    """Line ranges of what the executed lines need from import time, directly or through others."""
    needs = Needs(sources)
    units: list[Unit] = []
    run: dict[str, Unit] = {}
    for path, source in sources.items():
        needs.add(path, _reads(source, _nodes_on(source, executed.get(path, set()))))
        bodies = list(_run_bodies(source, imported.get(path, set())))
        run.update({name: unit for unit in bodies for name in unit.binds})
        units += [*_units(source, source.tree.body, ""), *bodies]
    found: dict[str, list[tuple[int, int]]] = {}
    while True:
        fresh = [unit for unit in units if needs.cover(unit, run)]
        if not fresh:
            return found
        for unit in fresh:
            needs.add(unit.path, unit.reads)
            found.setdefault(unit.path, []).append((unit.first, unit.last))
        taken = set(map(id, fresh))
        units = [unit for unit in units if id(unit) not in taken]


def _taken(source: Source) -> set[str]:
    """Names that a module has from others by `from ... import`."""
    found: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} | {alias.asname or "" for alias in node.names}
    return found


def _nodes_on(source: Source, lines: set[int]) -> Iterator[ast.AST]:
    return (node for node in ast.walk(source.tree) if getattr(node, "lineno", 0) in lines)


def _reads(source: Source, nodes: Iterable[ast.AST]) -> Reads:
    names: set[str] = set()
    attributes: set[str] = set()
    local: dict[ast.AST, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        elif isinstance(node, ast.Name) and not _is_local(source, node, local):
            names.add(node.id)
    return Reads(frozenset(names), frozenset(attributes))


def _is_local(source: Source, node: ast.Name, local: dict[ast.AST, set[str]]) -> bool:
    scope = source.scope_of(node)
    while not isinstance(scope, ast.Module):
        if not isinstance(scope, ast.ClassDef):
            if scope not in local:
                local[scope] = bound_names(scope)
            if node.id in local[scope]:
                return True
        scope = source.scope_of(scope)
    return False


def _units(source: Source, body: Sequence[ast.stmt], owner: str) -> Iterator[Unit]:
    for node in body:
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        if isinstance(node, ast.ClassDef):
            reads = _reads(source, _below([*node.decorator_list, *node.bases, *node.keywords]))
            yield Unit(source.path, first, node.body[0].lineno - 1, owner, frozenset((node.name,)), reads)
            yield from _units(source, node.body, node.name)
        elif isinstance(node, FUNCTIONS):
            reads = _reads(source, _below([*node.decorator_list, node.args]))
            yield Unit(source.path, first, node.body[0].lineno, owner, frozenset((node.name,)), reads)
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            reads = _reads(source, _below([node]))
            yield Unit(source.path, first, node.end_lineno or first, owner, frozenset(_binds(node)), reads)


def _below(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)


def _run_bodies(source: Source, run: set[int]) -> Iterator[Unit]:
    """Functions that run at import, for example to fill a table."""
    for node in ast.walk(source.tree):
        if isinstance(node, FUNCTIONS) and run.intersection(range(node.body[0].lineno, (node.end_lineno or 0) + 1)):
            first, last = node.body[0].lineno, node.end_lineno or node.lineno
            yield Unit(
                source.path, first, last, "", frozenset((node.name,)), _reads(source, _below([node.args, *node.body]))
            )


def _binds(node: ast.AST) -> Iterator[str]:
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            yield item.id
        elif isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store):
            yield item.attr
        elif isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Store) and isinstance(item.value, ast.Name):
            yield item.value.id
