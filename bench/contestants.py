"""Who is measured: each contestant is a pair of programs that obey the same jobs."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAMS = Path(__file__).parent / "programs"
TOOLS = ROOT / ".bench"
NEUTRAL = str(TOOLS / "neutral")
PYTHON_SDK = TOOLS / "venv" / "bin" / "python"
NODE_MODULES = TOOLS / "node" / "node_modules"

REFERENCE = "Python SDK"


@dataclass(frozen=True)
class Contestant:
    """A column of the table. `client` is empty for the floor, which has no client worth a figure."""

    name: str
    version: int
    agent: tuple[str, ...]
    client: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[Path, ...] = ()

    @property
    def missing(self) -> str:
        """Why it cannot be measured here, or an empty text."""
        lacking = [str(path.relative_to(ROOT)) for path in self.needs if not path.exists()]
        if lacking:
            return f"no {', '.join(lacking)}"
        return "" if shutil.which(self.agent[0]) else f"no {self.agent[0]} on PATH"


def duologue(version: int) -> Contestant:
    agent, client = PROGRAMS / "duologue_agent.py", PROGRAMS / "duologue_client.py"
    return Contestant(
        f"Duologue v{version}",
        version,
        (sys.executable, str(agent)),
        (sys.executable, str(client), f"--protocol={version}"),
        needs=(agent, client),
    )


def python_sdk() -> Contestant:
    agent, client = PROGRAMS / "python_sdk_agent.py", PROGRAMS / "python_sdk_client.py"
    python = str(PYTHON_SDK)
    return Contestant(REFERENCE, 1, (python, str(agent)), (python, str(client)), needs=(PYTHON_SDK,))


def typescript_sdk(release: str, version: int, module: str) -> Contestant:
    sdk = NODE_MODULES / f"sdk-{release}" / "dist" / module
    return Contestant(
        f"TS SDK {release} v{version}",
        version,
        ("node", str(PROGRAMS / f"ts_agent_v{version}.mjs")),
        ("node", str(PROGRAMS / "ts_client.mjs")),
        env={"ACP_SDK": str(sdk)},
        needs=(sdk,),
    )


CONTESTANTS: tuple[Callable[[], Contestant], ...] = (
    python_sdk,
    lambda: typescript_sdk("1.3", 1, "acp.js"),
    lambda: typescript_sdk("2.4", 1, "v1/stable/acp.js"),
    lambda: typescript_sdk("1.3", 2, "v2/acp.js"),
    lambda: duologue(1),
    lambda: duologue(2),
    lambda: Contestant("floor", 1, (NEUTRAL, "agent"), needs=(TOOLS / "neutral",)),
)
