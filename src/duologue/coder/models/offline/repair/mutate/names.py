"""Slips in names: variables of the scope, attributes of the class, siblings among functions and methods."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from .families import EXCEPTIONS, FUNCTION_FAMILIES, METHOD_FAMILIES, RARE
from .source import FUNCTIONS, Edit, Source
from .vocabulary import TYPO, Vocabulary, near


def _family(name: str, families: Iterable[tuple[str, ...]], words: Vocabulary) -> list[str]:
    others = [other for family in families if name in family for other in family if other != name]
    return [other for other in others if other not in RARE or other in words.attributes or other in words.names]


def _kind_of(source: Source, name: str) -> str:
    """Constant, function, class or other: one is not mistaken for another."""
    if name.isupper():
        return "constant"
    kinds: dict[str, str] = source.once("kinds", lambda: dict(_kinds(source.tree)))
    return kinds.get(name, "other")


def _kinds(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            yield node.name, "function"
        elif isinstance(node, ast.ClassDef):
            yield node.name, "class"
        elif isinstance(node, ast.Import):
            yield from (((alias.asname or alias.name).split(".")[0], "module") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                yield name, "class" if name[:1].isupper() else "function"


def name_edits(source: Source, node: ast.AST, words: Vocabulary) -> Iterator[Edit]:
    if isinstance(node, ast.Name):
        yield from _name(source, node, words)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(source, node, words)
    elif isinstance(node, ast.keyword) and node.arg:
        yield from _keyword(source, node, words)
    elif isinstance(node, ast.arg):
        yield from _parameter(source, node)


def _name(source: Source, node: ast.Name, words: Vocabulary) -> Iterator[Edit]:
    start = source.start(node)
    if source.text[start : start + len(node.id)] != node.id:
        return
    loads = isinstance(node.ctx, ast.Load)
    weights = dict.fromkeys(_local_names(source, node), 0.6 if loads else 0.4)
    for other in _names_beside(source, node):
        weights.setdefault(other, 0.4)
    if not loads:
        weights.update(dict.fromkeys(_unbound(source, source.scope_of(node)), 0.9))
    if loads:
        if _is_called(source, node):
            for other in _builtins_called(source):
                weights.setdefault(other, 0.4)
        for other in _outer_names(source, node):
            if _kind_of(source, other) == _kind_of(source, node.id):
                weights.setdefault(other, 0.5 if near(node.id, other, 2) else 0.2)
        weights.update(dict.fromkeys(_family(node.id, FUNCTION_FAMILIES, words), 0.9))
        if node.id in EXCEPTIONS:
            weights.update({other: weights.get(other, 0.5) for other in EXCEPTIONS})
        if not _known(source, node):
            weights.update(dict.fromkeys(words.names_near(node.id), 1.0))
    typo = set(words.names_near(node.id)) if words.names[node.id] == 1 and not _known(source, node) else set()
    weights.pop(node.id, None)
    operand = _is_operand(source, node)
    raised = node.id in EXCEPTIONS or isinstance(source.statement_of(node), ast.Raise)
    for other, weight in weights.items():
        if not (operand and _is_no_value(source, other)) and (raised or other not in EXCEPTIONS):
            kind = TYPO if other in typo else "annotation" if source.annotates(node) else "name"
            yield source.edit(start, start + len(node.id), other, kind, weight)


def _parameter(source: Source, node: ast.arg) -> Iterator[Edit]:
    """A parameter may have been meant to be a name that the function reads and nobody binds."""
    start = source.start(node)
    for other in sorted(_unbound(source, source.parents[source.parents[node]])):
        yield source.edit(start, start + len(node.arg), other, "name", 0.9)


def _unbound(source: Source, scope: ast.AST) -> set[str]:
    def find() -> set[str]:
        return {item.id for item in ast.walk(scope) if isinstance(item, ast.Name) and not _known(source, item)}

    found: set[str] = source.once(("unbound", scope), find)
    return found


def _is_operand(source: Source, node: ast.AST) -> bool:
    """True where only a value makes sense: it is calculated with, compared with a constant, or asked for its truth."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.Compare):
        return any(isinstance(item, ast.Constant) for item in (parent.left, *parent.comparators))
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    return isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.If, ast.While, ast.IfExp, ast.AugAssign))


def _is_no_value(source: Source, name: str) -> bool:
    """A function, a class, a module, or the object of a method."""
    if name in ("self", "cls") or _kind_of(source, name) in ("function", "class", "module"):
        return True
    return callable(getattr(builtins, name, None)) and name not in _bound_in(source, source.tree)


def _known(source: Source, node: ast.Name) -> bool:
    """True if something binds the name where the node stands."""
    if hasattr(builtins, node.id) or node.id in _outer_names(source, node):
        return True
    scope = source.scope_of(node)
    while not isinstance(scope, ast.Module):
        if node.id in _bound_in(source, scope):
            return True
        scope = source.scope_of(scope)
    return False


def _bound_in(source: Source, scope: ast.AST) -> set[str]:
    found: set[str] = source.once(("bound", scope), lambda: bound_names(scope))
    return found


