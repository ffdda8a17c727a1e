"""What the rules of `duologue run --allow` say to the tools of MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Scripted
from coder_kit import asks, call, says
from mcp_servers_kit import QUICK, results, stub

from duologue.cli.running import Order, Run
from duologue.coder.acp import CodingAgent
from duologue.local.rules import parse_rule
from duologue.testing import connected

COMMAND = {"line": '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}', "command": "ls"}


@pytest.mark.parametrize("protocol", [1, 2])
@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        (["use:stub__echo"], [True, False]),
        (["use:stub__*"], [True, False]),
        (["use:stub__*", "run:ls"], [True, True]),
        (["run:*", "edit:**"], [False, False]),
        (["use:other__*"], [False, False]),
        (["use:stub__*", "run:ls", "reject use:stub__echo"], [False, True]),
    ],
)
async def test_a_rule_names_a_tool_of_a_server(
    tmp_path: Path, protocol: Any, rules: Sequence[str], allowed: list[bool], capfd: pytest.CaptureFixture[str]
) -> None:
    """One call says nothing of commands, the other has one in its input."""
    models = Scripted(asks(call("stub__echo", "c1", text="x")), asks(call("stub__raw", "c2", **COMMAND)), says())
    run = Run(
        Order(request="go", command=["x"], cwd=tmp_path, rules=[parse_rule(rule) for rule in rules], otherwise="reject")
    )
    run.output.open()
    agent = CodingAgent(models=models, mcp_limits=QUICK)
    async with connected(agent, run, protocol=protocol) as connection:
        session = await connection.new_session(tmp_path, mcp_servers=[stub()])
        await session.prompt("go").text()
        await run.output.settle()
    assert [result.ok for result in results(models)] == allowed
    told = capfd.readouterr().out
    assert told.count("allowed once by the rule") == sum(allowed)
