"""Runs `duologue check` on released programs, and tells what it finds that docs/check.md does not list:
python tests/peers/released/judge.py [NAME ...]. The reports go to .peers/judged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# The folders of the page's reader, and of the kit that the clients' place uses.
sys.path.insert(1, str(Path(__file__).parents[1]))
sys.path.insert(2, str(Path(__file__).parents[2]))

from acp_client_scenarios import DRIVER
from catalog import AGENTS, PLACE, ROOT, Released
from check_page import Found, listed, named
from clients import ACP_CLIENT, ACPX, DUOLOGUE, ReleasedClient
from model_server import ModelServer

from duologue.check.reason import Reason

REPORTS = ROOT / ".peers" / "judged"

#: How long an answer may take on a busy machine, and a whole check, in seconds.
PATIENCE, LONGEST = 60, 3600
#: Agents that run side by side.
JOBS = 3


@dataclass(frozen=True)
class Case:
    """One check: of which program, in which version, and the words of `duologue check` for an address and a home."""

    name: str
    package: str
    version: int
    missing: str
    words: Callable[[str, Path], Sequence[str]]
    #: How the model reads what the check says.
    understand: Callable[[str], str] = lambda text: text

    @property
    def key(self) -> str:
        return f"{self.name}-v{self.version}"

    @property
    def heading(self) -> str:
        """Its name on the page: that of its package, with the version."""
        return self.package.partition(" ")[2]


def of_agent(agent: Released, version: int) -> Case:
    def words(url: str, home: Path) -> Sequence[str]:
        return ["agent", *as_options(agent.environment(url, home)), "--", *agent.command]

    return Case(agent.name, agent.package, version, agent.missing, words, obedient(agent.run))


def of_client(name: str, client: ReleasedClient, command: Sequence[str]) -> Case:
    """`HOME` in the command is its home, with an order for the driver of acp-client in it."""

    def words(url: str, home: Path) -> Sequence[str]:
        order = {"cwd": str(home), "ask": ["hello"], "permission": "allow"}
        (home / "order.json").write_text(json.dumps(order), encoding="utf-8")
        node = PLACE / "node" / "node_modules" / "node" / "bin"
        env = {"HOME": str(home), "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
        return ["client", *as_options(env), "--", *(word.replace("HOME", str(home)) for word in command)]

    return Case(name, client.package, 1, client.missing, words)


def as_options(env: Mapping[str, str]) -> list[str]:
    return [f"--env={name}={value}" for name, value in env.items()]


def obedient(run: Callable[[str], str]) -> Callable[[str], str]:
    """Reads the words of the check as a model would that does everything by the shell of its agent."""

    def understand(text: str) -> str:
        if "Read the file notes.txt" in text:
            return run("cat notes.txt")
        if "Create the file made.txt" in text:
            return run("printf hello > made.txt")
        asked = re.search(r"Run the command `([^`]+)`", text)
        return run(asked[1]) if asked else text

    return understand


CASES = (
    *(of_agent(agent, version) for agent in AGENTS for version in agent.versions),
    of_client("acpx", ACPX[0], [str(ACPX[0].program), "--approve-all", "--agent", "{agent}", "exec", "hello"]),
    of_client(
        "acp-client", ACP_CLIENT[0], ["sh", "-c", f"exec {ACP_CLIENT[0].program} {DRIVER} HOME/order.json {{agent}}"]
    ),
)


def check(case: Case) -> Found | None:
    """What is found on a program, told with what the check took; None where it could not be checked."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    report = REPORTS / f"{case.key}.json"
    report.unlink(missing_ok=True)
    with (
        ModelServer(case.understand) as model,
        # What an agent is still writing there must not cost the rest.
        tempfile.TemporaryDirectory(prefix="judge-", ignore_cleanup_errors=True) as folder,
    ):
        began = time.monotonic()
        done = run_check(case, model.url, Path(folder), report)
        left = left_behind(Path(folder))
        cost = f"{time.monotonic() - began:.0f} s, {len(model.asked)} model calls, left behind: {left or 'nothing'}"
    (REPORTS / f"{case.key}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not report.exists():
        print(f"{case.key}: {done.stderr.strip()}; {cost}")
        return None
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    counts = Counter(row["status"] for row in rows)
    unseen = sum(row["reason"] == Reason.NOT_OBSERVED.value for row in rows)
    summed = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    print(f"{case.key} ({case.package}): {summed} ({unseen} of them not observed); {cost}")
    return {(row["status"], row["version"], row["id"]) for row in rows if row["status"] in ("fail", "warn")}


def run_check(case: Case, url: str, folder: Path, report: Path) -> subprocess.CompletedProcess[str]:
    home, project, temporary = (folder / name for name in ("home", "project", "tmp"))
    for each in (home, project, temporary):
        each.mkdir()
    side, *rest = case.words(url, home)
    options = [f"--protocol={case.version}", f"--timeout={PATIENCE}", f"--jobs={JOBS}", f"--report={report}"]
    with subprocess.Popen(
        [str(DUOLOGUE), "check", side, *options, *rest],
        cwd=project,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate()
            err += f"stopped after {LONGEST} s"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def left_behind(folder: Path) -> str:
    """The folders of the check that are still there, and the processes with a variable that names the folder."""
    left = [path.name for path in (folder / "tmp").glob("duologue-check-*")]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (entry / "environ").read_bytes():
                left.append(f"process {entry.name} ({(entry / 'comm').read_text().strip()})")
        except OSError:
            continue
    return ", ".join(left)


def compare(case: Case, found: Found) -> bool:
    """Tell what is found and not listed, and the other way round; whether that is nothing."""
    expected = {each for each in listed(case.heading) if each[1] == case.version}
    new, gone = found - expected - listed(case.heading, now_and_then=True), expected - found
    for what, rows in (("found and not listed", new), ("listed and not found", gone)):
        for status, _, row in sorted(rows):
            print(f"  {what}: {status} {row}")
    sys.stdout.flush()
    return not new and not gone


def main(names: Sequence[str]) -> int:
    sound = True
    for case in CASES:
        if names and not {case.name, case.key} & set(names):
            continue
        if case.missing:
            print(f"skipped: {case.missing}")
            continue
        found = check(case)
        sound &= found is not None and compare(case, found)
    if strange := named(released=True) - {case.heading for case in CASES}:
        sound = False
        print(f"on the page, and no program of these: {', '.join(sorted(strange))}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
