"""The edits that a repair can make, the script that tries them, and how their results are weighed."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Any

import pytest

from duologue.coder.models.offline.repair import command
from duologue.coder.models.offline.repair.mutate.candidates import candidate_edits
from duologue.coder.models.offline.repair.mutate.source import Source, apply_edit
from duologue.coder.models.offline.repair.mutate.vocabulary import Vocabulary, near
from duologue.coder.models.offline.repair.verdict import Proven, weigh

FIELDS = "class A:\n    def f(self):\n        self.one = self.two\n        return self"
METHODS = "class A:\n    def f(self): pass\n    def g(self): pass\n    def h(self): return self"

# What was meant, and what was written.
SLIPS = [
    ("x = a < b", "x = a <= b"),
    ("x = a == b", "x = a != b"),
    ("x = a in b", "x = a not in b"),
    ("x = a not in b", "x = a in b"),
    ("x = a is None", "x = a is not None"),
    ("x = a is b", "x = a == b"),
    ("x = a<b<c", "x = a<b<=c"),
    ("x = (a) + (b)", "x = (a) - (b)"),
    ("x = a // b", "x = a / b"),
    ("x = a ** b", "x = a * b"),
    ("x = a & b", "x = a | b"),
    ("x = a << b", "x = a >> b"),
    ("x += a", "x -= a"),
    ("x += a", "x = a"),
    ("x = a", "x += a"),
    ("x = a and b", "x = a or b"),
    ("x = a and b and c", "x = a and b or c"),
    ("x = a if not b else c", "x = a if b else c"),
    ("x = a if b else c", "x = a if not b else c"),
    ("x = a", "x = -a"),
    ("x = 1", "x = 2"),
    ("x = 0x10", "x = 0x11"),
    ("x = 100", "x = 10"),
    ("x = a[0]", "x = a[1]"),
    ("x = a[-1]", "x = a[0]"),
    ("x = a[1:]", "x = a[0:]"),
    ("x = 1.5", "x = 2.5"),
    ("x = True", "x = False"),
    ("x = 'name'; y = 'name'", "x = 'nme'; y = 'name'"),
    ("x = 'a total'; y = 'total'", "x = 'a toal'; y = 'total'"),
    ("x = r'\\d+'; y = '\\\\d+'", "x = r'\\d'; y = '\\\\d+'"),
    ("x = open(a, 'rb')", "x = open(a, 'r')"),
    ("x = b'one'; y = 'one'", "x = b'oen'; y = 'one'"),
    ("x = min(a, b)", "x = max(a, b)"),
    ("x = any(a)", "x = all(a)"),
    ("x = a.lower()", "x = a.upper()"),
    ("x = a.rstrip()", "x = a.strip()"),
    ("x = a.startswith(b)", "x = a.endswith(b)"),
    ("x = a.items()", "x = a.keys()"),
    ("def f(a, b):\n    return a", "def f(a, b):\n    return b"),
    ("def f(total):\n    return total", "def f(total):\n    return totl"),
    ("def f(a):\n    return a", "def f(a):\n    a"),
    ("for a in b:\n    continue", "for a in b:\n    break"),
    ("for a in b:\n    break", "for a in b:\n    continue"),
    ("def f(a):\n    yield from a", "def f(a):\n    yield a"),
    ("x = sorted(a, reverse=True)", "x = sorted(a, reverse=False)"),
    (f"{FIELDS}.one", f"{FIELDS}.two"),
    (f"{METHODS}.f()", f"{METHODS}.g()"),
    ("try: a\nexcept KeyError: b", "try: a\nexcept IndexError: b"),
    ("x = [a for a in b if a]", "x = [a for a in b if not a]"),
    ("ö = 'ü'; x = ö < 1", "ö = 'ü'; x = ö > 1"),
    ("x = (a  # why\n     < b)", "x = (a  # why\n     > b)"),
    ("one = 1\nTWO = 2\ndef f(n=one): pass", "one = 1\nTWO = 2\ndef f(n=one): pass".replace("= 2", "= 3")),
]  # fmt: skip


def edited(written: str) -> set[str]:
    source = Source("a.py", written)
    lines = range(1, written.count("\n") + 2)
    return {apply_edit(written, edit) for edit in candidate_edits(source, lines, Vocabulary([source.tree]))}


@pytest.mark.parametrize(("meant", "written"), SLIPS)
def test_every_slip_can_be_taken_back(meant: str, written: str) -> None:
    assert meant in edited(written)


@pytest.mark.parametrize("written", [written for _, written in SLIPS])
def test_every_edit_changes_one_place_and_most_parse(written: str) -> None:
    found = edited(written)
    assert written not in found
    assert sum(_parses(text) for text in found) >= 0.8 * len(found)


def test_a_long_chain_of_calls_keeps_no_edit_from_being_found() -> None:
    assert any("y > 1" in text for text in edited("x = a" + ".b()" * 600 + "\nz = y < 1\n"))


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_prose_and_annotations_are_left_alone() -> None:
    text = 'def f(a: "int") -> "str":\n    """One total."""\n    return a'
    assert not any('"""One' not in new or '"int"' not in new for new in edited(text))


