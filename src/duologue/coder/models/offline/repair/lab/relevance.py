"""Which statements that run at import can matter to code that runs later, judged by names in their scopes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..mutate.names import bound_names
from ..mutate.source import FUNCTIONS, Source


class Unit(NamedTuple):
    """A statement outside of functions, a function's head, or the body of one that runs at import."""

    path: str
    first: int
    last: int
    owner: str
    binds: frozenset[str]
    reads: Reads
    table: bool = False


class Reads(NamedTuple):
    """What code takes from outside of its function: names of the module, and attributes."""

    names: frozenset[str]
    attributes: frozenset[str]


class Noticed(NamedTuple):
    """Lines that matter, and the passing tests that need what they make; of a `table` each may need another row."""

    first: int
    last: int
    passing: frozenset[str]
    table: bool


class Needs:
    """What is needed so far, each with the passing tests that need it.

    Names by module, names that modules take from each other, and attributes of classes.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._taken = {path: _taken(source) for path, source in sources.items()}
        self._own = {path: bound_names(source.tree) | self._taken[path] for path, source in sources.items()}
        self._names: dict[str, dict[str, set[str]]] = {path: {} for path in sources}
        self._shared: dict[str, set[str]] = {}
        self._attributes: dict[str, set[str]] = {}

    def add(self, path: str, reads: Reads, passing: Iterable[str]) -> None:
        for name in reads.names & self._own[path]:
            self._names[path].setdefault(name, set()).update(passing)
            if name in self._taken[path]:
                self._shared.setdefault(name, set()).update(passing)
        for name in reads.attributes:
            self._attributes.setdefault(name, set()).update(passing)

    def who(self, unit: Unit, run: Mapping[str, Unit]) -> frozenset[str] | None:
        """The passing tests that need what the unit makes or changes in place; None if no one needs it."""
        own = self._names[unit.path]
        if unit.owner:
            found = [self._attributes[name] for name in unit.binds if name in self._attributes]
            if any(name.startswith("__") and name.endswith("__") for name in unit.binds):
                found += [table[unit.owner] for table in (own, self._shared) if unit.owner in table]
        elif unit.binds:
            found = [
                table[name] for table in (own, self._shared, self._attributes) for name in unit.binds if name in table
            ]
        else:
            called = [run[name] for name in unit.reads.names | unit.reads.attributes if name in run]
            found = [table[name] for table in (own, self._shared) for name in unit.reads.names if name in table]
            for other in called:
                found += [
                    self._names[other.path][name] for name in other.reads.names if name in self._names[other.path]
                ]
        return frozenset().union(*found) if found else None


def noticed(
    sources: Mapping[str, Source], imported: Mapping[str, set[int]], cover: Mapping[tuple[str, int], set[str]]
) -> dict[str, list[Noticed]]:
    """What the lines of `cover` need from import time, directly or through others."""
    needs = Needs(sources)
    units: list[Unit] = []
    run: dict[str, Unit] = {}
    for path, source in sources.items():
        for node in ast.walk(source.tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and (path, node.lineno) in cover:
                needs.add(path, _reads(source, [node]), cover[path, node.lineno])
            elif isinstance(node, FUNCTIONS):
                _add_called(needs, path, node, cover)
        bodies = list(_run_bodies(source, imported.get(path, set())))
        run.update({name: unit for unit in bodies for name in unit.binds})
        units += [*_units(source, source.tree.body, ""), *bodies]
    found: dict[str, list[Noticed]] = {}
    while True:
        fresh = [(unit, who) for unit in units if (who := needs.who(unit, run)) is not None]
        if not fresh:
            return found
        for unit, who in fresh:
            needs.add(unit.path, unit.reads, who)
            found.setdefault(unit.path, []).append(Noticed(unit.first, unit.last, who, unit.table))
        taken = {id(unit) for unit, _ in fresh}
        units = [unit for unit in units if id(unit) not in taken]


def _add_called(needs: Needs, path: str, node: ast.AST, cover: Mapping[tuple[str, int], set[str]]) -> None:
    """A function that ran was called, be it from a test, so its head matters."""
    name, first, last = node.name, node.body[0].lineno, node.end_lineno  # type: ignore[attr-defined]
    run = next((line for line in range(first, last + 1) if (path, line) in cover), None)
    if run is not None:
        needs.add(path, Reads(frozenset((name,)), frozenset((name,))), cover[path, run])


def _taken(source: Source) -> set[str]:
    """Names that a module has from others by `from ... import`."""
    found: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names} | {alias.asname or "" for alias in node.names}
    return found


def _reads(source: Source, nodes: Iterable[ast.AST]) -> Reads:
    names: set[str] = set()
    attributes: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        elif isinstance(node, ast.Name) and not _is_local(source, node):
            names.add(node.id)
    return Reads(frozenset(names), frozenset(attributes))


def _is_local(source: Source, node: ast.Name) -> bool:
    scope = source.scope_of(node)
    while not isinstance(scope, ast.Module):
        if not isinstance(scope, ast.ClassDef) and node.id in source.once(
            ("bound", scope), functools.partial(bound_names, scope)
        ):
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
            single = not any(
                isinstance(item, (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.For)) for item in ast.walk(node)
            )
            yield Unit(source.path, first, node.end_lineno or first, owner, frozenset(_binds(node)), reads, single)


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
