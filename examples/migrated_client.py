"""What became of a console client that was written with the package `agent-client-protocol` (see docs/migration.md)."""

import asyncio
import signal
import sys

from duologue import Client, DuologueError, connect
from duologue.client import Session
from duologue.protocol import v2


class ExampleClient(Client):
    name = "example-client"
    title = "Example Client"
    version = "0.1.0"

    def on_update(self, session: Session, update: v2.SessionUpdate) -> None:
        match update:
            case v2.AgentMessageChunk(content=content):
                print(f"| Agent: {as_text(content)}")


def as_text(content: v2.ContentBlock) -> str:
    match content:
        case v2.TextBlock(text=text):
            return text
        case v2.ImageBlock():
            return "<image>"
        case v2.AudioBlock():
            return "<audio>"
        case v2.ResourceLinkBlock(uri=uri):
            return uri
        case v2.ResourceBlock():
            return "<resource>"
    return "<content>"


async def main(command: list[str]) -> None:
    async with connect(command, ExampleClient()) as agent:
        session = await agent.new_session(".")
        while (line := await asyncio.to_thread(read, "> ")) is not None:
            if not line:
                continue
            try:
                await session.prompt(line).text()
            except DuologueError as error:
                print(f"Prompt failed: {error}", file=sys.stderr)


def read(prompt: str) -> str | None:
    """A line of the user; None at the end of the input."""
    try:
        return input(prompt)
    except EOFError:
        return None


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: migrated_client.py AGENT_PROGRAM [ARGUMENT ...]")
    # Ctrl-C ends it at once, though a thread waits for a line; the agent ends with it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(main(sys.argv[1:]))
