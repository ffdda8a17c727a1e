"""Writes docs/peers.md from the newest results of each cell: python tests/peers/released/report.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from catalog import AGENTS, PLACE, ROOT
from scenarios import SCENARIOS

MARKS = {"pass": "yes", "fail": "**no**", "skip": "-", "theirs": "no"}

HEAD = """\
# Released programs

What was tried with released programs, and how it went. `make peers` installs the official SDKs and runs the programs of
tests/peers with them; `make released` installs the agents below (some gigabytes) and lets our client drive each, with a
local server that speaks the OpenAI, Anthropic and Gemini wire formats in place of a paid model. This page is written by
`python tests/peers/released/report.py` from the last run; the recording of a cell is
`.peers/released/recordings/AGENT/SCENARIO.jsonl`.

yes: works. -: the agent does not offer it. no: does not work, for the reason named below.
"""

ABOUT = {
    "text": "the text of a turn arrives and the turn ends",
    "tool_allowed": "a command runs after the user's yes",
    "tool_rejected": "a command does not run after a no",
    "cancelled_while_asking": "a cancel while the question is open ends the turn",
    "cancelled_while_speaking": "a cancel in mid-stream ends the turn, and the next one works",
    "reopened_after_a_restart": "a session is loaded or resumed by a new process",
    "config_changed": "a config option that is not the model is changed",
    "image": "an image reaches the model",
    "mcp_tool": "the model is told of the tool of an MCP server that the client names",
    "killed_while_speaking": "the agent's death ends the turn with an error that says so",
    "second_prompt_while_busy": "a second prompt waits for the first one's end",
    "ten_megabytes": "a prompt of 10 MB does no harm",
}


def newest() -> dict[tuple[str, int, str], str]:
    lines = (PLACE / "results.jsonl").read_text(encoding="utf-8").splitlines()
    cells = map(json.loads, lines)
    return {(cell["agent"], cell["version"], cell["scenario"]): cell["outcome"] for cell in cells}


def page() -> str:
    outcomes = newest()
    columns = [(agent, version) for agent in AGENTS for version in agent.versions]
    columns = [
        column for column in columns if any((column[0].name, column[1], s.__name__) in outcomes for s in SCENARIOS)
    ]
    lines = ["| | " + " | ".join(f"{agent.name} v{version}" for agent, version in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    notes = []
    for scenario in SCENARIOS:
        name = scenario.__name__
        row = []
        for agent, version in columns:
            kind, _, reason = outcomes.get((agent.name, version, name), "").partition(": ")
            row.append(MARKS.get(kind, ""))
            if kind == "theirs":
                notes.append(f"- {agent.name} v{version}, {ABOUT[name]}: {reason}.")
        lines.append(f"| {ABOUT[name]} | " + " | ".join(row) + " |")
    packages = [f"- {agent.name}: {agent.package}" for agent in dict.fromkeys(agent for agent, _ in columns)]
    return "\n".join([HEAD, *lines, "", *packages, "", *(["What does not work:", "", *notes] if notes else [])]) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "peers.md").write_text(page(), encoding="utf-8")
