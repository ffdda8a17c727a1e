"""The examples that were migrated from the Python SDK do what their originals do, each with either other end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sdk_peers import PATIENCE, PLACE, PYTHON_SDK, ROOT

ORIGINALS = PLACE / "examples"
AGENTS = {
    "theirs": [str(PYTHON_SDK), str(ORIGINALS / "echo_agent.py")],
    "ours": [sys.executable, str(ROOT / "examples" / "migrated_echo_agent.py")],
}
CLIENTS = {
    "theirs": [str(PYTHON_SDK), str(ORIGINALS / "client.py")],
    "ours": [sys.executable, str(ROOT / "examples" / "migrated_client.py")],
}

pytestmark = pytest.mark.skipif(not ORIGINALS.is_dir(), reason="no .peers/examples (make peers installs them)")


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_all_pairs_print_the_same(client: str, agent: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*CLIENTS[client], *AGENTS[agent]],
        cwd=tmp_path,
        input="hello\n\nGrüße 🙂\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == "> | Agent: hello\n> > | Agent: Grüße 🙂\n> "