def test_only_edits_on_the_given_lines() -> None:
    text = "x = 1\ny = 2\nz = 3\n"
    source = Source("a.py", text)
    assert {edit.line for edit in candidate_edits(source, {2}, Vocabulary([source.tree]))} == {2}


@pytest.mark.parametrize(
    ("a", "b", "most", "close"),
    [
        ("total", "totla", 1, True),
        ("total", "tota", 1, True),
        ("total", "xtotal", 1, True),
        ("total", "toooal", 1, False),
        ("ab", "ba", 1, True),
        ("a", "b", 1, True),
        ("abc", "xyz", 2, False),
    ],
)
def test_distance_of_words(a: str, b: str, most: int, close: bool) -> None:
    assert near(a, b, most) is close


@pytest.mark.parametrize("path", sorted(command.LAB.parent.glob("*/*.py")), ids=lambda path: path.name)
def test_the_lab_is_written_for_older_pythons_too_and_needs_nothing_of_ours(path: Path) -> None:
    text = path.read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    assert not [module for module in imported if module.split(".")[0] == "duologue"]


TEXT = "if len(items) < 0:\n    total += 2\n"


def proven(old: str, new: str, score: float = 1.0, line: int = 1) -> dict[str, Any]:
    column = TEXT.split("\n")[line - 1].index(old)
    return {
        "path": "a.py",
        "line": line,
        "column": column,
        "old": old,
        "new": new,
        "kind": "",
        "weight": 1.0,
        "score": score,
    }


def result(*edits: dict[str, Any], missed: float = 0.0, unproven: int = 0, failing: int = 1) -> dict[str, Any]:
    return {
        "proven": list(edits),
        "missed": missed,
        "missed_cold": 0.0,
        "unproven": unproven,
        "failing": ["t"] * failing,
        "tried": 9,
    }


@pytest.mark.parametrize(
    ("found", "chosen"),
    [
        (result(proven("<", ">")), ">"),
        (result(proven("<", ">"), proven("<", "!=")), ">"),
        (result(proven("<", "!="), proven("<", ">", 0.5)), "!="),
        (result(proven("+=", "-=", line=2), proven("2", "-2", 0.5, line=2)), "-="),
        (result(proven("<", ">"), proven("<", ">=")), None),
        (result(proven("<", ">"), proven("2", "3", line=2)), None),
        (result(proven("<", ">"), unproven=1), None),
        (result(proven("<", ">"), missed=0.3), ">"),
        (result(proven("<", ">"), missed=0.6), None),
        (result(proven("<", ">"), missed=0.6, failing=4), ">"),
        (result(), None),
    ],
)
def test_one_meaning_is_made_and_two_are_not(found: dict[str, Any], chosen: str | None) -> None:
    verdict = weigh(found, {"a.py": TEXT})
    assert (verdict.edit.new if verdict.edit else None) == chosen
    assert verdict.reason


def test_variables_of_comprehensions_do_not_matter() -> None:
    text = "x = all(all == y for all in z)\n"
    edits = [
        {"path": "a.py", "line": 1, "column": 8, "old": "all", "new": "a", "kind": "", "weight": 1.0, "score": 0.9},
    ]
    assert weigh(result(*edits), {"a.py": text}).edit is not None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [("<", ">", "`<` becomes `>`"), ("", "not ", "`not` is added"), ("+=", "", "`+=` is removed")],
)
def test_an_edit_is_told_in_words(old: str, new: str, told: str) -> None:
    assert f": {told} (" in str(Proven.read(proven(old, new, line=2 if old == "+=" else 1)))


def test_an_edit_of_a_file_that_changed_is_not_made() -> None:
    verdict = weigh(result(proven("<", ">")), {"a.py": TEXT})
    assert verdict.edit is not None
    with pytest.raises(ValueError, match="has changed"):
        verdict.edit.apply("something else\n")


def test_data_is_not_changed_to_suit_the_tests() -> None:
    text = 'def versions():\n    return ("1.0", "2.0", "3.0", "4.0")\n'
    edit = {"path": "a.py", "line": 2, "column": text.split("\n")[1].index('"4.0"'), "old": '"4.0"', "new": '"3.5"'}
    edit |= {"kind": "string", "weight": 1.0, "score": 1.0}
    verdict = weigh(result(edit), {"a.py": text})
    assert verdict.edit is None
    assert "data" in verdict.reason
