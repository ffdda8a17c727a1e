"""Our client against released agents, each with a scripted model behind it. Results go to
.peers/released/results.jsonl, and each conversation is recorded beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalog import AGENTS, PLACE, Released
from model_server import ModelServer
from scenarios import SCENARIOS, Lab, Remark, Scenario, Skip

RESULTS = PLACE / "results.jsonl"

CELLS = [
    pytest.param(agent, version, scenario, id=f"{agent.name}-v{version}-{scenario.__name__}")
    for agent in AGENTS
    for version in agent.versions
    for scenario in SCENARIOS
]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.mark.parametrize(("agent", "version", "scenario"), CELLS)
async def test_released_agent(
    agent: Released, version: int, scenario: Scenario, model: ModelServer, tmp_path: Path
) -> None:
    if agent.missing:
        pytest.skip(agent.missing)
    name = scenario.__name__
    record = PLACE / "recordings" / f"{agent.name}-v{version}" / f"{name}.jsonl"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    lab = Lab(agent, version, model, tmp_path, record)
    rare = f"now and then {agent.now_and_then[name]}" if name in agent.now_and_then else ""
    theirs = agent.theirs.get(name, rare)
    outcome = "fail"
    try:
        await scenario(lab)
        outcome = f"pass: {rare}" if rare else "pass"
    except Remark as remark:
        outcome = f"pass: {remark}"
    except Skip as reason:
        outcome = f"skip: {reason}"
        pytest.skip(str(reason))
    except Exception:
        if not theirs:
            raise
        outcome = f"theirs: {theirs}"
        pytest.xfail(theirs)
    finally:
        lab.close()
        cell = {"agent": agent.name, "version": version, "scenario": name, "outcome": outcome}
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(cell) + "\n")
    assert name not in agent.theirs, "it works now: take the reason out of the catalogue"
