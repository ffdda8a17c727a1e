"""What the project's own sources and tests say elsewhere: strings, words, names and numbers to choose from."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

# A text that occurs nowhere else, and is one slip away from one that does: it was hardly meant.
TYPO = "misspelling"


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
        self._strings = Near(self.strings)
        self._words = Near(self.words)
        self._names = Near(self.names)
        self._attributes = Near(self.attributes)

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
        """Known strings that are one slip away."""
        return self._strings.to(value)

    def words_near(self, word: str) -> list[str]:
        return self._words.to(word)

    def meant(self, value: str) -> list[str]:
        """What a string was meant to be that holds a word, or is a text, of which there is no other in the project."""
        found: dict[str, None] = {}
        if len(value) > 2 and self.strings[value] == 1:
            found.update(dict.fromkeys(self.strings_near(value)))
        for match in re.finditer(r"[^\W\d_]\w*", value):
            if len(match[0]) > 2 and self.words[match[0]] == 1:
                near_words = [other for other in self.words_near(match[0]) if self.words[other] > 1]
                found.update((value[: match.start()] + other + value[match.end() :], None) for other in near_words)
        return list(found)

    def short_strings(self) -> list[str]:
        return [other for other, _ in self.strings.most_common(400) if len(other) <= 2][:30]

    def numbers_near(self, value: int) -> list[int]:
        found = [other for other in self.numbers if other != value and len(str(abs(other))) == len(str(abs(value)))]
        return sorted(found, key=lambda other: (-self.numbers[other], abs(other - value)))[:8]

    def floats_near(self, value: float) -> list[float]:
        return [other for other, _ in self.floats.most_common(8) if other != value]

    def attributes_near(self, name: str) -> list[str]:
        return self._attributes.to(name)

    def names_near(self, name: str) -> list[str]:
        return self._names.to(name)


class Near:
    """Finds words one slip away: a letter dropped, added, changed, or swapped with its neighbour.

    Words that are so near share a form in which one letter is left out, so a table of those forms finds them at once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._forms: dict[str, list[str]] = defaultdict(list)
        for word in words:
            if len(word) <= 80:
                for form in _without_a_letter(word):
                    self._forms[form].append(word)

    def to(self, word: str) -> list[str]:
        found = {other for form in _without_a_letter(word) for other in self._forms.get(form, ())}
        return sorted(other for other in found if other != word and near(word, other, 1))


def _without_a_letter(word: str) -> set[str]:
    return {word, *(word[:index] + word[index + 1 :] for index in range(len(word)))}


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
