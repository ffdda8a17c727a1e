"""Slips in names: variables of the scope, attributes of the class, siblings among functions and methods."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from duologue.coder.models.offline.repair.mutate.source import FUNCTIONS, Edit, Source
from duologue.coder.models.offline.repair.mutate.vocabulary import Vocabulary, near

_FUNCTION_FAMILIES = (
    ("min", "max"), ("any", "all"), ("sorted", "reversed", "list"), ("int", "float", "str", "bool"), ("ord", "chr"),
    ("list", "tuple", "set", "frozenset", "dict"), ("isinstance", "issubclass"), ("sum", "len", "max", "min"), ("str", "repr"),
    ("floor", "ceil", "trunc", "round"), ("getattr", "hasattr"), ("map", "filter"), ("zip", "enumerate", "zip_longest"),
    ("bytes", "bytearray", "str"), ("hex", "oct", "bin"), ("next", "iter"), ("deepcopy", "copy"), ("round", "int"), ("abs", "int"),
    ("quote", "unquote", "quote_plus"), ("takewhile", "dropwhile"), ("attrgetter", "itemgetter"), ("dumps", "loads"),
    ("OrderedDict", "dict", "defaultdict", "Counter"), ("add", "sub", "mul"), ("lt", "gt", "le", "ge", "eq", "ne"),
    ("bisect_left", "bisect_right", "bisect"), ("insort_left", "insort_right"), ("islice", "chain"), ("heappush", "heappop"),
    ("staticmethod", "classmethod"), ("combinations", "permutations", "product"), ("update_wrapper", "wraps"),
    ("exists", "isfile", "isdir"), ("basename", "dirname"),
)  # fmt: skip
_METHOD_FAMILIES = (
    ("lower", "upper", "title", "capitalize", "swapcase", "casefold"), ("strip", "lstrip", "rstrip"), ("find", "rfind", "index", "rindex"),
    ("split", "rsplit", "splitlines"), ("partition", "rpartition"), ("startswith", "endswith"), ("append", "extend", "insert", "add"),
    ("append", "appendleft"), ("extend", "extendleft"), ("pop", "popleft", "popitem", "get", "remove"), ("add", "discard", "remove", "update"),
    ("keys", "values", "items"), ("get", "pop", "setdefault"), ("read", "readline", "readlines"), ("write", "writelines"),
    ("start", "end", "span"), ("group", "groups", "groupdict"), ("match", "search", "fullmatch"), ("findall", "finditer"),
    ("encode", "decode"), ("isdigit", "isalpha", "isalnum", "isspace", "isdecimal", "isnumeric", "isidentifier"),
    ("isupper", "islower", "istitle"), ("union", "intersection", "difference", "symmetric_difference"), ("issubset", "issuperset"),
    ("ljust", "rjust", "center", "zfill"), ("min", "max"), ("floor", "ceil"), ("year", "month", "day", "weekday", "isoweekday"),
    ("hour", "minute", "second", "microsecond"), ("days", "seconds", "microseconds"), ("replace", "translate"), ("sort", "reverse"),
    ("removeprefix", "removesuffix"), ("real", "imag"), ("numerator", "denominator"), ("left", "right"), ("first", "last"),
    ("start", "stop", "step"), ("copy", "deepcopy"), ("clear", "copy"), ("count", "index"), ("join", "format"), ("sub", "subn"),
    ("parent", "parents", "name", "stem", "suffix"), ("row", "col"), ("x", "y", "z"), ("width", "height"), ("key", "value"),
    ("exists", "isfile", "isdir"), ("basename", "dirname"), ("stdout", "stderr"),
)  # fmt: skip
_EXCEPTIONS = (
    "ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "RuntimeError", "StopIteration", "LookupError",
    "NotImplementedError", "OSError", "ZeroDivisionError", "OverflowError", "NameError", "ImportError", "UnicodeError",
    "UnicodeDecodeError", "UnicodeEncodeError", "AssertionError", "ArithmeticError", "Exception", "FileNotFoundError",
)  # fmt: skip


def _family(name: str, families: Iterable[tuple[str, ...]]) -> list[str]:
    return [other for family in families if name in family for other in family if other != name]


def name_edits(source: Source, node: ast.AST, words: Vocabulary) -> Iterator[Edit]:
    if isinstance(node, ast.Name):
        yield from _name(source, node, words)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(source, node, words)
    elif isinstance(node, ast.keyword) and node.arg:
        yield from _keyword(source, node, words)


def _name(source: Source, node: ast.Name, words: Vocabulary) -> Iterator[Edit]:
    start = source.start(node)
    if source.text[start : start + len(node.id)] != node.id:
        return
    loads = isinstance(node.ctx, ast.Load)
    weights = dict.fromkeys(_local_names(source, node), 0.6 if loads else 0.4)
    if loads:
        for other in _outer_names(source, node):
            weights.setdefault(other, 0.5 if near(node.id, other, 3) else 0.2)
        weights.update(dict.fromkeys(_family(node.id, _FUNCTION_FAMILIES), 0.9))
        if node.id in _EXCEPTIONS:
            weights.update({other: weights.get(other, 0.5) for other in _EXCEPTIONS})
        if not _known(source, node):
            weights.update(dict.fromkeys(words.names_near(node.id), 1.0))
    weights.pop(node.id, None)
    for other, weight in weights.items():
        yield source.edit(start, start + len(node.id), other, "name", weight)


def _known(source: Source, node: ast.Name) -> bool:
    return hasattr(builtins, node.id) or node.id in _outer_names(source, node) or _stored(source, node)


def _stored(source: Source, node: ast.Name) -> bool:
    scope = source.scope_of(node)
    return any(
        isinstance(item, ast.Name) and item.id == node.id and not isinstance(item.ctx, ast.Load)
        for item in ast.walk(scope)
    )


def _local_names(source: Source, node: ast.AST) -> set[str]:
    """What the functions around a node bind."""
    found: set[str] = set()
    scope = source.scope_of(node)
    while not isinstance(scope, ast.Module):
        if not isinstance(scope, ast.ClassDef) or source.scope_of(node) is scope:
            found |= bound_names(scope)
        scope = source.scope_of(scope)
    if source.scope_of(node) is scope:
        found |= bound_names(scope)
    return found


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


def _outer_names(source: Source, node: ast.AST) -> set[str]:
    """Names of the module, and what the module's other functions call by a bare name."""
    found = bound_names(source.tree)
    for item in source.tree.body:
        if isinstance(item, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in item.names}
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
    for other in _family(node.attr, _METHOD_FAMILIES):
        weights[other] = 0.9
    for other in _same_scope(source, node):
        weights.setdefault(other, 0.3)
    weights.pop(node.attr, None)
    for other, weight in weights.items():
        yield source.edit(start, end, other, "attribute", weight)


def _same_base(source: Source, node: ast.Attribute) -> set[str]:
    """Attributes the file takes from the same expression (`self` within the same class)."""
    base = ast.dump(node.value)
    around: ast.AST = source.tree
    owner = source.class_of(node)
    found: set[str] = set()
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and owner is not None:
        around = owner
        found = {item.name for item in owner.body if isinstance(item, FUNCTIONS) and not item.name.startswith("__")}
        found |= bound_names(owner)
    return found | {
        item.attr for item in ast.walk(around) if isinstance(item, ast.Attribute) and ast.dump(item.value) == base
    }


def _same_scope(source: Source, node: ast.AST) -> set[str]:
    return {item.attr for item in ast.walk(source.scope_of(node)) if isinstance(item, ast.Attribute)}


def _keyword(source: Source, node: ast.keyword, words: Vocabulary) -> Iterator[Edit]:
    start = source.start(node)
    old = node.arg or ""
    if source.text[start : start + len(old)] != old:
        return
    known = {
        other for other in (*words.names, *words.words) if other != old and near(old, other, 2 if len(old) > 4 else 1)
    }
    for other in known:
        if other.isidentifier():
            yield source.edit(start, start + len(old), other, "keyword argument", 0.5)
