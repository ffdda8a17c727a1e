"""The check on programs of others: it finds what docs/check.md lists, each confirmed by hand, and nothing else."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from check_page import Found, listed, named
from sdk_peers import NODE_MODULES, PLACE, PROGRAMS, PYTHON_SDK, ROOT

EXAMPLES = PLACE / "examples"
NODE_EXAMPLES = NODE_MODULES / "sdk-1.3" / "dist" / "examples"
NEWEST = NODE_MODULES / "sdk-2.4" / "dist"
#: Stands for the folder of the test.
FOLDER = "FOLDER"
#: A check starts its program a hundred times.
SECONDS = 900


def typescript(module: str, program: str) -> list[str]:
    return ["env", f"ACP_SDK={NEWEST / module}", "node", str(PROGRAMS / program)]


def prompting(client: list[str]) -> list[str]:
    """A client of ours on an SDK; it wants the words of its agent apart, which a shell sees to."""
    return ["sh", "-c", f"exec {shlex.join([*client, '--cwd', FOLDER, '--prompt', 'hello'])} -- {{agent}}"]


#: By the name in docs/check.md: the side, the command line, and a file that it needs.
PROGRAMS_OF_OTHERS: dict[str, tuple[str, list[str], Path]] = {
    "Python, echo_agent.py": ("agent", [str(PYTHON_SDK), str(EXAMPLES / "echo_agent.py")], EXAMPLES),
    "Python, agent.py": ("agent", [str(PYTHON_SDK), str(EXAMPLES / "agent.py")], EXAMPLES),
    "Python, a client": (
        "client",
        prompting([str(PYTHON_SDK), str(PROGRAMS / "python_sdk_client.py")]),
        PYTHON_SDK,
    ),
    "TypeScript 1.3, agent.js": ("agent", ["node", str(NODE_EXAMPLES / "agent.js")], NODE_EXAMPLES),
    "TypeScript 1.3, dual-version-agent.js": (
        "agent",
        ["node", str(NODE_EXAMPLES / "dual-version-agent.js")],
        NODE_EXAMPLES,
    ),
    "TypeScript 2.4, an agent of version 1": (
        "agent",
        typescript("v1/stable/acp.js", "ts_agent_v1.mjs"),
        NEWEST,
    ),
    "TypeScript 2.4, an agent of version 2": (
        "agent",
        typescript("v2/stable/acp.js", "ts_agent_v2.mjs"),
        NEWEST,
    ),
    "TypeScript 2.4, a client": ("client", prompting(typescript("v1/stable/acp.js", "ts_client.mjs")), NEWEST),
}


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("program", PROGRAMS_OF_OTHERS)
def test_what_is_found_is_what_is_listed(program: str, tmp_path: Path) -> None:
    side, command, needs = PROGRAMS_OF_OTHERS[program]
    if not needs.exists():
        pytest.skip(f"no {needs.relative_to(ROOT)} (make peers installs it)")
    assert found_on(side, command, tmp_path) == listed(program)


OWN = [sys.executable, "-m", "duologue"]
RUN = [*OWN, "run", "--agent", "{agent}", "--yes", "hello"]


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize(
    ("side", "command"),
    [("agent", [*OWN, "agent", "--model", "offline"]), ("client", RUN), ("client", [*RUN, "--protocol", "2"])],
    ids=["agent", "client of version 1", "client of version 2"],
)
def test_nothing_is_found_on_our_own_programs(side: str, command: list[str], tmp_path: Path) -> None:
    assert not found_on(side, command, tmp_path)


def found_on(side: str, command: list[str], folder: Path) -> Found:
    """What the check finds on a program that is started in a folder."""
    report = folder / "report.json"
    command = [word.replace(FOLDER, str(folder)) for word in command]
    check = [sys.executable, "-m", "duologue", "check", side, f"--report={report}", "--", *command]
    done = subprocess.run(check, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode in (0, 1), done.stderr
    print(done.stdout)
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    return {(row["status"], row["version"], row["id"]) for row in rows if row["status"] in ("fail", "warn")}


def test_each_program_of_the_page_is_checked() -> None:
    assert named(released=False) == set(PROGRAMS_OF_OTHERS)
