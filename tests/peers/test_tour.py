"""Every method of the tables once, in both directions, with each SDK at either end of ours.

A tap between client and agent writes down what passes. A method counts when a message of it has passed, and a request
when it was answered with a result; both SDKs check what they read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sdk_peers import NODE_MODULES, PATIENCE, PYTHON_SDK

from duologue.protocol.method import Key, Side
from duologue.protocol.version import V1, V2, Version

PROGRAMS = Path(__file__).parent / "programs" / "tour"


#: What the answers of ours lack for an SDK that follows a newer draft, by method.
APART = {"ts-sdk-2.4-v2": {"session/prompt": ["messageId"]}}


@dataclass(frozen=True)
class Guest:
    """An SDK. `lacks` says why methods of our tables cannot be tried with it; a name stands for a method, or for all
    that begin with it."""

    name: str
    version: Version
    agent: tuple[str, ...]
    client: tuple[str, ...]
    needs: Path
    lacks: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)


def program(name: str) -> str:
    return str(PROGRAMS / name)


def typescript(release: str, version: Version, module: str, lacks: Mapping[str, str]) -> Guest:
    sdk = NODE_MODULES / f"sdk-{release}" / "dist" / module
    return Guest(
        f"ts-sdk-{release}-{version.name}",
        version,
        ("node", program("ts_agent.mjs")),
        ("node", program("ts_client.mjs")),
        sdk,
        lacks,
        {"ACP_SDK": str(sdk)},
    )


NONE = "it has no such method"
LENT = "it has a name for the messages of lent servers, but no connections to them"
GUESTS = (
    Guest(
        "python-sdk-v1",
        V1,
        (str(PYTHON_SDK), program("python_sdk_agent.py")),
        (str(PYTHON_SDK), program("python_sdk_client.py")),
        PYTHON_SDK,
        {
            **dict.fromkeys(("document/", "nes/", "providers/", "mcp/", "logout", "session/delete"), NONE),
            "$/cancel_request": "it neither sends nor hears it",
        },
    ),
    typescript("1.3", V1, "acp.js", {"mcp/": NONE}),
    typescript("2.4", V1, "v1/unstable/acp.js", {"document/": NONE, "nes/": NONE, "mcp/": LENT}),
    typescript("1.3", V2, "v2/acp.js", {}),
    typescript("2.4", V2, "v2/unstable/acp.js", {"document/": NONE, "nes/": NONE, "mcp/": LENT}),
)


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tour") / "tour.json"
    file.write_bytes(subprocess.run([sys.executable, program("make_tour.py")], capture_output=True, check=True).stdout)
    return file


def guests() -> list[Any]:
    return [
        pytest.param(
            guest, id=guest.name, marks=[] if guest.needs.exists() else [pytest.mark.skip(reason="make peers")]
        )
        for guest in GUESTS
    ]


def travel(
    client: Iterable[str], agent: Iterable[str], env: Mapping[str, str], cwd: Path
) -> tuple[list[dict[str, Any]], str]:
    """What passes between a client and an agent, in order, and what the client prints."""
    log = cwd / "tap.jsonl"
    tap = (sys.executable, program("tap.py"), str(log), "--", "env", *(f"{name}={env[name]}" for name in env), *agent)
    done = subprocess.run(
        [*client, *tap], env={**os.environ, **env}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    passed = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert done.returncode == 0, f"{done.stderr}\n{passed[-3:]}"
    return passed, done.stdout


def tried(passed: Iterable[Mapping[str, Any]]) -> set[Key]:
    """The methods that were told, and the requests that had a result."""
    keys: set[Key] = set()
    asked: dict[tuple[Side, str], Key] = {}
    for line in passed:
        sender, message = Side(line["dir"]), line["msg"]
        match message:
            case {"method": name, "id": id}:
                asked[sender, json.dumps(id)] = Key(sender.other, name, True)
            case {"method": name}:
                keys.add(Key(sender.other, name, False))
            case {"result": _, "id": id}:
                keys.add(asked[sender.other, json.dumps(id)])
    return keys


def missing(guest: Guest, keys: set[Key]) -> set[str]:
    """The methods of the version that were not tried, without those that there is a reason for."""
    without = tuple(guest.lacks)
    return {
        f"{key.receiver.value} {key.name}"
        for key in guest.version.methods.keys() - keys
        if not key.name.startswith(without)
    }


def needless(guest: Guest, keys: set[Key]) -> set[str]:
    """The reasons that explain nothing."""
    left = [key.name for key in guest.version.methods.keys() - keys]
    return {name for name in guest.lacks if not any(key.startswith(name) for key in left)}


@pytest.mark.parametrize("guest", guests())
def test_our_client_and_their_agent(guest: Guest, tour: Path, tmp_path: Path) -> None:
    client = (sys.executable, program("duologue_client.py"), str(guest.version.number), str(tmp_path))
    passed, _ = travel(client, guest.agent, {**guest.env, "TOUR": str(tour)}, tmp_path)
    keys = tried(passed)
    assert missing(guest, keys) == set()
    assert needless(guest, keys) == set()


@pytest.mark.parametrize("guest", guests())
def test_their_client_and_our_agent(guest: Guest, tour: Path, tmp_path: Path) -> None:
    client = (*guest.client, str(tmp_path))
    agent = (sys.executable, program("duologue_agent.py"))
    passed, printed = travel(client, agent, {**guest.env, "TOUR": str(tour)}, tmp_path)
    assert json.loads(printed or "{}") == APART.get(guest.name, {})
    keys = tried(passed)
    assert missing(guest, keys) == set()
    assert needless(guest, keys) == set()


@pytest.mark.parametrize("version", [V1, V2], ids=["v1", "v2"])
def test_both_ends_are_ours(version: Version, tmp_path: Path) -> None:
    """The tour leaves nothing out, but that our agents have their modes as an option too, which our client prefers."""
    client = (sys.executable, program("duologue_client.py"), str(version.number), str(tmp_path))
    passed, _ = travel(client, (sys.executable, program("duologue_agent.py")), {}, tmp_path)
    keys = tried(passed)
    assert {key.name for key in version.methods.keys() - keys} <= {"session/set_mode"}
