"""An agent that does as its first argument says; run as a program, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from duologue.agent import Agent, Turn, run
from duologue.coder.acp import CodingAgent
from duologue.coder.models.base import (
    AssistantMessage,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ToolCall,
)
from duologue.coder.models.registry import ModelChoice
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.prompt import StopReason


def says(text: str = "done") -> list[ModelEvent]:
    return [TextDelta(text), StepEnded(AssistantMessage(text))]


def asks(name: str, **arguments: Any) -> list[ModelEvent]:
    return [StepEnded(AssistantMessage("", calls=(ToolCall("call_0", name, arguments),)), "tool_calls")]


SCRIPTS: dict[str, list[list[ModelEvent]]] = {
    "say": [says("hello from the model")],
    "write": [asks("write_file", path="a.txt", text="one\n"), says("written")],
    "command": [asks("run_command", command="echo from the command; exit 3"), says("ran")],
    "long_command": [asks("run_command", command="true\n" * 50 + "echo the last line"), says("ran")],
    "painted": [asks("run_command", command="rm -rf x\x1b[2K\x1b[1A\recho harmless"), says("ran")],
    "hidden": [asks("run_command", command="echo safe \x1b]; touch pwned #\x07"), says("ran")],
    "long_write": [asks("write_file", path="a.txt", text="ok\n" * 600 + "the last line\n"), says("written")],
    "posing": [asks("write_file", path="a.txt", text="one\n"), says("written")],
    "environment": [asks("run_command", command="env"), says("ran")],
    "children": [asks("run_command", command="sh -c 'echo $$ > pid; sleep 120' & sleep 120"), says("never")],
    "max_tokens": [[TextDelta("cut"), StepEnded(AssistantMessage("cut"), "length")]],
    "refusal": [[StepEnded(AssistantMessage(""), "refusal")]],
}


class Scripted:
    """A model that plays the script of a name."""

    name = description = "scripted"

    def __init__(self, scenario: str) -> None:
        self.scenario = scenario
        self.steps = list(SCRIPTS.get(scenario, [])) * 10

    def offered(self) -> Sequence[ModelChoice]:
        return [ModelChoice("test:scripted", "Scripted", "for tests"), ModelChoice("test:other", "Other", "for tests")]

    def notices(self) -> Sequence[str]:
        return ()

    def missing_key(self) -> str | None:
        return "set SOME_KEY" if self.scenario == "login" else None

    def load(self, spec: str) -> Model:
        return self

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        match self.scenario:
            case "error":
                raise ModelError("the provider said no")
            case "login":
                raise ModelError("no key for the provider", status=401)
            case "stream":
                for number in range(10_000_000):
                    yield TextDelta(f"piece {number};")
            case "posing" if not Path("go").exists():  # noqa: ASYNC240
                yield TextDelta("? Read README.md\n  [y] Allow\n  y/n! ")
                while not Path("go").exists():  # noqa: ASYNC110, ASYNC240
                    await asyncio.sleep(0.02)
                for event in self.steps.pop(0):
                    yield event
            case "noise":
                for event in make_noise():
                    yield event
            case _:
                for event in self.steps.pop(0):
                    yield event


def make_noise() -> list[ModelEvent]:
    """Everything that may reach descriptor 1, from here and from a child."""
    print("a stray print")
    sys.stdout.write("unfinished")
    sys.stdout.flush()
    os.write(1, b"a stray write\n")
    subprocess.run(["sh", "-c", "echo from a child"], check=True)
    subprocess.run(["cat"], check=True)  # Standard input is not the wire either: this ends at once.
    return says("quiet")


class Plain(Agent):
    """An agent without a model."""

    name = "plain"

    async def prompt(self, turn: Turn) -> StopReason | None:
        match sys.argv[1]:
            case "die":
                await turn.say("going down\n")
                print("the reason is on stderr", file=sys.stderr, flush=True)
                os._exit(9)
            case "wait" | "stubborn":
                await self._wait(turn)
            case "flood":
                for number in range(30_000):
                    await turn.say(f"line {number}\n")
            case "slow":
                await until(Path("go"))
                await turn.say("here I am")
            case "refuse":
                raise RpcError(-32603, "cannot do that", {"details": "the cause"})
            case reason:
                return StopReason(reason)
        return None

    async def _wait(self, turn: Turn) -> None:
        await turn.say("waiting\n")
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            Path("cancelled").touch()  # noqa: ASYNC240
            if sys.argv[1] == "wait":
                raise
            await asyncio.sleep(3600)


async def until(file: Path) -> None:
    """Wait for a file that the test makes."""
    while not file.exists():  # noqa: ASYNC110, ASYNC240
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    scenario = sys.argv[1]
    if scenario == "slow":
        asyncio.run(until(Path("start")))
    if scenario == "crash":
        sys.exit("cannot start: no configuration")
    scripted = scenario in SCRIPTS or scenario in ("error", "login", "noise", "stream")
    run(CodingAgent(models=Scripted(scenario)) if scripted else Plain())
