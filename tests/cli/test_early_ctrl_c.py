"""Ctrl-C while a command is still being loaded: it ends with 130 and says nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_kit import bare_environment

from duologue.cli import main
from wire import PATIENCE

#: Interrupts itself when it comes to load the module that is named first.
INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from duologue.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("duologue.cli.commands", ["run", "hello"]),
        ("duologue.cli.run", ["run", "hello"]),
        ("duologue.cli.check", ["check", "agent", "x"]),
        ("duologue.transports.claim", ["agent"]),
        ("duologue.cli.agent", ["agent"]),
        ("duologue.coder.acp", ["agent"]),
    ],
)
def test_ctrl_c_while_loading(module: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, *words],
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_what_python_makes_of_ctrl_c_while_a_class_is_made_ends_it_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: object) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("duologue.cli.commands.dispatch", load)
    assert main(["run"]) == 130


def test_another_error_of_that_kind_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: object) -> int:
        raise RuntimeError("something else")

    monkeypatch.setattr("duologue.cli.commands.dispatch", load)
    with pytest.raises(RuntimeError, match="something else"):
        main(["run"])
