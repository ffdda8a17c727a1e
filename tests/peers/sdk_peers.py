"""The programs that take part: each speaks the common language of README.md, on another implementation."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = Path(__file__).parent / "programs"
PLACE = ROOT / ".peers"
PYTHON_SDK = PLACE / "venv" / "bin" / "python"
NODE_MODULES = PLACE / "node" / "node_modules"

PATIENCE = 60


@dataclass(frozen=True)
class Peer:
    """An agent and a client for one protocol version. `ours` marks the implementation under test."""

    name: str
    version: int
    agent: tuple[str, ...]
    client: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[Path, ...] = ()
    ours: bool = False

    @property
    def missing(self) -> str:
        """Why it cannot take part here, or an empty text."""
        lacking = [str(path.relative_to(ROOT)) for path in self.needs if not path.exists()]
        if lacking:
            return f"{self.name}: no {', '.join(lacking)} (make peers installs it)"
        return "" if shutil.which(self.agent[0]) else f"{self.name}: no {self.agent[0]} on PATH"


def duologue(version: int) -> Peer:
    agent, client = PROGRAMS / "duologue_agent.py", PROGRAMS / "duologue_client.py"
    return Peer(
        f"duologue-v{version}",
        version,
        (sys.executable, str(agent)),
        (sys.executable, str(client), f"--protocol={version}"),
        needs=(agent, client),
        ours=True,
    )


def python_sdk() -> Peer:
    agent, client = PROGRAMS / "python_sdk_agent.py", PROGRAMS / "python_sdk_client.py"
    python = str(PYTHON_SDK)
    return Peer("python-sdk-v1", 1, (python, str(agent)), (python, str(client)), needs=(PYTHON_SDK,))


def typescript_sdk(release: str, version: int, module: str) -> Peer:
    sdk = NODE_MODULES / f"sdk-{release}" / "dist" / module
    return Peer(
        f"ts-sdk-{release}-v{version}",
        version,
        ("node", str(PROGRAMS / f"ts_agent_v{version}.mjs")),
        ("node", str(PROGRAMS / "ts_client.mjs")),
        env={"ACP_SDK": str(sdk)},
        needs=(sdk,),
    )


PEERS = (
    duologue(1),
    duologue(2),
    python_sdk(),
    typescript_sdk("1.3", 1, "acp.js"),
    typescript_sdk("2.4", 1, "v1/stable/acp.js"),
    typescript_sdk("1.3", 2, "v2/acp.js"),
    typescript_sdk("2.4", 2, "v2/stable/acp.js"),
)

# Two foreign ends prove that the programs themselves are sound; a few pairs are enough for that.
FOREIGN = {
    ("python-sdk-v1", "ts-sdk-2.4-v1"),
    ("ts-sdk-1.3-v1", "python-sdk-v1"),
    ("ts-sdk-2.4-v1", "ts-sdk-1.3-v1"),
    ("ts-sdk-1.3-v2", "ts-sdk-1.3-v2"),
    ("ts-sdk-2.4-v2", "ts-sdk-2.4-v2"),
}

# The second version is a draft that moves; these ends follow different states of it.
DRAFTS_APART = {
    ("ts-sdk-2.4-v2", "duologue-v2"): "a newer draft: the answer to a prompt must name the user message",
}


@dataclass(frozen=True)
class Pair:
    """A client that drives an agent."""

    client: Peer
    agent: Peer

    def run(self, cwd: Path, *options: str) -> dict[str, Any]:
        """Starts the client on the agent and gives what the client saw."""
        command = [*self.client.client, "--cwd", str(cwd), *options, "--", *self.agent_command()]
        environment = {**os.environ, **self.client.env}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        seen: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return seen

    def agent_command(self) -> list[str]:
        """The agent's own settings travel on its command line: clients hand their environment on in different ways."""
        settings = [f"{name}={value}" for name, value in self.agent.env.items()]
        return [*(["env", *settings] if settings else []), *self.agent.agent]


def pairs(*versions: int) -> list[Any]:
    """The pairs of these versions, as parameters of a test; with a mark where something is missing."""
    return [
        param(client, agent)
        for client in PEERS
        for agent in PEERS
        if client.version == agent.version and client.version in versions
        if client.ours or agent.ours or (client.name, agent.name) in FOREIGN
    ]


def param(client: Peer, agent: Peer) -> Any:
    missing = "; ".join(sorted(filter(None, {client.missing, agent.missing})))
    marks: list[pytest.MarkDecorator] = [pytest.mark.skip(reason=missing)] if missing else []
    marks += drafts_apart(client.name, agent.name)
    return pytest.param(Pair(client, agent), id=f"{client.name}--{agent.name}", marks=marks)


def drafts_apart(client: str, agent: str) -> list[pytest.MarkDecorator]:
    """The mark of a pair that cannot hold until one end follows the other's draft."""
    reason = DRAFTS_APART.get((client, agent))
    return [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
