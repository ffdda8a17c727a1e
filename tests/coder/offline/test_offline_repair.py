"""Repairs of real failing tests through the real loop: proven, or declined with a reason; never in tests."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from offline_kit import PATIENT, Session, example

from duologue.coder.models.offline import OfflineModel, Settings

CASE = "import unittest\n\nimport app\n\n\nclass AppTest(unittest.TestCase):\n"


def project(folder: Path, source: str, *tests: str, model: OfflineModel | None = None) -> Session:
    """A module `app` and a test class with these bodies."""
    bodies = "".join(f"    def test_{n}(self):\n        {body}\n\n" for n, body in enumerate(tests))
    return Session(folder, {"app.py": source, "tests/__init__.py": "", "tests/test_app.py": CASE + bodies}, model)


def contents(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own, to see that nothing stays in it."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


async def test_repairs_the_example_and_proves_it(tmp_path: Path, scratch: Path) -> None:
    session = Session(example(tmp_path))
    before = {path: session.read(path) for path in session.files()}
    turn = await session.say("Fix the failing test")
    after = {path: session.read(path) for path in session.files()}
    changed = {path: text for path, text in after.items() if before.get(path) != text}
    assert changed == {
        "invoicer/invoice.py": before["invoicer/invoice.py"].replace("self.pieces > BULK", "self.pieces >= BULK")
    }
    assert before.keys() == after.keys()
    assert "Proven in place: Ran 16 tests" in turn.said
    assert [question.kind for question in session.questions] == ["execute", "execute", "edit", "execute"]
    assert contents(scratch) == []
    again = await session.say("fix the failing test")
    assert "nothing to repair" in again.said
    assert "edit_file" not in again.tools


async def test_declines_when_several_edits_fit(tmp_path: Path) -> None:
    source = "def is_big(number):\n    return number < 10\n"
    session = project(tmp_path, source, "self.assertTrue(app.is_big(20))", "self.assertFalse(app.is_big(5))")
    turn = await session.say("fix the failing tests")
    assert "More than one edit lets every test pass" in turn.said
    assert "`<` becomes `>`" in turn.said
    assert "`<` becomes `>=`" in turn.said
    assert session.read("app.py") == source


async def test_says_when_no_small_edit_helps(tmp_path: Path) -> None:
    session = project(
        tmp_path, "def double(number):\n    return number\n", "self.assertEqual(app.double(21), 42)", "app.double(1)"
    )
    turn = await session.say("fix the bug")
    assert "No single small edit" in turn.said
    assert "app.py:2" in turn.said
    assert "edit_file" not in turn.tools


async def test_never_touches_tests(tmp_path: Path) -> None:
    session = project(
        tmp_path, "def one():\n    return 1\n", "self.assertEqual(app.one(), 1)", "self.assertEqual(len('ab'), 3)"
    )
    before = session.read("tests/test_app.py")
    turn = await session.say("fix the failing test")
    assert "Nothing is changed" in turn.said
    assert session.read("tests/test_app.py") == before


IMPORT_TIME = """\
LIMIT = 4


class Box:
    size = 3

    def fits(self, number, margin=1):
        return number + margin <= self.size + LIMIT
"""


SIZES = ("self.assertEqual((app.LIMIT, app.Box.size), (4, 3))",)
TIGHT = ("self.assertTrue(app.Box().fits(6))", "self.assertFalse(app.Box().fits(7))")
MARGINS = ("self.assertTrue(app.Box().fits(7, 0))", "self.assertFalse(app.Box().fits(8, 0))")


@pytest.mark.parametrize(
    ("fault", "tests"),
    [
        (("LIMIT = 4", "LIMIT = 5"), SIZES + TIGHT),
        (("size = 3", "size = 2"), SIZES + TIGHT),
        (("margin=1", "margin=0"), SIZES + TIGHT + MARGINS),
    ],
)
async def test_repairs_what_runs_at_import(tmp_path: Path, fault: tuple[str, str], tests: tuple[str, ...]) -> None:
    session = project(tmp_path, IMPORT_TIME.replace(*fault), *tests)
    turn = await session.say("fix the failing test")
    assert session.read("app.py") == IMPORT_TIME, turn.said


async def test_repairs_a_module_that_cannot_be_imported(tmp_path: Path) -> None:
    good = "import string\n\nLETTERS = string.ascii_lowercase\n\n\ndef first():\n    return LETTERS[0]\n"
    tests = "import app\n\n\ndef test_first():\n    assert app.first() == 'a'\n\n\n"
    tests += "def test_all():\n    assert app.string.ascii_lowercase == app.LETTERS\n"
    session = Session(tmp_path, {"app.py": good.replace("lowercase", "lowercas"), "test_app.py": tests})
    turn = await session.say("make the tests pass")
    assert session.read("app.py") == good, turn.said


ENDLESS = """\
def steps(number):
    count = 0
    while number > 0:
        number += 2
        count += 1
    return count
