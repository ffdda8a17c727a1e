"""One run of one job by one contestant, in fresh processes."""

import json
import os
import shutil
import subprocess

from bench.contestants import NEUTRAL, Contestant
from bench.rows import Row, Sample, Side

PATIENCE = 180


class Failed(Exception):
    """The job did not come to its end; the text is the last thing the program said."""


def command_of(row: Row, who: Contestant) -> list[str]:
    match row.side:
        case Side.AGENT:
            return [NEUTRAL, "client", str(who.version), *row.job, "--", *who.agent]
        case Side.CLIENT:
            return [*who.client, *row.job, "--", NEUTRAL, "agent"]
        case Side.BOTH:
            return [*who.client, *row.job, "--", *who.agent]


def one_core() -> list[str]:
    """The prefix that keeps a command and its children on one core, where the system can."""
    taskset = shutil.which("taskset")
    return [taskset, "-c", str(max(os.sched_getaffinity(0)))] if taskset else []


def run(row: Row, who: Contestant) -> Sample:
    """Raises Failed when the program breaks, answers with an error or takes longer than PATIENCE seconds."""
    command = [*(one_core() if row.pinned else []), *command_of(row, who)]
    try:
        done = subprocess.run(
            command, env={**os.environ, **who.env}, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {PATIENCE} s") from None
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    sample: Sample = json.loads(done.stdout.strip().splitlines()[-1])
    check_count(row, sample)
    return sample


def check_count(row: Row, sample: Sample) -> None:
    """A program that loses messages is not fast."""
    counted = row.job[0] in {"stream", "roundtrip"}
    if counted and sample["count"] != row.count:
        raise Failed(f"handled {sample['count']:.0f} of {row.count}")
