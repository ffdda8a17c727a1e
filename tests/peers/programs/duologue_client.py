"""A client on Duologue: works through prompts and prints what it saw as JSON; see README.md above."""

import argparse
import asyncio
import json
import sys
from typing import Any

from duologue.client import Client, ClientConnection, LocalFiles, LocalTerminals, Policy, Session, connect
from duologue.local.rules import Run, Subject
from duologue.protocol.base import Unknown
from duologue.protocol.common.config import SessionConfigOptionCategory
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.elicitation import AcceptElicitation, FormElicitation
from duologue.protocol.common.permission import CancelledOutcome, RequestPermissionOutcome, SelectedOutcome
from duologue.protocol.v2.config import SelectConfigOption
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.tools import ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    PlanUpdateEvent,
    SessionUpdate,
    ToolCallUpdateEvent,
)


class PeerClient(Client):
    name = "duologue-client"
    version = "1"
    # What was asked about and allowed may be written through the client; commands run as they are.
    files = LocalFiles()
    terminals = LocalTerminals()
    policy = Policy()

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def confirm(self, session: Session, subject: Subject) -> bool:
        return isinstance(subject, Run)

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.asked.append([request.title, [option.kind.value for option in request.options]])
        for option in request.options:
            if option.kind.value.startswith(self.answer):
                return SelectedOutcome(option_id=option.option_id)
        return CancelledOutcome()

    async def fill_form(self, session: Session | None, form: FormElicitation) -> AcceptElicitation:
        self.asked.append([form.message, "form"])
        return AcceptElicitation(content={"name": "Ada"})


class Seen:
    """What one prompt brought, in words that all peer clients share."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.text = self.thought = ""
        self.plan: list[Any] = []
        self.kinds: list[str] = []
        self.calls: list[str] = []

    def take(self, update: SessionUpdate) -> bool:
        """Whether the agent said or did something."""
        self.kinds.append(type(update).__name__)
        match update:
            case AgentMessageChunk(content=TextBlock(text=text)):
                self.text += text
                return True
            case AgentMessageEvent(content=[*blocks]):
                self.text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
                return True
            case AgentThoughtChunk(content=TextBlock(text=text)):
                self.thought += text
            case PlanUpdateEvent(plan=ItemsPlan(entries=entries)):
                self.plan = [[entry.content, entry.status.value] for entry in entries]
            case ToolCallUpdateEvent(tool_call_id=call):
                if call not in self.calls:
                    self.calls.append(call)
                return True
        return False

    def tools(self) -> dict[str, Any]:
        """Each tool call as the transcript has it at the end of the turn."""
        return {call: tool_facts(self.session.transcript.tool_calls[call]) for call in self.calls}


def tool_facts(call: Any) -> dict[str, Any]:
    shown = [type(item).__struct_config__.tag for item in call.content]
    diffs = [item for item in call.content if isinstance(item, ToolDiff)]
    paths = [change.path for diff in diffs for change in diff.changes if not isinstance(change, Unknown)]
    facts = {"title": call.title, "kind": call.kind.value, "status": call.status.value}
    return {**facts, "content": shown, "paths": paths}


async def run_turn(session: Session, client: PeerClient, text: str, cancel: bool) -> dict[str, Any]:
    client.asked = []
    seen = Seen(session)
    turn = session.prompt(text)
    async for update in turn:
        if seen.take(update) and cancel:
            await turn.cancel()
    return {
        "stop": turn.stop_reason.value if turn.stop_reason else None,
        "text": seen.text,
        "thought": seen.thought,
        "tools": seen.tools(),
        "plan": seen.plan,
        "asked": client.asked,
        "kinds": seen.kinds,
    }


async def settings(session: Session, options: argparse.Namespace) -> dict[str, Any]:
    if options.mode:
        await session.set_mode(options.mode)
    for pair in options.config:
        name, _, value = pair.partition("=")
        await session.set_config_option(name, value)
    known = [option for option in session.config_options if isinstance(option, SelectConfigOption)]
    modes = [option for option in known if option.category == SessionConfigOptionCategory.MODE]
    return {
        "modes": [value.value for option in modes for value in option.options if hasattr(value, "value")],
        "config": {option.config_id: option.current_value for option in known},
    }


def parse() -> tuple[argparse.Namespace, list[str]]:
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--protocol", type=int, choices=[1, 2], required=True)
    parser.add_argument("--cwd", required=True)
    parser.add_argument("--prompt", action="append", default=[])
    parser.add_argument("--answer", default="allow", choices=["allow", "reject", "cancel"])
    parser.add_argument("--cancel", action="store_true")
    parser.add_argument("--mode")
    parser.add_argument("--config", action="append", default=[])
    return parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]


async def work(agent: ClientConnection, client: PeerClient, options: argparse.Namespace) -> dict[str, Any]:
    session = await agent.new_session(options.cwd)
    seen: dict[str, Any] = {"protocol": agent.version.number, "agent": agent.info.name if agent.info else None}
    seen.update(await settings(session, options))
    seen["turns"] = [await run_turn(session, client, text, options.cancel) for text in options.prompt]
    return seen


async def main() -> None:
    options, command = parse()
    client = PeerClient(options.answer)
    async with connect(command, client, protocol=options.protocol) as agent:
        seen = await work(agent, client, options)
    print(json.dumps(seen))


asyncio.run(main())
