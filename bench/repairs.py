"""How often the offline model repairs a fault, and whether it is ever wrong.

It takes source distributions from PyPI, breaks one token at a time so that the project's own tests notice, lets the
model work through the real loop with every permission given, and compares with the original.

    python -m bench.repairs                 # the three projects of REPAIRS.md; continues where it was stopped
    python -m bench.repairs --project toolz==1.0.0 --faults 5
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType

from bench.repair_faults import KINDS, Fault, faults, is_other_code
from duologue.coder.events import PermissionAnswer, PermissionQuestion, Text
from duologue.coder.loop import Coder
from duologue.coder.models.base import UserMessage
from duologue.coder.models.offline import OfflineModel
from duologue.coder.permissions import PermissionStore
from duologue.local.workspace import Workspace

SEED = 20260801
PROJECTS = ("munch==4.0.0", "rfc3986==2.0.0", "unidiff==1.0.1")
CACHE = Path(".bench/repairs")
REPORT = Path(__file__).with_name("REPAIRS.md")
BY_HAND = "## What came before"
SKIPPED = ("test", "tests", "docs", "doc", "examples", "benchmark", "benchmarks", "setup.py", "conftest.py", "build")


@dataclass(frozen=True)
class Result:
    """One fault and what became of it: `repaired`, `declined` or `wrong`. Times are seconds."""

    project: str
    number: int
    kind: str
    place: str
    old: str
    new: str
    outcome: str
    seconds: float
    said: str


class Bench:
    """The projects, unpacked, and an environment with pytest to run them in."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.python = folder / "env/bin/python"

    def prepare(self, requirement: str) -> Path:
        """The unpacked source distribution."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(self.python.parent.parent)], check=True)
            subprocess.run([str(self.python), "-m", "pip", "install", "-q", "pytest"], check=True)
        place = self.folder / requirement.replace("==", "-")
        if not place.exists():
            self._unpack(requirement, place)
        return place

    def _unpack(self, requirement: str, place: Path) -> None:
        drop = self.folder / "sdists" / place.name
        pip = [str(self.python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(drop)]
        subprocess.run([*pip, requirement], check=True)
        draft = place.with_name(place.name + ".draft")
        with tarfile.open(next(drop.iterdir())) as archive:
            archive.extractall(draft, filter="data")
        next(draft.iterdir()).rename(place)
        draft.rmdir()

    def environment(self) -> dict[str, str]:
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": os.environ.get("HOME", "/"), "PYTHONDONTWRITEBYTECODE": "1"}

    def passes(self, root: Path) -> bool | None:
        """Whether the tests pass; None when they do not end."""
        roots = os.pathsep.join(str(root / name) for name in ("src", ".") if (root / name).is_dir())
        command = ["python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "addopts="]
        environment = {**self.environment(), "PYTHONPATH": roots}
        try:
            run = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return None
        return run.returncode == 0


def sources(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*.py")) if _is_source(path.relative_to(root))]


def _is_source(path: Path) -> bool:
    named = path.name.startswith(("test_", "_version")) or path.name.endswith("_test.py")
    return not named and not any(part in SKIPPED for part in path.parts)


def seeded(bench: Bench, original: Path, count: int, seed: int) -> list[Fault]:
    """Faults that the project's tests catch, spread over the kinds; kept beside the project for a second run."""
    kept = original.with_name(f"{original.name}.{seed}.{count}.json")
    if kept.exists():
        return [Fault(**value) for value in json.loads(kept.read_text())]
    assert bench.passes(original), f"the tests of {original.name} do not pass as they are"
    chance = random.Random(f"{seed} {original.name}")
    pool: list[Fault] = []
    for path in sources(original):
        pool += faults(str(path.relative_to(original)), path.read_text("utf-8"), chance)
    chance.shuffle(pool)
    found = list(_caught(bench, original, pool, count, chance))
    kept.write_text(json.dumps([asdict(fault) for fault in found]))
    return found


def _caught(bench: Bench, original: Path, pool: list[Fault], count: int, chance: random.Random) -> list[Fault]:
    found: list[Fault] = []
    by_kind = {kind: [fault for fault in pool if fault.kind == kind] for kind in KINDS}
    while len(found) < count and any(by_kind.values()):
        kind = chance.choice([kind for kind in KINDS if by_kind[kind]])
        fault = by_kind[kind].pop()
        text = (original / fault.path).read_text("utf-8")
        if not is_other_code(text, fault.apply(text)):
            continue
        with broken(original, fault) as root:
            if bench.passes(root) is False:
                found.append(fault)
                print(f"{original.name}: fault {len(found)} of {count}: {fault.kind} in {fault.path}", flush=True)
    return found


class broken:
    """A copy of a project with one fault, for as long as the block runs."""

    def __init__(self, original: Path, fault: Fault) -> None:
        self.original, self.fault = original, fault
        self.root = original.with_name(f"{original.name}.broken")

    def __enter__(self) -> Path:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.original, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        path = self.root / self.fault.path
        path.write_text(self.fault.apply(path.read_text("utf-8")), "utf-8")
        return self.root

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


