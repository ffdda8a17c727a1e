"""`duologue agent` with clients of other implementations: a real task on a copy of the example project."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sdk_peers import PEERS, ROOT, Pair, Peer, drafts_apart

TASK = 'In invoicer/invoice.py replace "self.pieces > BULK_FROM" with "self.pieces >= BULK_FROM" and run the tests'
DUOLOGUE = str(Path(sys.executable).parent / "duologue")


def coding_agent(version: int) -> Peer:
    return Peer(f"duologue-v{version}", version, (DUOLOGUE, "agent", "--model", "offline"), (), ours=True)


def clients() -> list[Any]:
    return [
        pytest.param(
            Pair(client, coding_agent(client.version)),
            id=client.name,
            marks=[
                *([pytest.mark.skip(reason=client.missing)] if client.missing else []),
                *drafts_apart(client.name, f"duologue-v{client.version}"),
            ],
        )
        for client in PEERS
    ]


every_client = pytest.mark.parametrize("pair", clients())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    copy = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "project", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def suite_passes(project: Path) -> bool:
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    return subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 0


@every_client
def test_it_repairs_the_example(pair: Pair, project: Path) -> None:
    assert not suite_passes(project)
    (turn,) = pair.run(project, "--prompt", TASK)["turns"]
    assert turn["stop"] == "end_turn"
    assert suite_passes(project)
    kinds = {call["kind"] for call in turn["tools"].values() if call["status"] == "completed"}
    assert {"edit", "execute"} <= kinds
    assert turn["asked"]
    assert [status for _, status in turn["plan"]] == ["completed", "completed"]


@every_client
def test_a_client_that_rejects_finds_nothing_changed(pair: Pair, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    (turn,) = pair.run(project, "--answer", "reject", "--prompt", TASK)["turns"]
    assert turn["stop"] in {"end_turn", "refusal"}
    assert turn["asked"]
    assert before == {path: path.read_bytes() for path in project.rglob("*.py")}


@every_client
def test_it_can_be_cancelled(pair: Pair, project: Path) -> None:
    (turn,) = pair.run(project, "--cancel", "--prompt", TASK)["turns"]
    assert turn["stop"] == "cancelled"
    assert all(call["status"] in {"completed", "failed", "cancelled"} for call in turn["tools"].values())
