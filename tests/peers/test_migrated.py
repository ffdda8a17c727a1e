"""The examples that were migrated from the Python SDK do what their originals do, each with either other end."""

from __future__ import annotations

import json
import os
import re
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


NAMES_OF_SDK = """
import importlib, inspect, json, acp
homes = "helpers schema stdio connection core interfaces contrib.permissions contrib.session_state contrib.tool_calls"
found = set()
for module in [acp, *(importlib.import_module(f"acp.{name}") for name in homes.split())]:
    for name, value in vars(module).items():
        found |= {name, *dir(value), *getattr(value, "model_fields", ())}
        if inspect.isfunction(value):
            found |= {*inspect.signature(value).parameters}
print(json.dumps(sorted(found)))
"""


def test_what_the_page_says_of_theirs_exists() -> None:
    done = subprocess.run([str(PYTHON_SDK), "-c", NAMES_OF_SDK], capture_output=True, text=True, check=True)
    page = (ROOT / "docs" / "migration.md").read_text("utf-8")
    theirs = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    named = {name for code in re.findall(r"`([^`]+)`", theirs) for name in re.findall(r"[a-z]\w{3,}|[A-Z]\w{3,}", code)}
    placeholders = {"asyncio", "MyAgent", "conn", "args", "stdin", "stdout", "data"}
    assert len(named) > 40
    assert named - placeholders - {*json.loads(done.stdout)} == set()


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
