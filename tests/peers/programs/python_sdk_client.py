"""A client on the official Python SDK: works through prompts and prints what it saw as JSON; see README.md above."""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    EnvVariable,
    Implementation,
    TerminalExitStatus,
)

CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
}


class Turn:
    """What one prompt brought, in words that all peer clients share."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {"text": "", "thought": "", "tools": {}, "plan": [], "asked": [], "kinds": []}
        self.first_update = asyncio.Event()

    def take(self, update: dict[str, Any]) -> None:
        kind = update["sessionUpdate"]
        self.seen["kinds"].append(kind)
        match kind:
            case "agent_message_chunk":
                self.seen["text"] += update["content"].get("text", "")
            case "agent_thought_chunk":
                self.seen["thought"] += update["content"].get("text", "")
            case "tool_call" | "tool_call_update":
                self.seen["tools"].setdefault(update["toolCallId"], {}).update(tool_facts(update))
            case "plan":
                self.seen["plan"] = [[entry["content"], entry["status"]] for entry in update["entries"]]
        if kind.startswith(("agent_message", "tool_call")):
            self.first_update.set()


def tool_facts(update: dict[str, Any]) -> dict[str, Any]:
    facts = {name: update[name] for name in ("title", "kind", "status") if update.get(name) is not None}
    if update.get("content") is not None:
        facts["content"] = [item["type"] for item in update["content"]]
        facts["paths"] = [item["path"] for item in update["content"] if item["type"] == "diff"]
    return facts


class Terminal:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""
        self.reading = asyncio.create_task(self.read())

    async def read(self) -> None:
        assert self.process.stdout
        while chunk := await self.process.stdout.read(4096):
            self.output += chunk


class PeerClient(acp.Client):
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.turn = Turn()
        self.terminals: dict[str, Terminal] = {}

    def on_connect(self, conn: acp.Agent) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.turn.take(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def request_permission(self, tool_call: Any, options: list[Any], **_: Any) -> Any:
        self.turn.seen["asked"].append([tool_call.title, [option.kind for option in options]])
        chosen = [option.option_id for option in options if option.kind.startswith(self.answer)]
        if not chosen:
            return acp.RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return acp.RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen[0]))

    async def read_text_file(self, path: str, line: int | None = None, limit: int | None = None, **_: Any) -> Any:
        text = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
        lines = text.splitlines(keepends=True)
        start = (line or 1) - 1
        end = start + limit if limit is not None else None
        return acp.ReadTextFileResponse(content="".join(lines[start:end]))

    async def write_text_file(self, path: str, content: str, **_: Any) -> Any:
        await asyncio.to_thread(Path(path).write_text, content, encoding="utf-8")
        return acp.WriteTextFileResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.turn.seen["asked"].append([message, "form"])
        return AcceptElicitationResponse(action="accept", content={"name": "Ada"})

    async def create_terminal(
        self,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        **_: Any,
    ) -> Any:
        process = await asyncio.create_subprocess_exec(
            command, *args or [], cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        name = f"terminal-{len(self.terminals) + 1}"
        self.terminals[name] = Terminal(process)
        return acp.CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(self, terminal_id: str, **_: Any) -> Any:
        terminal = self.terminals[terminal_id]
        await terminal.reading
        return acp.WaitForTerminalExitResponse(exit_code=await terminal.process.wait())

    async def terminal_output(self, terminal_id: str, **_: Any) -> Any:
        terminal = self.terminals[terminal_id]
        code = terminal.process.returncode
        status = None if code is None else TerminalExitStatus(exit_code=code)
        output = terminal.output.decode(errors="replace")
        return acp.TerminalOutputResponse(output=output, truncated=False, exit_status=status)

    async def kill_terminal(self, terminal_id: str, **_: Any) -> Any:
        process = self.terminals[terminal_id].process
        if process.returncode is None:
            process.kill()
        return acp.KillTerminalResponse()

    async def release_terminal(self, terminal_id: str, **_: Any) -> Any:
        await self.kill_terminal(terminal_id)
        del self.terminals[terminal_id]
        return acp.ReleaseTerminalResponse()


async def run_turn(agent: Any, client: PeerClient, session_id: str, text: str, cancel: bool) -> dict[str, Any]:
    client.turn = Turn()
    prompt = asyncio.create_task(agent.prompt(session_id=session_id, prompt=[acp.text_block(text)]))
    if cancel:
        await client.turn.first_update.wait()
        await agent.cancel(session_id=session_id)
    response = await prompt
    return {"stop": response.stop_reason, **client.turn.seen}


async def settings(agent: Any, session: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Sets the mode and options asked for, and tells what the agent offers."""
    if options.mode:
        await agent.set_session_mode(session_id=session.session_id, mode_id=options.mode)
    current = session.config_options or []
    for pair in options.config:
        name, _, value = pair.partition("=")
        response = await agent.set_config_option(config_id=name, session_id=session.session_id, value=value)
        current = response.config_options
    modes = [mode.id for mode in session.modes.available_modes] if session.modes else []
    return {"modes": modes, "config": {option.id: option.current_value for option in current}}


def parse() -> tuple[argparse.Namespace, list[str]]:
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--cwd", required=True)
    parser.add_argument("--prompt", action="append", default=[])
    parser.add_argument("--answer", default="allow", choices=["allow", "reject", "cancel"])
    parser.add_argument("--cancel", action="store_true")
    parser.add_argument("--mode")
    parser.add_argument("--config", action="append", default=[])
    return parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]


async def main() -> None:
    options, command = parse()
    client = PeerClient(options.answer)
    async with acp.spawn_agent_process(
        client, *command, transport_kwargs={"stderr": None}, use_unstable_protocol=True
    ) as (agent, _):
        hello = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities.model_validate(CAPABILITIES),
            client_info=Implementation(name="python-sdk-client", version="1"),
        )
        session = await agent.new_session(cwd=options.cwd, mcp_servers=[])
        seen: dict[str, Any] = {"protocol": hello.protocol_version}
        seen["agent"] = hello.agent_info.name if hello.agent_info else None
        seen.update(await settings(agent, session, options))
        seen["turns"] = [
            await run_turn(agent, client, session.session_id, text, options.cancel) for text in options.prompt
        ]
    print(json.dumps(seen))


asyncio.run(main())
