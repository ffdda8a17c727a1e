"""The pages about moving here, about concepts and about stability: their programs run, and their tables hold."""

from __future__ import annotations

import asyncio
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doc_pages import EXAMPLES, blocks, table_rows, text_of

from duologue import agent, client
from duologue.protocol.method import Method
from duologue.protocol.version import V1, V2
from duologue.testing import wire_to

AGENT, CLIENT = EXAMPLES / "migrated_echo_agent.py", EXAMPLES / "migrated_client.py"


def test_the_page_shows_the_examples_word_for_word() -> None:
    assert blocks(text_of("docs/migration.md"), "python") == [path.read_text("utf-8") for path in (AGENT, CLIENT)]


async def test_the_migrated_client_talks_with_the_migrated_agent(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(CLIENT), sys.executable, str(AGENT)),
        cwd=tmp_path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate("hello\n\nGrüße\n".encode())
    assert out.decode() == "> | Agent: hello\n> > | Agent: Grüße\n> "
    assert process.returncode == 0


async def test_a_failed_prompt_is_told_and_the_console_goes_on(tmp_path: Path) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("from duologue import Agent, run\nrun(Agent())\n", "utf-8")
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(CLIENT), sys.executable, str(failing)],
        input="hello\nagain\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "> > > "
    assert done.stderr.count("Prompt failed: this agent takes no prompts (-32601)") == 2


def test_the_migrated_client_tells_its_usage() -> None:
    done = subprocess.run([sys.executable, str(CLIENT)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "usage: migrated_client.py AGENT_PROGRAM [ARGUMENT ...]\n")


@pytest.mark.parametrize("version", [1, 2])
async def test_the_migrated_agent_marks_what_it_says(version: int) -> None:
    async with wire_to(runpy.run_path(str(AGENT))["EchoAgent"]()) as wire:
        await wire.initialize(version)
        session = (await wire.ask("session/new", {"cwd": "/", "mcpServers": []}))["result"]["sessionId"]
        prompt = [{"type": "text", "text": text} for text in ("one", "two")]
        wire.send(wire.call("session/prompt", {"sessionId": session, "prompt": prompt}))
        chunks: list[dict[str, Any]] = []
        while len(chunks) < 2:
            update = (await wire.read_method("session/update"))["params"]["update"]
            chunks += [update] if update["sessionUpdate"] == "agent_message_chunk" else []
    assert [chunk["content"] for chunk in chunks] == [{**block, "_meta": {"echo": True}} for block in prompt]
    assert [chunk["_meta"] for chunk in chunks] == [{"echo": True}] * 2
    assert len({chunk["messageId"] for chunk in chunks}) == 2


NAMED: dict[str, dict[str, type]] = {
    "Agents": {
        "turn": agent.Turn,
        "call": agent.ToolCall,
        "session": agent.Session,
        "agent": agent.Agent,
        "connection": agent.AgentConnection,
        "": agent.Agent,
    },
    "Clients": {
        "turn": client.PromptTurn,
        "session": client.Session,
        "agent": client.ClientConnection,
        "": client.Client,
    },
}


@pytest.mark.parametrize("part", NAMED)
def test_what_is_named_in_place_of_theirs_exists(part: str) -> None:
    section = text_of("docs/migration.md").split(f"\n## {part}\n")[1].split("\n## ")[0]
    rows = [row[1] for row in table_rows(section)]
    named = {pair for row in rows for pair in re.findall(r"\b(turn|call|session|agent|connection)\.(\w+)", row)}
    named |= {("", name) for row in rows for name in re.findall(r"`(\w+)\((?:session|request|turn|\))", row)}
    known = {(owner, name) for owner, each in NAMED[part].items() for name in members(each)}
    assert len(named) > 10
    assert named - known - {("", "serve"), ("", "run")} == set()


def members(owner: type) -> set[str]:
    """Of a class and of its instances."""
    sources = [inspect.getsource(each) for each in owner.__mro__[:-1]]
    return {*dir(owner), *(name for source in sources for name in re.findall(r"\bself\.(\w+)", source))} | {
        name for each in owner.__mro__ for name in getattr(each, "__annotations__", {})
    }


def test_every_unstable_method_is_told() -> None:
    told = [name for row in table_rows(text_of("docs/stability.md")) for name in re.findall(r"`([\w/]+)`", row[0])]
    unstable: set[Method] = {*V1.unstable, *V2.unstable}
    assert sorted(told) == sorted({method.name for method in unstable})