async def repaired(root: Path) -> str:
    """Ask the model through the real loop; what it said."""

    async def allow(_: PermissionQuestion) -> PermissionAnswer:
        return "allow_once"

    coder = Coder(model=OfflineModel(), workspace=Workspace([root]), permissions=PermissionStore(), ask=allow)
    said: list[str] = []
    async with aclosing(coder.turn(UserMessage("Fix the failing test"))) as events:
        async for event in events:
            if isinstance(event, Text):
                said.append(event.text)
    return "".join(said)


def judged(original: Path, root: Path, fault: Fault) -> str:
    """`wrong` is anything but the original program, or the faulty files as they were."""
    old, new = _contents(original), _contents(root)
    changed = [path for path in old.keys() | new.keys() if old.get(path) != new.get(path)]
    if not changed:
        return "repaired"
    if changed != [fault.path]:
        return "wrong"
    if new[fault.path] == fault.apply(old[fault.path]):
        return "declined"
    return "repaired" if _same_program(old[fault.path], new[fault.path]) else "wrong"


def _same_program(old: str, new: str) -> bool:
    """The same bytecode, but for the names of local variables and for places in the text."""
    return _bare(compile(old, "<old>", "exec")) == _bare(compile(new, "<new>", "exec"))


def _bare(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _bare(item) if isinstance(item, CodeType) else (type(item), repr(item)) for item in code.co_consts
    )
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, len(code.co_freevars), code.co_flags)
    return code.co_name, code.co_code, code.co_names, constants, counts


def _contents(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*.py") if "__pycache__" not in path.parts]
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in files}


def measure(bench: Bench, requirement: str, count: int, seed: int) -> list[Result]:
    """Results of one project, kept fault by fault so that a stopped run continues."""
    original = bench.prepare(requirement)
    found = seeded(bench, original, count, seed)
    kept = original.with_name(f"{original.name}.{seed}.{count}.results.json")
    results = [Result(**value) for value in json.loads(kept.read_text())] if kept.exists() else []
    for number, fault in enumerate(found[len(results) :], len(results) + 1):
        with broken(original, fault) as root:
            began = time.monotonic()
            said = asyncio.run(repaired(root))
            seconds = round(time.monotonic() - began, 1)
            text = (original / fault.path).read_text("utf-8")
            place = f"{fault.path}:{text.count(chr(10), 0, fault.start) + 1}"
            result = Result(
                requirement, number, fault.kind, place, text[fault.start : fault.end], fault.new,
                judged(original, root, fault), seconds, said,
            )  # fmt: skip
        results.append(result)
        kept.write_text(json.dumps([asdict(item) for item in results], indent=1))
        what = f"{result.kind:8} {place}: {result.old!r} -> {result.new!r}"
        print(f"{requirement} {number}/{len(found)} {result.outcome:9} {seconds:5.1f} s  {what}", flush=True)
    return results


def report(results: list[Result], seed: int) -> str:
    """The page: a table by project, one by kind, and every fault."""
    projects = [*dict.fromkeys(result.project for result in results)]
    lines = ["# Repairs by the offline model", "", __doc__ or "", f"Seed {seed}, {platform.python_version()}.", ""]
    lines += _table("project", [(name, [r for r in results if r.project == name]) for name in projects], results)
    lines += _table("kind", [(kind, [r for r in results if r.kind == kind]) for kind in KINDS], results)
    lines += ["| place | kind | original | fault | outcome | s |", "|---|---|---|---|---|---|"]
    for result in results:
        old, new = (f"`` {text.replace('|', '&#124;') or ' '} ``" for text in (result.old, result.new))
        place = f"{result.project} {result.place}"
        lines.append(f"| {place} | {result.kind} | {old} | {new} | {result.outcome} | {result.seconds:.0f} |")
    return "\n".join(lines) + "\n"


def _written_by_hand() -> str:
    """What the page says after the tables, which no run can know."""
    text = REPORT.read_text("utf-8") if REPORT.exists() else ""
    return "\n" + text[text.index(BY_HAND) :] if BY_HAND in text else ""


def _table(name: str, parts: list[tuple[str, list[Result]]], results: list[Result]) -> list[str]:
    lines = [
        f"| {name} | faults | repaired | declined | wrong | seconds: median | most |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, part in [*parts, ("all", results)]:
        counts = Counter(result.outcome for result in part)
        times = sorted(result.seconds for result in part) or [0.0]
        outcomes = " | ".join(str(counts[outcome]) for outcome in ("repaired", "declined", "wrong"))
        lines.append(f"| {title} | {len(part)} | {outcomes} | {times[len(times) // 2]:.0f} | {times[-1]:.0f} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", action="append", help="NAME==VERSION; may be given several times")
    parser.add_argument("--faults", type=int, default=20, help="faults for each project")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for one run of a project's tests")
    parser.add_argument("--work", type=Path, default=CACHE, help="where sources and results are kept")
    options = parser.parse_args()
    bench = Bench(options.work.resolve(), options.seconds)
    projects = options.project or PROJECTS
    results: list[Result] = []
    for requirement in projects:
        bench.prepare(requirement)
        os.environ.update(bench.environment())
        results += measure(bench, requirement, options.faults, options.seed)
    text = report(results, options.seed)
    if options.project is None:
        REPORT.write_text(text + _written_by_hand(), "utf-8")
    print(text.split("| place")[0])


if __name__ == "__main__":
    main()
