"""Running a project's tests: which command, and what its output says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from offline_kit import Session, example, write_python

from duologue.coder.models.offline.repair.findings import read_findings
from duologue.coder.models.offline.suite.detect import Suite
from duologue.coder.models.offline.suite.report import read_pytest, read_unittest

PYTEST = """\
F.E                                                                      [100%]
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_other.py _____________________
ImportError while importing test module 'tests/test_other.py'.
E   ModuleNotFoundError: No module named 'nothing'
=================================== FAILURES ===================================
_______________________ TestCart.test_total[two - items] _______________________
tests/test_cart.py:12: in test_total
    assert total([1, 2]) == 3
E   assert 2 == 3
E    +  where 2 = total([1, 2])
=========================== short test summary info ============================
ERROR tests/test_other.py
FAILED tests/test_cart.py::TestCart::test_total[two - items] - assert 2 == 3
1 failed, 1 passed, 1 error in 0.05s
"""

UNITTEST = """\
F.E
======================================================================
ERROR: tests.test_other (unittest.loader._FailedTest.tests.test_other)
----------------------------------------------------------------------
ImportError: Failed to import test module: tests.test_other
Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/loader.py", line 407, in _find_test_path
    module = self._get_module_from_name(name)
ModuleNotFoundError: No module named 'nothing'


======================================================================
FAIL: test_total (tests.test_cart.CartTest.test_total)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/me/shop/tests/test_cart.py", line 12, in test_total
    self.assertEqual(total([1, 2]), 3)
AssertionError: 2 != 3

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, errors=1)
"""


def test_reads_what_pytest_says() -> None:
    failures, passed, summary = read_pytest(PYTEST)
    broken, total = failures
    assert (broken.name, broken.message) == ("tests/test_other.py", "ModuleNotFoundError: No module named 'nothing'")
    assert total.name == "tests/test_cart.py::TestCart::test_total[two - items]"
    assert (total.path, total.line) == ("tests/test_cart.py", 12)
    assert total.message.startswith("assert 2 == 3")
    assert passed == 1
    assert summary == "1 failed, 1 passed, 1 error in 0.05s"


def test_numbers_that_python_would_not_read_spoil_nothing() -> None:
    endless = "9" * 5000
    assert read_pytest(f"a.py:{endless}: in f\n{endless} passed in 1.0s\n")[1]
    assert read_unittest(f"Ran {endless} tests in 1.0s\n\nOK (skipped={endless})\n")[1] == 0
    (finding,) = read_findings(f"a.py:{endless}:{endless}: F401 unused")
    assert finding.line > 10**6 and finding.column > 10**6


def test_parts_of_a_test_count_for_the_test() -> None:
    output = "SUBFAILED(i=2) test_s.py::T::test_a - AssertionError: 2 != 1\n"
    output += "FAILED test_s.py::test_c - contains 1 failed subtest\n"
    failures, _, _ = read_pytest(output)
    assert [failure.name for failure in failures] == ["test_s.py::T::test_a", "test_s.py::test_c"]


def test_reads_what_unittest_says() -> None:
    failures, passed, summary = read_unittest(UNITTEST)
    assert [failure.name for failure in failures] == [
        "unittest.loader._FailedTest.tests.test_other",
        "tests.test_cart.CartTest.test_total",
    ]
    assert failures[1].line == 12
    assert failures[1].message == "AssertionError: 2 != 3"
    assert passed == 1
    assert summary.startswith("Ran 3 tests")


@pytest.mark.parametrize(
    ("suite", "target", "command"),
    [
        (Suite("pytest"), None, "python3 -m pytest -q --tb=short"),
        (Suite("pytest"), "tests/test_a.py", "python3 -m pytest -q --tb=short tests/test_a.py"),
        (Suite("pytest"), "-x/test_a.py", "python3 -m pytest -q --tb=short ./-x/test_a.py"),
        (Suite("pytest"), "test_total", "python3 -m pytest -q --tb=short -k test_total"),
        (Suite("pytest", roots=("src",), exposed=True), None, "PYTHONPATH=src python3 -m pytest -q --tb=short"),
        (Suite("unittest", start="tests", options=("-t",)), None, "python3 -m unittest discover -s tests -t ."),
        (Suite("unittest", start="tests"), "tests/test_a.py", "python3 -m unittest discover -s tests -p test_a.py"),
        (Suite("unittest"), "test_total", "python3 -m unittest discover -s . -k test_total"),
        (Suite("other", other="cargo test"), None, "cargo test"),
    ],
)
def test_the_command_is_plain(suite: Suite, target: str | None, command: str) -> None:
    assert suite.command(target) == command


async def test_runs_unittest_where_the_project_uses_it(tmp_path: Path) -> None:
    turn = await Session(example(tmp_path)).say("run the tests and tell me what failed")
    assert turn.commands == ["python3 -m unittest discover -s tests -t ."]
    assert "1 test failed, 15 passed" in turn.said
    assert "test_ten_pieces_are_cheaper` (tests/test_invoice.py:" in turn.said
    assert "1000 != 950" in turn.said


async def test_runs_one_file_and_says_that_it_passes(tmp_path: Path) -> None:
    turn = await Session(example(tmp_path)).say("run the tests in test_money.py")
    assert "The tests pass: 4 passed" in turn.said


def bare_python(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make `python3` one that has no packages at all."""
    for name in ("python3", "python"):
        write_python(folder / name, "-I", "-S")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


