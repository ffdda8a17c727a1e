"""Which command runs the project's tests."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from duologue.coder.models.offline.turn import Turn, TurnStopped

Kind = Literal["pytest", "unittest", "other"]
TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
_OTHERS = {"Cargo.toml": "cargo test", "go.mod": "go test ./...", "package.json": "npm test", "Makefile": "make test"}


@dataclass(frozen=True, slots=True)
class Suite:
    """How to run tests. `roots` hold the modules, and go in front of the module path where `exposed` says that it takes
    that; `start` is where unittest looks for tests."""

    kind: Kind
    python: str = "python3"
    roots: tuple[str, ...] = ()
    start: str = "."
    options: tuple[str, ...] = ()
    other: str = ""
    exposed: bool = False

    def command(self, target: str | None = None) -> str:
        """A shell line, as plain as can be: a person may allow it for good."""
        match self.kind:
            case "other":
                return self.other
            case "pytest":
                words = ["pytest", "-q", "--tb=short", *self.options, *_pytest_target(target)]
            case "unittest":
                words = ["unittest", *self._unittest_words(target)]
        prefix = f"PYTHONPATH={shlex.quote(':'.join(self.roots))} " if self.exposed else ""
        return prefix + shlex.join([self.python, "-m", *words])

    def _unittest_words(self, target: str | None) -> list[str]:
        where = ["discover", "-s", self.start] + (["-t", "."] if "-t" in self.options else [])
        if target is None:
            return where
        if target.endswith(".py"):
            return [*where, "-p", target.rsplit("/", 1)[-1]]
        return [*where, "-k", target]

    def with_python(self, python: str) -> Suite:
        return dataclasses.replace(self, python=python)


def _pytest_target(target: str | None) -> list[str]:
    if target is None:
        return []
    if "/" in target or "::" in target or target.endswith(".py"):
        return [f"./{target}" if target.startswith("-") else target]
    return ["-k", target]


async def find_suite(turn: Turn) -> Suite:
    """Look at the project's files; stops the turn when it has no tests."""
    known: Suite | None = turn.known.get("suite")
    if known is not None:
        return known
    files = await turn.files()
    tests = [path for path in files if TEST_FILE.search(path)]
    if not tests:
        return Suite("other", other=await _other_command(turn, files))
    roots = ("src",) if any(re.match(r"src/(\w+/__init__|\w+)\.py$", path) for path in files) else ()
    if await _wants_pytest(turn, files):
        return Suite("pytest", roots=roots)
    return unittest_suite(Suite("unittest", roots=roots), files)


def unittest_suite(suite: Suite, files: Sequence[str]) -> Suite:
    """The same suite, run by unittest."""
    folders = sorted(
        {path.rpartition("/")[0] for path in files if TEST_FILE.search(path)}, key=lambda f: (f.count("/"), f)
    )
    start = folders[0] or "."
    package = start != "." and f"{start}/__init__.py" in files
    return dataclasses.replace(suite, kind="unittest", start=start, options=("-t",) if package else ())


async def _other_command(turn: Turn, files: Sequence[str]) -> str:
    for name, command in _OTHERS.items():
        if name in files and (name != "Makefile" or re.search(r"^test\s*:", await turn.read(name), re.MULTILINE)):
            return command
    raise TurnStopped(
        "I found no tests here: no test_*.py, and no Cargo.toml, go.mod, package.json or Makefile with a test target."
    )


async def _wants_pytest(turn: Turn, files: Sequence[str]) -> bool:
    if any(path.rsplit("/", 1)[-1] in ("conftest.py", "pytest.ini") for path in files):
        return True
    pattern = r"(import |from |tool[.:]|\[)pytest\b|^(async )?def test_"
    data = await turn.need("search", pattern=pattern, regex=True, limit=500)
    told = ("pyproject.toml", "setup.cfg", "tox.ini")
    return any(TEST_FILE.search(match["path"]) or match["path"] in told for match in data["matches"])