def _local_names(source: Source, node: ast.AST) -> set[str]:
    """What the functions around a node bind."""
    found: set[str] = set()
    own = scope = source.scope_of(node)
    while not isinstance(scope, ast.Module):
        if not isinstance(scope, ast.ClassDef) or own is scope:
            found |= _bound_in(source, scope)
        scope = source.scope_of(scope)
    return found | _bound_in(source, scope) if own is scope else found


def bound_names(scope: ast.AST) -> set[str]:
    """Arguments and targets of one scope, without those of functions inside it."""
    found: set[str] = set()
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
            continue
        if not isinstance(node, ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _names_beside(source: Source, node: ast.AST) -> set[str]:
    """What the same function reads, whatever it is."""
    scope = source.scope_of(node)
    if isinstance(scope, ast.Module):
        return set()
    found: set[str] = source.once(
        ("beside", scope), lambda: {item.id for item in ast.walk(scope) if isinstance(item, ast.Name)}
    )
    return found


def _builtins_called(source: Source) -> set[str]:
    """Builtin functions that this module calls by name."""

    def find() -> set[str]:
        calls = (item.func for item in ast.walk(source.tree) if isinstance(item, ast.Call))
        names = {item.id for item in calls if isinstance(item, ast.Name)}
        return {*(name for name in names if hasattr(builtins, name)), "isinstance", "len", "str", "int", "list"}

    found: set[str] = source.once("builtins", find)
    return found


def _outer_names(source: Source, node: ast.AST) -> set[str]:
    """Names of the module, imported ones included."""

    def find() -> set[str]:
        imports = (item for item in source.tree.body if isinstance(item, (ast.Import, ast.ImportFrom)))
        names = {(alias.asname or alias.name).split(".")[0] for item in imports for alias in item.names}
        return names | _bound_in(source, source.tree)

    found: set[str] = source.once("outer", find)
    return found


def _attribute(source: Source, node: ast.Attribute, words: Vocabulary) -> Iterator[Edit]:
    end = source.end(node)
    start = end - len(node.attr)
    if source.text[start:end] != node.attr:
        return
    weights: dict[str, float] = {}
    for other in _same_base(source, node):
        weights[other] = 0.6
    for other in words.attributes_near(node.attr):
        weights[other] = 0.7
    for other in _family(node.attr, METHOD_FAMILIES, words):
        weights[other] = 0.9
    called = _is_called(source, node)
    for other in _same_scope(source, node, called=called):
        weights.setdefault(other, 0.3)
    weights.pop(node.attr, None)
    typo = set(words.attributes_near(node.attr)) if words.attributes[node.attr] == 1 and len(node.attr) > 2 else set()
    for other, weight in weights.items():
        yield source.edit(start, end, other, TYPO if other in typo else "attribute", weight)


def _same_base(source: Source, node: ast.Attribute) -> set[str]:
    """Attributes the file takes from the same expression in the same way, called or not."""
    owner = source.class_of(node)
    called = _is_called(source, node)
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and owner is not None:
        own: set[str] = source.once(("members", owner, called), lambda: _members(owner, called=called))
        return own
    by_base: dict[tuple[str, bool], set[str]] = source.once("bases", lambda: _attributes_by_base(source))
    return by_base.get((_form(node.value), called), set())


def _members(owner: ast.ClassDef, *, called: bool) -> set[str]:
    """Attributes of a class; methods, to which properties do not count, only where one is called."""
    functions = [item for item in owner.body if isinstance(item, FUNCTIONS)]
    methods = {item.name for item in functions if not any(_names_property(node) for node in item.decorator_list)}
    fields = {
        item.attr
        for item in ast.walk(owner)
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id in ("self", "cls")
    }
    if called:
        return fields | {name for name in methods if not name.startswith("__")}
    return (fields | bound_names(owner)) - methods


def _names_property(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return "property" in name or name in ("setter", "getter")


def _attributes_by_base(source: Source) -> dict[tuple[str, bool], set[str]]:
    found: dict[tuple[str, bool], set[str]] = {}
    for item in ast.walk(source.tree):
        if isinstance(item, ast.Attribute):
            found.setdefault((_form(item.value), _is_called(source, item)), set()).add(item.attr)
    return found


def _form(node: ast.expr) -> str:
    """What tells an expression from others; one that nests too deep for that is like none."""
    try:
        return ast.dump(node)
    except RecursionError:
        return str(id(node))


def _is_called(source: Source, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _same_scope(source: Source, node: ast.AST, *, called: bool) -> set[str]:
    """Attributes that the same function uses in the same way, called or not."""
    scope = source.scope_of(node)

    def find() -> set[str]:
        attributes = (item for item in ast.walk(scope) if isinstance(item, ast.Attribute))
        return {item.attr for item in attributes if _is_called(source, item) == called}

    found: set[str] = source.once(("attributes", scope, called), find)
    return found


def _keyword(source: Source, node: ast.keyword, words: Vocabulary) -> Iterator[Edit]:
    start = source.start(node)
    old = node.arg or ""
    if source.text[start : start + len(old)] != old:
        return
    for other in sorted({*words.names_near(old), *words.words_near(old)}):
        if other.isidentifier():
            yield source.edit(start, start + len(old), other, "keyword argument", 0.5)