async def test_finds_modules_under_src_and_the_python_that_has_pytest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_python(monkeypatch, tmp_path / "bin")
    files = {
        "src/shop/__init__.py": "def total(items):\n    return sum(items)\n",
        "tests/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
        ".venv/pyvenv.cfg": "home = /nowhere\n",
    }
    session = Session(tmp_path / "project", files)
    write_python(session.root / ".venv/bin/python")
    turn = await session.say("run the tests")
    assert "The tests pass: 1 passed" in turn.said
    assert turn.commands[-1].startswith("PYTHONPATH=src .venv/bin/python -m pytest")


def test_an_import_that_fails_is_told_by_its_cause() -> None:
    failures, _, _ = read_unittest(UNITTEST)
    assert failures[0].message == "ModuleNotFoundError: No module named 'nothing'"


async def test_no_pytest_is_said_and_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_python(monkeypatch, tmp_path / "bin")
    plain = {"test_a.py": "def test_a():\n    assert 1 == 2\n", "a.py": "x = 1\n"}
    using = {"test_a.py": "import pytest\n\n\ndef test_a():\n    assert 1 == 2\n", "a.py": "x = 1\n"}
    for number, files in enumerate((plain, using)):
        session = Session(tmp_path / f"project{number}", files)
        for text in ("run the tests", "fix the failing test"):
            turn = await session.say(text)
            assert "No test ran" in turn.said
            assert "pytest is not installed for python3; activate the project's environment" in turn.said
            assert "pass:" not in turn.said


def test_a_run_of_unittest_that_skipped_all() -> None:
    # Python 3.12.0 and 3.12.1 say it so; the others have run the test that was skipped.
    line = "-" * 70
    for count, last in ((0, "NO TESTS RAN (skipped=1)"), (1, "OK (skipped=1)")):
        ran = f"Ran {count} test{'' if count == 1 else 's'} in 0.000s"
        assert read_unittest(f"s\n{line}\n{ran}\n\n{last}\n") == ((), 0, f"{ran}: {last}")


async def test_no_test_that_ran_is_no_pass(tmp_path: Path) -> None:
    skipped = 'import unittest\n\n\n@unittest.skip("later")\nclass T(unittest.TestCase):\n    def test_a(self): ...\n'
    for number, (text, why) in enumerate(
        (
            ("import unittest\n", "unittest found none"),
            (skipped, "All were skipped"),
            ("import pytest\n", "pytest found none"),
            ("import os\nimport pytest\n\nos._exit(0)\n", "ended without a word of one"),
            ("import pytest\n\n\n@pytest.mark.skip\ndef test_a(): ...\n", "All were skipped"),
        )
    ):
        turn = await Session(tmp_path / str(number), {"test_a.py": text}).say("run the tests")
        assert "No test ran" in turn.said and why in turn.said, turn.said
    turn = await Session(example(tmp_path)).say("run test_nothing_like_it")
    assert "unittest found none in `test_nothing_like_it`" in turn.said


async def test_finds_the_failing_test_and_fixes_it(tmp_path: Path) -> None:
    session = Session(example(tmp_path))
    turn = await session.say("Find the failing test and fix it")
    assert [item.content for item in turn.plans[0].items] == ["Run the tests", "Repair the failing tests"]
    assert turn.said.startswith("1 test failed, 15 passed")
    assert "Proven in place" in turn.said
    assert turn.titles[-1] == "Run the tests; Repair the failing tests"
    tests = [command for command in turn.commands if "unittest discover" in command and "lab" not in command]
    assert len(tests) == 2, "once to find it and once to prove the repair"
    turn = await session.say("run the tests, fix what fails, then run them again")
    assert len(turn.commands) == 2, "a run that is asked for is made"


async def test_says_when_there_are_no_tests(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"a.py": "x = 1\n"}).say("run the tests")
    assert "found no tests" in turn.said
    assert turn.commands == []


async def test_runs_what_other_languages_use(tmp_path: Path) -> None:
    session = Session(tmp_path, {"Makefile": "test:\n\t@echo all good\n"})
    turn = await session.say("run the tests")
    assert turn.commands == ["make test"]


async def test_a_run_in_colours_is_read_all_the_same(tmp_path: Path) -> None:
    """A project may ask for them in its settings."""
    files = {"test_a.py": "def test_a():\n    assert 1 == 2\n", "pytest.ini": "[pytest]\naddopts = --color=yes\n"}
    turn = await Session(tmp_path, files).say("run the tests")
    assert "1 test failed" in turn.said and "`test_a.py::test_a` (test_a.py:2)" in turn.said
    assert "\x1b" not in turn.said
