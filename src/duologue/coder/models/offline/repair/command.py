"""The shell line that runs the lab with the project's Python."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

LAB = Path(__file__).parent / "lab"


def lab_command(python: str, job: dict[str, Any]) -> str:
    """A shell line that runs a job."""
    return f"{shlex.quote(python)} {shlex.quote(str(LAB))} {shlex.quote(json.dumps(job))}"
