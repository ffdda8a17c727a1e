"""`make demo`: the built-in agent repairs a copy of the example project, without a network and without a key."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def demo(folder: Path, *request: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / "scripts" / "demo.sh"), *request],
        env={"PATH": os.environ["PATH"], "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "duologue").exists(), reason="needs the checkout's own .venv")
def test_the_demo_repairs_the_copy_and_leaves_the_example_alone(tmp_path: Path) -> None:
    source = ROOT / "examples" / "project" / "invoicer" / "invoice.py"
    before = source.read_bytes()
    done = demo(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "allowed once by the rule edit:invoicer/**" in done.stdout
    assert "allowed once by the rule run:duologue try-edits *" in done.stdout and "by --yes" not in done.stdout
    assert "● Try small edits in a scratch copy [execute]\n  $ " in done.stdout and "lab-result" not in done.stdout
    assert "● Read invoicer/invoice.py [read] · " in done.stdout and "BULK_FROM = 10" not in done.stdout
    assert done.stdout.index("FAILED (failures=1)") < done.stdout.index("│ OK")
    assert "+        if self.pieces >= BULK_FROM:" in done.stdout.partition("What changed in the copy")[2]
    assert source.read_bytes() == before and not list(tmp_path.iterdir())


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "duologue").exists(), reason="needs the checkout's own .venv")
def test_a_demo_that_changed_nothing_says_so(tmp_path: Path) -> None:
    done = demo(tmp_path, "hello")
    assert done.returncode == 0 and done.stdout.rpartition("What changed in the copy")[2].endswith(":\nnothing\n")


def test_the_demo_installs_no_more_than_it_needs(tmp_path: Path) -> None:
    """What all targets share is installed for it only when that is there already."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup.sh", tmp_path / "scripts")
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\ncase $* in *pip*broken*) exit 1 ;; esac\n", encoding="utf-8")
    python.chmod(0o755)

    def told(*extras: str) -> list[str]:
        line = ["sh", str(tmp_path / "scripts" / "setup.sh"), *extras]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode == 1) is ("broken" in extras)
        return (done.stdout + done.stderr).splitlines()

    assert told("") == ["Installing duologue into .venv ..."] and told("") == []
    assert told("broken")[1].startswith("pip could not install it")
    assert told() == ["Installing duologue[dev,agent] into .venv ..."] and told() == told("") == []
    assert "\t@sh scripts/setup.sh ''\n\t@sh scripts/demo.sh\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "duologue").exists(), reason="needs the checkout's own .venv")
def test_the_demo_that_asks_answers_nothing_by_itself(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "DEMO_ASK": "1"}
    line = ["sh", str(ROOT / "scripts" / "demo.sh")]
    done = subprocess.run(
        line, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.returncode == 6 and "there is no terminal to ask at" in done.stdout
    assert "by the rule" not in done.stdout and "by --yes" not in done.stdout
