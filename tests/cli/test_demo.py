"""`make demo`: the built-in agent repairs a copy of the example project, without a network and without a key."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "duologue").exists(), reason="needs the checkout's own .venv")
def test_the_demo_repairs_the_copy_and_leaves_the_example_alone(tmp_path: Path) -> None:
    source = ROOT / "examples" / "project" / "invoicer" / "invoice.py"
    before = source.read_bytes()
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "demo.sh")],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "allowed once by the rule edit:invoicer/**" in done.stdout
    assert "allowed once by the rule run:duologue try-edits *" in done.stdout and "by --yes" not in done.stdout
    assert "● Try small edits in a scratch copy [execute]\n  $ " in done.stdout and "lab-result" not in done.stdout
    assert "● Read invoicer/invoice.py [read] · " in done.stdout and "BULK_FROM = 10" not in done.stdout
    assert done.stdout.index("FAILED (failures=1)") < done.stdout.index("│ OK")
    assert "+        if self.pieces >= BULK_FROM:" in done.stdout.partition("What changed in the copy")[2]
    assert source.read_bytes() == before and not list(tmp_path.iterdir())


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "duologue").exists(), reason="needs the checkout's own .venv")
def test_the_demo_that_asks_answers_nothing_by_itself(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "DEMO_ASK": "1"}
    line = ["sh", str(ROOT / "scripts" / "demo.sh")]
    done = subprocess.run(
        line, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.returncode == 6 and "there is no terminal to ask at" in done.stdout
    assert "by the rule" not in done.stdout and "by --yes" not in done.stdout
