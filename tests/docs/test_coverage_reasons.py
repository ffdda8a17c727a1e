"""No requirement and no field bug is passed over: each has a test, or a reason why there is none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from duologue.check.rows import ROWS

SCRIPTS = Path(__file__).parents[2] / "scripts"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIELD_BUGS = script("field_bugs")
UNTESTED_ROWS = script("untested_rows")


def test_each_field_bug_has_a_test_or_a_reason() -> None:
    numbers = [number for kind in FIELD_BUGS.CATALOGUE.values() for number in kind]
    assert len(numbers) == len(set(numbers)) == 166
    tests = FIELD_BUGS.tests_by_number()
    assert set(numbers) == tests.keys() | FIELD_BUGS.REASONS.keys()


def test_a_number_is_found_however_a_test_names_it(tmp_path: Path) -> None:
    text = """
def test_field_bug_1_one() -> None: ...
async def test_field_bugs_2_3_two() -> None: ...
def test_named() -> None:
    'Field bugs 4, 5 and 6: in words.'
def helper_field_bug_7() -> None: ...
class Test:
    def test_field_bug_8_in_a_class(self) -> None: ...
"""
    (tmp_path / "test_a.py").write_text(text, encoding="utf-8")
    assert list(FIELD_BUGS.tests_by_number(tmp_path)) == [1, 2, 3, 4, 5, 6, 8]


def test_reasons_are_of_requirements() -> None:
    assert UNTESTED_ROWS.REASONS.keys() <= ROWS.keys()


def test_each_requirement_has_a_test_or_a_reason(request: pytest.FixtureRequest, whole_run: bool) -> None:
    if not whole_run:
        pytest.skip("only a run of all tests knows all marks")
    proven = {row for item in request.session.items for mark in item.iter_markers("req") for row in mark.args}
    assert ROWS.keys() - proven <= UNTESTED_ROWS.REASONS.keys()
