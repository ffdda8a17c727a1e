"""An agent on Duologue. The first word of a prompt says what it does; see README.md above."""

import asyncio

from msgspec import UNSET

from duologue.agent import Agent, Session, Turn, file_diff, plan_entry, run
from duologue.protocol.common.config import SessionConfigOptionCategory, SessionConfigSelectOption
from duologue.protocol.common.elicitation import AcceptElicitation, FormElicitation
from duologue.protocol.common.elicitation_schema import ElicitationSchema, StringProperty
from duologue.protocol.common.tools import ToolKind, ToolTerminal
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1.fs import ReadTextFileRequest
from duologue.protocol.v1.terminal import (
    CreateTerminalRequest,
    ReleaseTerminalRequest,
    TerminalOutputRequest,
    WaitForTerminalExitRequest,
)
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.config import SelectConfigOption

NAME_FORM = ElicitationSchema(properties={"name": StringProperty(title="Name")}, required=["name"])


def choice(option_id: str, name: str, value: str, values: tuple[str, ...]) -> SelectConfigOption:
    category = SessionConfigOptionCategory.MODE if option_id == "mode" else UNSET
    options = [SessionConfigSelectOption(value=one, name=one.title()) for one in values]
    return SelectConfigOption(config_id=option_id, name=name, current_value=value, options=options, category=category)


class PeerAgent(Agent):
    name = "duologue-agent"
    version = "1"

    async def new_session(self, session: Session) -> None:
        session.state = {"effort": "low", "mode": "ask"}

    def config_options(self, session: Session) -> list[SelectConfigOption]:
        return [
            choice("effort", "Effort", session.state["effort"], ("low", "high")),
            choice("mode", "Mode", session.state["mode"], ("ask", "code")),
        ]

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        session.state[config_id] = value

    async def prompt(self, turn: Turn) -> None:
        word, _, rest = turn.text.partition(" ")
        acts = {"edit": edit, "read": read, "run": run_command, "plan": plan, "ask": ask, "wait": wait}
        await acts.get(word, hello)(turn, rest)


async def hello(turn: Turn, rest: str) -> None:
    await turn.think("hm")
    await turn.say("Hel")
    await turn.say("lo")


async def edit(turn: Turn, rest: str) -> None:
    path = turn.session.cwd / rest
    old = await asyncio.to_thread(path.read_text, encoding="utf-8") if await asyncio.to_thread(path.exists) else None
    diff = file_diff(path, old, "new text\n")
    async with turn.tool_call(f"Edit {rest}", kind=ToolKind.EDIT) as call:
        if not await call.ask_permission(content=[diff]):
            await call.update(content=[diff])
            await call.fail()
            await turn.say("refused")
            return
        await call.update(content=[diff])
        await asyncio.to_thread(path.write_text, "new text\n", encoding="utf-8")
    await turn.say("edited")


async def read(turn: Turn, rest: str) -> None:
    request = ReadTextFileRequest(session_id=turn.session.id, path=str(turn.session.cwd / rest))
    file = await turn.session.peer.request(v1.FS_READ_TEXT_FILE, request)
    await turn.say(file.content)


async def run_command(turn: Turn, rest: str) -> None:
    command, *args = rest.split()
    peer, session = turn.session.peer, turn.session.id
    start = CreateTerminalRequest(session_id=session, command=command, args=args, cwd=str(turn.session.cwd))
    terminal = (await peer.request(v1.TERMINAL_CREATE, start)).terminal_id
    async with turn.tool_call(rest, kind=ToolKind.EXECUTE) as call:
        await call.add(ToolTerminal(terminal_id=terminal))
        exit_request = WaitForTerminalExitRequest(session_id=session, terminal_id=terminal)
        status = await peer.request(v1.TERMINAL_WAIT_FOR_EXIT, exit_request)
        output_request = TerminalOutputRequest(session_id=session, terminal_id=terminal)
        shown = await peer.request(v1.TERMINAL_OUTPUT, output_request)
        await peer.request(v1.TERMINAL_RELEASE, ReleaseTerminalRequest(session_id=session, terminal_id=terminal))
    await turn.say(f"{status.exit_code}: {shown.output}")


async def plan(turn: Turn, rest: str) -> None:
    for first, second in (("in_progress", "pending"), ("completed", "completed")):
        await turn.plan([plan_entry("look", first), plan_entry("leap", second, "high")])


async def ask(turn: Turn, rest: str) -> None:
    form = FormElicitation(session_id=turn.session.id, message="Who are you?", requested_schema=NAME_FORM)
    match await turn.session.peer.request(v2.ELICITATION_CREATE, form):
        case AcceptElicitation(content={"name": name}):
            await turn.say(f"Hello {name}")
        case other:
            await turn.say(type(other).__name__)


async def wait(turn: Turn, rest: str) -> None:
    await turn.say("waiting")
    await asyncio.get_running_loop().create_future()


run(PeerAgent())
