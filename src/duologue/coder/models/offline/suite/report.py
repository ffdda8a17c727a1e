"""What a test run said: which tests failed, where, and with which assertion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from duologue.coder.texts import counted


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed. `name` is what the runner calls it; `line` is 1-based."""

    name: str
    path: str | None = None
    line: int | None = None
    message: str = ""

    def __str__(self) -> str:
        where = f" ({self.path}:{self.line})" if self.path else ""
        return f"`{self.name}`{where}: {self.message or 'no message'}"


@dataclass(frozen=True, slots=True)
class Report:
    """One run. `passed` is None when the output does not tell."""

    ok: bool
    failures: tuple[Failure, ...] = ()
    passed: int | None = None
    summary: str = ""
    output: str = ""
    command: str = ""
    timed_out: bool = False


_FAILED = re.compile(r"^(?:FAILED|ERROR|SUBFAILED\S*) ([^\s\[]+(?:\[.*?\](?= - |$))?)(?: - (.*))?$", re.MULTILINE)


def read_pytest(output: str) -> tuple[tuple[Failure, ...], int | None, str]:
    """Failures, passed tests and the last line of a `pytest -q --tb=short` run."""
    blocks = dict(_pytest_blocks(output))
    failures: dict[str, Failure] = {}
    for match in _FAILED.finditer(output):
        name, message = match[1], (match[2] or "").strip()
        block = blocks.get(_title_of(name), "")
        path, line = _last_place(block, name.split("::")[0])
        failures.setdefault(name, Failure(name, path, line, _assertion(block) or message))
    passed = re.search(r"(\d+) passed", output)
    summary = re.findall(
        r"^=*\s*(.*\b(?:passed|failed|errors?|no tests ran|skipped)\b.* in [\d.:hms ()]+)\s*=*$", output, re.MULTILINE
    )
    return tuple(failures.values()), counted(passed[1]) if passed else None, summary[-1].strip("= ") if summary else ""


def _pytest_blocks(output: str) -> Iterator[tuple[str, str]]:
    parts = re.split(r"^_{3,} (?:ERROR (?:collecting|at \w+ of) )?(.+?) _{3,}$", output, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=False)


def _title_of(name: str) -> str:
    return name if "::" not in name else ".".join(name.split("::")[1:])


def _assertion(block: str) -> str:
    lines = [line[1:].strip() for line in block.splitlines() if re.match(r"E\s", line)]
    return " ".join(lines[:2])[:300]


def _last_place(block: str, test_file: str) -> tuple[str | None, int | None]:
    places = re.findall(r"^(\S+?):(\d+): in ", block, re.MULTILINE)
    inside = [place for place in places if place[0] == test_file] or places
    return (inside[-1][0], counted(inside[-1][1])) if inside else (test_file, None)


def read_unittest(output: str) -> tuple[tuple[Failure, ...], int | None, str]:
    """Failures, passed tests and the last line of a `unittest` run."""
    parts = re.split(r"^={20,}\n(?:FAIL|ERROR): (.+)$", output, flags=re.MULTILINE)
    failures = tuple(_unittest_failure(title, block) for title, block in zip(parts[1::2], parts[2::2], strict=False))
    ran = re.search(r"^Ran (\d+) tests? in .*$", output, re.MULTILINE)
    last = re.findall(r"^(OK.*|FAILED \(.*\)|NO TESTS RAN.*)$", output, re.MULTILINE)
    skipped = re.search(r"\bskipped=(\d+)", last[-1]) if last else None
    passed = max(counted(ran[1]) - len(failures) - counted(skipped[1] if skipped else "0"), 0) if ran else None
    return failures, passed, f"{ran[0]}: {last[-1]}" if ran and last else ""


def _unittest_failure(title: str, block: str) -> Failure:
    body = block.split("\n-----", 2)
    text = body[1] if len(body) > 1 else block
    places = re.findall(r'^  File "(.+?)", line (\d+), in (\w+)', text, re.MULTILINE)
    inside = [place for place in places if re.search(r"test", place[0].rsplit("/", 1)[-1])] or places
    dotted = re.match(r"([\w.]+) \(([\w.]+)\)", title)
    name = title if dotted is None else dotted[2] if dotted[2].endswith("." + dotted[1]) else f"{dotted[2]}.{dotted[1]}"
    errors = re.findall(r"^(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)?(?:: .*)?)$", text, re.MULTILINE)
    raised = [line for line in errors if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt|Warning)\b", line)]
    # A module that cannot be imported: the cause comes last.
    at = -1 if raised and raised[0].startswith("ImportError: Failed to import test module") else 0
    message = raised[at] if raised else ""
    path, line = (inside[-1][0], counted(inside[-1][1])) if inside else (None, None)
    return Failure(name, path, line, message[:300])
