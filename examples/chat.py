"""A chat with any agent, such as `python examples/chat.py duologue agent`. Ctrl-C cancels a turn, Ctrl-D leaves."""

import asyncio
import signal
import sys

from duologue import Client, RpcError, connect
from duologue.client import Session, refusal
from duologue.protocol import v2


async def ask(question: str) -> str | None:
    """A line from the user; None at the end of input."""
    try:
        return await asyncio.to_thread(input, question)
    except EOFError:
        return None


def plain(text: str) -> str:
    """The text without what would move the cursor: an agent must not paint over what is asked."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


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


async def take_turn(session: Session, prompt: str) -> None:
    turn = session.prompt(prompt)
    cancelling: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: cancelling.append(loop.create_task(turn.cancel())))
    try:
        async for event in turn:
            match event:
                case v2.AgentMessageChunk(content=v2.TextBlock(text=text)):
                    print(text, end="", flush=True)
                case v2.ToolCallUpdateEvent(title=str(title)):
                    print(f"\n[{title}]")
                case v2.TerminalOutputChunkEvent(terminal_id=id):
                    print(session.transcript.terminals[id].text.rstrip().rpartition("\n")[2])
        print(f"\n({turn.stop_reason})")
    except RpcError as error:
        print(f"\n{error}")
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def main(command: list[str]) -> None:
    async with connect(command, Chat()) as agent:
        session = await agent.new_session(".")
        while (prompt := await ask("> ")) is not None:
            if prompt.strip():
                await take_turn(session, prompt)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: chat.py COMMAND [ARGUMENT ...], such as: chat.py duologue agent")
    asyncio.run(main(sys.argv[1:]))