"""


async def test_repairs_an_endless_loop(tmp_path: Path) -> None:
    good = ENDLESS.replace("number +=", "number -=")
    tests = (
        "self.assertEqual(app.steps(10), 5)",
        "self.assertEqual(app.steps(1), 1)",
        "self.assertEqual(app.steps(0), 0)",
    )
    model = OfflineModel(replace(PATIENT, test_seconds=2, hanging_seconds=1))
    session = project(tmp_path, ENDLESS, *tests, model=model)
    turn = await session.say("fix the failing test")
    assert session.read("app.py") == good, turn.said


TWO_FAULTS = "def is_big(number):\n    return number < 10\n\n\ndef double(number):\n    return number + 2\n"
BIG = "app.is_big(20) and app.is_big(10) and not app.is_big(9)"
TWO_TESTS = {
    "test_big.py": f"import app\n\n\ndef test_is_big():\n    assert {BIG}\n",
    "test_double.py": "import app\n\n\ndef test_double():\n    assert app.double(4) == 8\n",
}
ABSENT = {"test_absent.py": "import absent\n\n\ndef test_absent():\n    assert absent\n"}


@pytest.mark.parametrize(
    ("named", "more"), [("test_is_big", {}), ("test_big.py", ABSENT), ("test_big.py::test_is_big", ABSENT)]
)
async def test_repairs_the_test_that_is_named_though_others_fail(
    tmp_path: Path, named: str, more: dict[str, str]
) -> None:
    session = Session(tmp_path, {"app.py": TWO_FAULTS, **TWO_TESTS, **more})
    turn = await session.say(f"fix {named}")
    assert session.read("app.py") == TWO_FAULTS.replace("number < 10", "number >= 10"), turn.said


@pytest.mark.parametrize("named", ["test_big", "test_big.py", "tests.test_big", "BigTest"])
async def test_no_repair_of_a_named_test_breaks_another_one(tmp_path: Path, named: str) -> None:
    """It says that every test that passed before still passes."""
    source = "def is_big(number):\n    return number > 10\n"
    case = "import unittest\n\nimport app\n\n\nclass {}Test(unittest.TestCase):\n    def test_it(self):\n        {}\n"
    big, small = "self.assertTrue(app.is_big(10))", "self.assertFalse(app.is_big(10))"
    files = {"tests/test_big.py": case.format("Big", big), "tests/test_small.py": case.format("Small", small)}
    session = Session(tmp_path, {"app.py": source, "tests/__init__.py": "", **files})
    turn = await session.say(f"fix {named}")
    assert "No single small edit" in turn.said, turn.said
    assert session.read("app.py") == source


@pytest.mark.parametrize("module", ["zzgraphics_toolkit", "unidecoder"])
async def test_what_is_not_installed_is_told_and_not_searched_for(tmp_path: Path, module: str) -> None:
    """It tried thousands of edits, and then knew no line that might be at fault."""
    source = f"def big(number):\n    import {module}\n    return number > 10\n"
    session = project(tmp_path, source, "self.assertTrue(app.big(11))", "self.assertTrue(app.big(10))")
    turn = await session.say("fix the failing test")
    assert f"No edit repairs that: python3 does not have `{module}`, which the tests need." in turn.said
    assert len(turn.commands) == 1 and session.read("app.py") == source


async def test_a_module_whose_name_is_misspelt_is_repaired(tmp_path: Path) -> None:
    source = "import jsn\n\n\ndef read(text):\n    return json.loads(text)\n"
    turn = await project(tmp_path, source, "self.assertEqual(app.read('1'), 1)").say("fix the failing test")
    assert "No edit repairs that" not in turn.said


async def test_a_refused_trial_changes_nothing(tmp_path: Path) -> None:
    session = Session(example(tmp_path))
    session.answers["execute"] = "reject_once"
    turn = await session.say("fix the failing test")
    assert "Not allowed, so I stopped. Nothing was changed." in turn.said
    assert turn.tools.count("edit_file") == 0


async def test_a_refused_edit_changes_nothing(tmp_path: Path) -> None:
    session = Session(example(tmp_path))
    before = session.read("invoicer/invoice.py")
    session.answers["edit"] = "reject_once"
    turn = await session.say("fix the failing test")
    assert "Not allowed, so I stopped. Nothing was changed." in turn.said
    assert session.read("invoicer/invoice.py") == before


async def test_a_project_that_is_too_big_is_left_alone(tmp_path: Path) -> None:
    session = Session(example(tmp_path), model=OfflineModel(Settings(copied_bytes=1000)))
    turn = await session.say("fix the failing test")
    assert "I cannot repair this: the project has more than" in turn.said


def test_the_example_runs_as_its_readme_says(tmp_path: Path) -> None:
    assert shutil.which("python3")
    root = example(tmp_path)
    assert "python -m unittest discover -s tests -t ." in (root / "README.md").read_text()


async def test_a_line_that_runs_at_import_is_repaired_though_another_test_of_the_file_fails(tmp_path: Path) -> None:
    source = "LIMIT = 11\n\n\ndef is_big(number):\n    return number >= LIMIT\n\n\n"
    source += "def double(number):\n    return number + 2\n"
    tests = "import app\n\n\ndef test_is_big():\n    assert app.is_big(10) and not app.is_big(9)\n"
    tests += "\n\ndef test_double():\n    assert app.double(4) == 8\n"
    session = Session(tmp_path, {"app.py": source, "test_app.py": tests})
    turn = await session.say("fix test_app.py::test_is_big")
    assert session.read("app.py") == source.replace("11", "10"), turn.said


async def test_no_repair_leaves_failing_what_was_too_much_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.coder.models.offline.repair.flow.MOST_NAMED", 1)
    session = Session(tmp_path, {"app.py": TWO_FAULTS, **TWO_TESTS})
    turn = await session.say("fix the failing tests")
    assert "2 failing" in turn.said and "edit_file" not in turn.tools, turn.said
    assert session.read("app.py") == TWO_FAULTS
