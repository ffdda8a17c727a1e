"""What the project's own sources and tests say elsewhere: strings, words, names and numbers to choose from."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable


class Vocabulary:
    """Counts over some trees. Everything offered occurs in the project, so nothing is invented."""

    def __init__(self, trees: Iterable[ast.AST]) -> None:
        self.strings: Counter[str] = Counter()
        self.words: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.numbers: Counter[int] = Counter()
        self.floats: Counter[float] = Counter()
        self.keywords: dict[str, set[str]] = defaultdict(set)
        for tree in trees:
            for node in ast.walk(tree):
                self._take(node)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in self.words:
            self._by_length[len(word)].append(word)

    def _take(self, node: ast.AST) -> None:
        if isinstance(node, ast.Constant):
            self._take_constant(node.value)
        elif isinstance(node, ast.Name):
            self.names[node.id] += 1
        elif isinstance(node, ast.Attribute):
            self.attributes[node.attr] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.names[node.name] += 1
            self.attributes[node.name] += 1
        elif isinstance(node, ast.arg):
            self.names[node.arg] += 1
        elif isinstance(node, ast.keyword) and node.arg:
            self.words[node.arg] += 1

    def _take_constant(self, value: object) -> None:
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(value, str):
            if len(value) <= 80:
                self.strings[value] += 1
            self.words.update(re.findall(r"[^\W\d_]\w*", value))
        elif isinstance(value, int) and not isinstance(value, bool):
            self.numbers[value] += 1
        elif isinstance(value, float):
            self.floats[value] += 1

    def strings_near(self, value: str) -> list[str]:
        """Known strings at most two letters away (one, if short)."""
        most = 1 if len(value) <= 3 else 2
        return [other for other in self.strings if other != value and near(value, other, most)]

    def words_near(self, word: str) -> list[str]:
        most = 1 if len(word) <= 4 else 2
        sizes = range(len(word) - most, len(word) + most + 1)
        return [
            other
            for size in sizes
            for other in self._by_length.get(size, ())
            if other != word and near(word, other, most)
        ]

    def short_strings(self) -> list[str]:
        return [other for other, _ in self.strings.most_common(400) if len(other) <= 3][:40]

    def numbers_near(self, value: int) -> list[int]:
        found = [other for other in self.numbers if other != value and len(str(abs(other))) == len(str(abs(value)))]
        return sorted(found, key=lambda other: (-self.numbers[other], abs(other - value)))[:8]

    def floats_near(self, value: float) -> list[float]:
        return [other for other, _ in self.floats.most_common(8) if other != value]

    def attributes_near(self, name: str) -> list[str]:
        return [other for other in self.attributes if other != name and near(name, other, 2 if len(name) > 4 else 1)]

    def names_near(self, name: str) -> list[str]:
        return [other for other in self.names if other != name and near(name, other, 2 if len(name) > 4 else 1)]


def near(a: str, b: str, most: int) -> bool:
    """True if at most so many letters were dropped, added, changed, or swapped with a neighbour."""
    if abs(len(a) - len(b)) > most:
        return False
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before = before, row
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return False
    return row[-1] <= most
