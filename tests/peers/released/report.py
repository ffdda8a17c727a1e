"""Writes docs/peers.md from the newest results of each cell: python tests/peers/released/report.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

# The folder of the kit that the clients' place uses.
sys.path.insert(1, str(Path(__file__).parents[2]))

import acpx_scenarios
import jupyter_scenarios
from acp_client_scenarios import ACP_CLIENT_SCENARIOS, ACPLINT_SCENARIOS
from catalog import AGENTS, PLACE, ROOT
from clients import CLIENTS
from scenarios import SCENARIOS

MARKS = {"pass": "yes", "fail": "**no**", "skip": "-", "theirs": "no"}

HEAD = """\
# Released programs

What was tried with released programs, and how it went. `make released` installs them (some gigabytes; what is not to
be had is skipped with its reason), lets our client drive the agents and the clients drive our agent, with a local
server that speaks the OpenAI, Anthropic and Gemini wire formats in place of a paid model. `make sdk-peers` runs
programs written with the official SDKs, and `make peers` both. This page is written by
`python tests/peers/released/report.py` from the newest run of each cell; the recording of a cell is
`.peers/released/recordings/AGENT-vVERSION/SCENARIO.jsonl`. Small forms of such recordings, without paths and prose,
are test data in `tests/transcripts/data`.

## Agents, driven by our client

yes: works. -: the agent does not offer it. no: does not work. The reasons are below.
"""

CLIENTS_HEAD = """\
## Clients, with our agent

`duologue agent`, with its offline model and with a model of the local server ("served"), driven by released clients.
The recording of a cell is what the agent saw and said: `.peers/released/recordings/client-CLIENT/SCENARIO.jsonl`; a
cell for which nothing was started (-) may have none. In each cell the agent and what it started ended when its client
left, and it answered every request but those of a client that left without a word.

yes: works. -: not offered, or not applicable. **no**: does not work. Empty: the client cannot do it, or was not tried.
"""

NOT_TRIED = """\
Not tried: Neovim, since no plugin for it that speaks this protocol is released on npm, on PyPI or in Debian. toad wants
Python 3.14, and is skipped where there is none.
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


def cells(kind: str) -> list[dict[str, Any]]:
    """The results of agents or of clients, oldest first."""
    lines = (PLACE / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return [cell for cell in map(json.loads, lines) if kind in cell]


def newest() -> dict[tuple[str, int, str], str]:
    return {(cell["agent"], cell["version"], cell["scenario"]): cell["outcome"] for cell in cells("agent")}


def clients_part() -> list[str]:
    """The table of clients: a row for each name of a scenario, which means the same for all of them."""
    outcomes = {(cell["client"], cell["scenario"]): cell["outcome"] for cell in cells("client")}
    about: dict[str, str | None] = {}
    for scenario in (
        *acpx_scenarios.SCENARIOS,
        *ACP_CLIENT_SCENARIOS,
        *ACPLINT_SCENARIOS,
        *jupyter_scenarios.SCENARIOS,
    ):
        about.setdefault(scenario.__name__, scenario.__doc__)
    columns = [client for client in CLIENTS if any(name == client.name for name, _ in outcomes)]
    lines = ["| | " + " | ".join(client.name for client in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    notes = []
    for name in about:
        row = []
        for client in columns:
            kind, _, reason = outcomes.get((client.name, name), "").partition(": ")
            row.append(MARKS.get(kind, ""))
            if reason:
                notes.append(f"- {client.name}, {about[name]}: {reason}.")
        lines.append(f"| {about[name]} | " + " | ".join(row) + " |")
    packages = [f"- {client.name}: {client.package}" for client in columns]
    return [CLIENTS_HEAD, *lines, "", *packages, "", *notes, "", NOT_TRIED]


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
            if reason:
                notes.append(f"- {agent.name} v{version}, {ABOUT[name]} ({MARKS[kind]}): {reason}.")
        lines.append(f"| {ABOUT[name]} | " + " | ".join(row) + " |")
    packages = [f"- {name}: {package}" for name, package in {agent.name: agent.package for agent, _ in columns}.items()]
    faults = ["What does not work, is not offered or is worth a remark:", "", *notes, ""] if notes else []
    return "\n".join([HEAD, *lines, "", *packages, "", *faults, *clients_part()])


if __name__ == "__main__":
    (ROOT / "docs" / "peers.md").write_text(page(), encoding="utf-8")
