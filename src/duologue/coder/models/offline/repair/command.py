"""The command that tries small edits: words that a person can read and a rule can cover, and what they start.

It is `duologue try-edits` (`cli/try_edits.py`), which becomes the project's Python with the lab.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.coder.models.offline.repair.lab.job import Job

LAB = Path(__file__).parent / "lab"
SUBCOMMAND = "try-edits"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command: the member of a `Job` that it gives, as text, number, or a list that repeats it."""

    name: str
    member: str
    kind: type[str] | type[float] | type[int] | type[list[str]]
    metavar: str
    help: str


OPTIONS = (
    Option("--suite", "kind", str, "KIND", "what runs the tests: pytest or unittest"),
    Option("--start", "start", str, "DIR", "where unittest looks for tests"),
    Option("--root", "roots", list, "DIR", "a folder of modules, for the front of the module path; may be repeated"),
    Option("--option", "options", list, "WORD", "a word for pytest or unittest; may be repeated"),
    Option("--seconds", "seconds", float, "S", "how long to try (60)"),
    Option("--hanging", "hanging", float, "S", "a test that takes longer counts as failing (10)"),
    Option("--most-bytes", "most_bytes", int, "N", "the largest project that is copied (300000000)"),
)
#: What the options give where they are left out.
DEFAULTS: Mapping[str, Any] = {
    member: value
    for member, value in dataclasses.asdict(Job(kind="", root="")).items()
    if member not in {"kind", "root", "began"}
}


def try_edits_command(python: str, failing: Sequence[str], **members: Any) -> str:
    """The shell line, for the project's folder. `members` are those of a `Job`; what is as usual is left out."""
    words = [*_duologue(), SUBCOMMAND, f"--python={python}"]
    for option in OPTIONS:
        value = members.pop(option.member, DEFAULTS.get(option.member))
        if value != DEFAULTS.get(option.member):
            words += [f"{option.name}={each}" for each in (value if isinstance(value, list) else [value])]
    if members:
        raise ValueError(f"the command has no options for {', '.join(members)}")
    return shlex.join([*words, *(["--"] if any(name.startswith("-") for name in failing) else []), *failing])


def lab_words(python: str, job: Mapping[str, Any]) -> list[str]:
    """The words of the program that does a job."""
    return [python, str(LAB), json.dumps(job)]


def _duologue() -> list[str]:
    """How a shell in the project starts this Duologue: by its name alone where that finds it, which a rule can name
    without knowing where it is installed."""
    beside = Path(sys.executable).parent.resolve()
    found = shutil.which("duologue")
    if found is not None and Path(found).resolve().parent == beside:
        return ["duologue"]
    script = beside / "duologue"
    # -P: the project's folder must not be searched for modules of ours.
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "duologue"]
