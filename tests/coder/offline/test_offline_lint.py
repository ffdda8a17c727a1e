"""What a linter finds, and rewrites that are safe and proven."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from offline_kit import Session

from duologue.coder.models.offline.repair.findings import Finding, mended, read_findings


def finding(message: str, line: int = 1, path: str = "a.py") -> Finding:
    return Finding(path, line, 1, "", message)


@pytest.mark.parametrize(
    ("found", "old", "new"),
    [
        (finding("`os` imported but unused"), "import os\nx = 1\n", "x = 1\n"),
        (finding("`os` imported but unused"), "import os, sys\nsys.exit()\n", "import sys\nsys.exit()\n"),
        (
            finding("'json.loads' imported but unused", 2),
            "x = 1\nfrom json import loads, dumps\n",
            "x = 1\nfrom json import dumps\n",
        ),
        (finding("`numpy as np` imported but unused"), "import numpy as np\n", ""),
        (finding("`os` imported but unused"), "import os;  # why\nx = 1\n", "x = 1\n"),
        (finding("`os` imported but unused", 2), "x = 1\nimport os", "x = 1\n"),
        (finding("`os` imported but unused", 2), "def f():\n    import os\n", "def f():\n    pass\n"),
        (finding("f-string without any placeholders"), "x = f'a {{b}}'\n", "x = 'a {b}'\n"),
        (finding("f-string is missing placeholders"), 'x = rf"a\\d"\n', 'x = r"a\\d"\n'),
        (finding("undefined name 'totl'", 2), "total = 1\nprint(totl)\n", "total = 1\nprint(total)\n"),
        (finding("Undefined name `os`"), "print(os.getcwd())\n", "import os\nprint(os.getcwd())\n"),
        (
            finding("Undefined name `os`", 3),
            '"""Doc."""\n\nprint(os.sep)\n',
            '"""Doc."""\n\nimport os\nprint(os.sep)\n',
        ),
        (finding("Comparison to `None` should be `cond is None`"), "if x == None: pass\n", "if x is None: pass\n"),
        (
            finding("use ==/!= to compare constant literals (str, bytes, int, float, tuple)"),
            "y = x is 'a'\n",
            "y = x == 'a'\n",
        ),
        (finding("Trailing whitespace", 2), "x = 1\ny = 2  \n", "x = 1\ny = 2\n"),
        (finding("No newline at end of file"), "x = 1", "x = 1\n"),
    ],
)
def test_mends_what_is_safe(found: Finding, old: str, new: str) -> None:
    assert mended(old, found) == new


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (finding("`os` imported but unused", 1, "pkg/__init__.py"), "import os\n"),
        (finding("`fast` imported but unused", 2), "try:\n    import fast\nexcept ImportError:\n    fast = None\n"),
        (finding("undefined name 'xyzzy'"), "print(xyzzy)\n"),
        (finding("undefined name 'pring'"), "print1 = prints = 1\npring()\n"),
        (finding("Local variable `x` is assigned to but never used"), "def f():\n    x = 1\n"),
        (finding("`os` imported but unused"), "import (\n"),
        (finding("`os` imported but unused"), "import os; x = 1\n"),
        (finding("`os` imported but unused"), "x = 1; import os\n"),
        (finding("`os` imported but unused"), "class A: import os; x = 1"),
    ],
)
def test_leaves_alone_what_is_not(found: Finding, text: str) -> None:
    assert mended(text, found) is None


def test_reads_ruff_and_pyflakes() -> None:
    output = "a.py:1:8: F401 [*] `os` imported but unused\n./b/c.py:3:1: undefined name 'x'\nFound 2 errors.\n"
    assert read_findings(output) == (
        Finding("a.py", 1, 8, "F401", "`os` imported but unused"),
        Finding("b/c.py", 3, 1, "", "undefined name 'x'"),
    )


@pytest.fixture
def with_ruff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("with_ruff")
async def test_repairs_findings_and_proves_it(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "import os\nimport sys\n\nvalue = f'x'\nprint(sys.argv, valeu)\n"})
    turn = await session.say("fix the lint errors")
    assert session.read("a.py") == "import sys\n\nvalue = 'x'\nprint(sys.argv, value)\n"
    assert "Mended 3 of 3 in a.py. The linter agrees." in turn.said
    assert "The linter finds nothing" in (await session.say("lint")).said


@pytest.mark.usefixtures("with_ruff")
async def test_takes_back_what_breaks_the_tests(tmp_path: Path) -> None:
    files = {
        "shop.py": "from helper import total\n",
        "helper.py": "def total(items):\n    return sum(items)\n",
        "test_shop.py": (
            "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n"
            "    def test(self):\n        self.assertEqual(shop.total([1]), 1)\n"
        ),
    }
    session = Session(tmp_path, files)
    turn = await session.say("remove unused imports")
    assert "took it back" in turn.said
    assert session.read("shop.py") == files["shop.py"]


async def test_says_when_there_is_no_linter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    turn = await Session(tmp_path, {"a.py": "import os\n"}).say("lint")
    assert "found no linter" in turn.said
