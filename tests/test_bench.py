"""The measured programs of ours still work: a tiny job for each, against the neutral counterpart in Python."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parent.parent / "bench"
NEUTRAL = (sys.executable, str(BENCH / "neutral.py"))
AGENT = (sys.executable, str(BENCH / "programs" / "duologue_agent.py"))
CLIENT = (sys.executable, str(BENCH / "programs" / "duologue_client.py"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the figures of a process are read as Linux gives them")


def figures(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("job", [("stream", "50", "3000"), ("roundtrip", "20", "4")])
def test_our_agent_does_the_jobs(version: str, job: tuple[str, ...]) -> None:
    measured = figures(*NEUTRAL, "client", version, *job, "--", *AGENT)
    assert measured["count"] == int(job[1])
    assert measured["seconds"] > 0
    assert measured["peak_mib"] > 1


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize(
    ("job", "count"), [(("stream", "50", "32"), 50), (("roundtrip", "20", "4"), 20), (("ask", "20", "4"), 0)]
)
def test_our_client_does_the_jobs(version: str, job: tuple[str, ...], count: int) -> None:
    measured = figures(*CLIENT, f"--protocol={version}", *job, "--", *NEUTRAL, "agent")
    assert measured["count"] == count
    assert measured["seconds"] > 0


def test_a_start_is_measured() -> None:
    measured = figures(*NEUTRAL, "client", "1", "start", "--", *AGENT)
    assert measured["start_ms"] > 1
    assert measured["rss_mib"] > 1
