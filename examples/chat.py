"""A chat with any agent, such as `python examples/chat.py duologue agent`.

Ctrl-C cancels the turn. A second one leaves, and so does one where no turn runs, and Ctrl-D.
"""

import asyncio
import contextlib
import getpass
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from duologue import Client, DuologueError, RpcError, connect
from duologue.client import ClientConnection, Login, NotOffered, PromptTurn, Session, refusal, url_doubts
from duologue.protocol import v2
from duologue.protocol.base import Unknown
from duologue.session.forms import choices, defaults, value_problem


def typed(question: str) -> str:
    """A line from the user. `input` would do, but Python 3.14 does not end while a thread waits in it."""
    print(question, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.removesuffix("\n")


class Keyboard:
    """Lines from the user. A thread of its own waits for them, so that neither a turn nor the end waits for it."""

    def __init__(self) -> None:
        self._line: asyncio.Future[str | None] | None = None

    async def ask(self, question: str, read: Callable[[str], str] | None = None) -> str | None:
        """What is typed; None at the end of input. The line for a question that was withdrawn answers the next."""
        if self._line is None:
            self._line = self._begin(question, read or typed)
        else:
            print(question, end="", flush=True)
        line = await asyncio.shield(self._line)
        self._line = None
        return line

    def _begin(self, question: str, read: Callable[[str], str]) -> asyncio.Future[str | None]:
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str | None] = loop.create_future()

        def wait() -> None:
            try:
                answer: str | None = read(question)
            except EOFError:
                answer = None
            with contextlib.suppress(RuntimeError):  # the program has ended
                loop.call_soon_threadsafe(line.set_result, answer)

        threading.Thread(target=wait, daemon=True).start()
        return line


ask = Keyboard().ask


class Interrupts:
    """What Ctrl-C does: it cancels `turn`, or ends the program where there is none or it was cancelled before."""

    def __init__(self) -> None:
        self.turn: PromptTurn | None = None
        self._program = asyncio.current_task()
        self._cancelling: asyncio.Future[None] | None = None

    def __call__(self) -> None:
        turn, self.turn = self.turn, None
        if turn is not None:
            self._cancelling = asyncio.ensure_future(turn.cancel())
        elif self._program is not None:
            self._program.cancel()


def plain(text: str) -> str:
    """The text without what would move the cursor: an agent must not paint over what is asked."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


def asker(session: Session | None) -> str:
    """The agent by its name."""
    info = session.connection.info if session is not None else None
    return plain(info.title or info.name) if info is not None else "The agent"


def show_subject(session: Session, request: v2.RequestPermissionRequest) -> None:
    """Print what is asked about: the command, or the diffs of the tool call."""
    match request.subject:
        case v2.CommandSubject(command=command, cwd=cwd):
            print(plain(f"{cwd}$ {command}"))
        case v2.ToolCallSubject(tool_call=call):
            known = session.transcript.tool_calls.get(call.tool_call_id)
            for item in call.content or (known.content if known else ()):
                match item:
                    case v2.ToolDiff(patch=v2.DiffPatch(text=patch)):
                        print(plain(patch))


class Chat(Client):
    name = "chat"

    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        print()
        show_subject(session, request)
        print(plain(request.title))
        for number, option in enumerate(request.options, 1):
            print(f"  {number}. {plain(option.name)}")
        answer = await ask("? ")
        for number, option in enumerate(request.options, 1):
            if answer == str(number):
                return v2.SelectedOutcome(option_id=option.option_id)
        return refusal(request)

    async def fill_form(self, session: Session | None, form: v2.FormElicitation) -> v2.CreateElicitationResponse:
        print(f"\n{asker(session)} asks: {plain(form.message)}")
        schema = form.requested_schema
        content = defaults(schema)
        for name, field in (schema.properties or {}).items():
            if not isinstance(field, Unknown):
                value = await fill_in(name, field, content.get(name))
                if value is not None:
                    content[name] = value
        for name, value in content.items():
            print(f"  {plain(name)}: {plain(str(value))}")
        match await ask("Send this? [y: yes, n: no, else: not now] "):
            case "y":
                return v2.AcceptElicitation(content=content)
            case "n":
                return v2.DeclineElicitation()
        return v2.CancelElicitation()

    async def open_url(self, session: Session | None, request: v2.UrlElicitation) -> v2.CreateElicitationResponse:
        print(
            f"\n{asker(session)} asks: {plain(request.message)}\n{plain(request.url)}",
            *url_doubts(request.url),
            sep="\n",
        )
        agreed = await ask("Did you open it? [y/n] ") == "y"
        return v2.AcceptElicitation() if agreed else v2.DeclineElicitation()

    async def log_in(self, agent: ClientConnection) -> Login | None:
        print("The agent asks for a login.")
        for method in agent.auth_methods:
            match method:
                case v2.EnvVarAuthMethod(method_id=id, name=name, vars=wanted) if await ask(f"{plain(name)}? ") == "y":
                    given = {each.name: await ask(f"{each.name}: ", getpass.getpass) or "" for each in wanted}
                    return Login(id, given)
                case v2.AgentAuthMethod(method_id=id, name=name) if await ask(f"{plain(name)}? ") == "y":
                    return Login(id)
        return None


async def fill_in(name: str, field: Any, preset: Any) -> Any:
    """The value of one field, asked for until it fits; None when it is left out."""
    offered = choices(field)
    if offered is not None:
        print(*(f"  {plain(value)}: {plain(label)}" for value, label in offered), sep="\n")
    while True:
        typed = await ask(f"{plain(field.title or name)} [{plain(str(preset or ''))}]: ")
        if not typed:
            return preset
        value = converted(field, typed)
        problem = value_problem(field, value)
        if problem is None:
            return value
        print(f"  {problem}")


def converted(field: Any, typed: str) -> Any:
    """What was typed, in the type of the field."""
    match field:
        case v2.ArrayProperty():
            return [part.strip() for part in typed.split(",")]
        case v2.BooleanProperty():
            return {"y": True, "yes": True, "n": False, "no": False}.get(typed)
        case v2.NumberProperty() | v2.IntegerProperty():
            try:
                return int(typed) if typed.lstrip("-").isdigit() else float(typed)
            except ValueError:
                return typed
    return typed


async def show(turn: PromptTurn) -> None:
    """Take the turn, and print what the agent says and does."""
    try:
        async for event in turn:
            match event:
                case v2.AgentMessageChunk(content=v2.TextBlock(text=text)):
                    print(text, end="", flush=True)
                case v2.ToolCallUpdateEvent(title=str(title)):
                    print(f"\n[{title}]")
                case v2.TerminalOutputChunkEvent(terminal_id=id):
                    print(turn.session.transcript.terminals[id].text.rstrip().rpartition("\n")[2])
        print(f"\n({turn.stop_reason})")
    except (RpcError, NotOffered) as error:
        print(f"\n{error}")


async def main(command: list[str]) -> None:
    interrupts = Interrupts()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupts)
    async with connect(command, Chat()) as agent:
        session = await agent.new_session(".")
        while (prompt := await ask("> ")) is not None:
            if prompt.strip():
                interrupts.turn = session.prompt(prompt)
                await show(interrupts.turn)
                interrupts.turn = None


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: chat.py COMMAND [ARGUMENT ...], such as: chat.py duologue agent")
    try:
        asyncio.run(main(sys.argv[1:]))
    except DuologueError as error:
        sys.exit(f"chat.py: {error}")
    except (asyncio.CancelledError, KeyboardInterrupt):
        print()
        sys.exit(130)
