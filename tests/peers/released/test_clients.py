"""`duologue agent` with released clients. Results go to .peers/released/results.jsonl, and each conversation is
recorded beside it, as the agent saw it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import acpx_scenarios
import jupyter_scenarios
import pytest
import toad_scenarios
from acp_client_scenarios import ACP_CLIENT_SCENARIOS, ACPLINT_SCENARIOS
from catalog import PLACE
from clients import ACP_CLIENT, ACPLINT, ACPX, JUPYTER, TOAD, ClientLab, ReleasedClient
from model_server import ModelServer
from scenarios import Skip

RESULTS = PLACE / "results.jsonl"

CELLS = [
    pytest.param(client, scenario, id=f"{client.name}-{scenario.__name__}")
    for clients, scenarios in (
        (ACPX, acpx_scenarios.SCENARIOS),
        (ACP_CLIENT, ACP_CLIENT_SCENARIOS),
        (ACPLINT, ACPLINT_SCENARIOS),
        (JUPYTER, jupyter_scenarios.SCENARIOS),
        (TOAD, toad_scenarios.SCENARIOS),
    )
    for client in clients
    for scenario in scenarios
]


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.mark.parametrize(("client", "scenario"), CELLS)
def test_released_client(
    client: ReleasedClient, scenario: Callable[[ClientLab], None], model: ModelServer, tmp_path: Path
) -> None:
    if client.missing:
        pytest.skip(client.missing)
    name = scenario.__name__
    record = PLACE / "recordings" / f"client-{client.name}" / f"{name}.jsonl"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    lab = ClientLab(client, model, tmp_path, record)
    outcome = "fail"
    try:
        try:
            scenario(lab)
        except Skip as reason:
            outcome = f"skip: {reason}"
        else:
            outcome = "pass"
        lab.check_end()
    except BaseException:
        outcome = "fail"
        raise
    finally:
        lab.close()
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"client": client.name, "scenario": name, "outcome": outcome}) + "\n")
    if outcome != "pass":
        pytest.skip(outcome)
