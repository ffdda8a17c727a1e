"""`duologue try-edits`: the command of a repair is one that a person can read, and that the documented rules cover."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from cli_kit import run

from duologue.cli import run as run_command
from duologue.cli import try_edits
from duologue.coder.models.offline.repair import command
from duologue.local.rules import Run, parse_rule
from wire import PATIENCE


@pytest.fixture(params=["1", "2"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).parent / "duologue"
QUESTION = "makes one small edit at a time in the copy"


def examples() -> list[list[str]]:
    """The commands of the documentation that repair a test by rules, as words."""
    told = (ROOT / "docs" / "cli.md").read_text(), run_command.EPILOG
    lines = [line.strip().removeprefix("$ ") for text in told for line in text.splitlines() if "try-edits" in line]
    return [shlex.split(line) for line in lines if line.startswith("duologue run")]


def failing_project(folder: Path) -> Path:
    """The example project as one whose package lies in `src` and whose tests pytest runs."""
    shutil.copytree(ROOT / "examples" / "project" / "invoicer", folder / "src" / "invoicer")
    shutil.copytree(ROOT / "examples" / "project" / "tests", folder / "tests")
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    return folder


def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{SCRIPT.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "DUOLOGUE_MODEL": "offline"}


@pytest.mark.skipif(not SCRIPT.exists(), reason="the command is not installed")
@pytest.mark.parametrize(("words", "protocol"), list(zip(examples(), "12", strict=True)), ids=["page", "help"])
def test_the_documented_rules_are_enough_for_a_repair(tmp_path: Path, words: list[str], protocol: str) -> None:
    project = failing_project(tmp_path / "project")
    words = [*words[2:], "--protocol", protocol]
    done = run(*words, cwd=project, env=environment(tmp_path), patience=8 * PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "allowed once by the rule run:duologue try-edits *" in done.stdout and "refused" not in done.stdout
    assert "self.pieces >= BULK_FROM" in (project / "src" / "invoicer" / "invoice.py").read_text()


@pytest.mark.skipif(not SCRIPT.exists(), reason="the command is not installed")
def test_the_question_says_what_is_run_and_why(tmp_path: Path, protocol: str) -> None:
    project = shutil.copytree(ROOT / "examples" / "project", tmp_path / "project")
    words = ["fix the failing test", "--allow", "run:python3 -m unittest *", "--protocol", protocol]
    done = run(*words, cwd=project, env=environment(tmp_path))
    assert done.returncode == 6
    question = done.stdout.partition("Try small edits in a scratch copy [execute]")[2]
    assert QUESTION in question and "│ This copies the project to a temporary folder" in question
    assert "\n  $ duologue try-edits --python=python3 --suite=unittest --start=tests --option=-t tests." in question
    assert question.count("try-edits") == 1 and "{" not in question


def parsed(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    try_edits.add_arguments(parser)
    words = shlex.split(line)
    return parser.parse_args(words[words.index("try-edits") + 1 :])


@pytest.mark.parametrize(
    "members",
    [
        {"kind": "pytest"},
        {"kind": "unittest", "start": "tests", "options": ["-t"], "roots": ["src", "my lib"]},
        {"kind": "pytest", "options": ["-o", "addopts="], "seconds": 0.5, "most_bytes": 7},
    ],
)
@pytest.mark.parametrize("failing", [[], ["tests/a.py::test_b[it's $x]", "tests/a.py::test_c"], ["-k", "--"]])
def test_the_command_is_read_as_it_was_meant(members: dict[str, object], failing: list[str]) -> None:
    chosen = parsed(command.try_edits_command("a b/python", failing, **members))
    job = {option.member: getattr(chosen, option.member) for option in command.OPTIONS}
    assert {member: value for member, value in job.items() if value is not None} == members
    assert (chosen.python, chosen.failing) == ("a b/python", failing)


def test_a_member_that_has_no_option_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="sort"):
        command.try_edits_command("python3", [], kind="pytest", sort="up")


def test_the_name_alone_is_used_where_it_finds_this_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule can cover that one wherever it is installed; a program of that name that is another is not started."""
    rule = parse_rule("run:duologue try-edits *")
    ours, others = tmp_path / "ours", tmp_path / "others"
    for folder in (ours, others):
        folder.mkdir()
        (folder / "duologue").write_text("#!/bin/sh\n")
        (folder / "duologue").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "duologue").symlink_to(ours / "duologue")
    monkeypatch.setattr(sys, "executable", str(ours / "python"))
    for path, named in ((ours, True), (tmp_path / "bin", True), (others, False), (tmp_path, False)):
        monkeypatch.setenv("PATH", str(path))
        line = command.try_edits_command("python3", ["a.py::test_b"], kind="pytest")
        assert rule.covers(Run(line, tmp_path), tmp_path) is named
        assert named or shlex.split(line)[0] == str(ours / "duologue")
    (ours / "duologue").unlink()
    assert shlex.split(command.try_edits_command("python3", [], kind="pytest"))[1:4] == ["-P", "-m", "duologue"]


def test_a_python_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = run("--suite", "pytest", "--python", "no-such-python", command="try-edits", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("duologue try-edits: --python no-such-python: No such file")


def test_it_tries_edits_in_a_copy_of_this_folder(tmp_path: Path) -> None:
    project = failing_project(tmp_path / "project")
    before = {path: path.is_dir() or path.read_bytes() for path in project.rglob("*")}
    done = run("--suite=unittest", "--start=tests", "--root=src", command="try-edits", cwd=project)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.partition("lab-result ")[2].partition("\x1b")[0])
    assert [(edit["old"], edit["new"]) for edit in found["proven"]] == [(">", ">=")]
    assert {path: path.is_dir() or path.read_bytes() for path in project.rglob("*")} == before
