"""What became of an echo agent that was written with the package `agent-client-protocol` (see docs/migration.md)."""

from duologue import Agent, Turn, run
from duologue.protocol import v2

MARK = {"echo": True}


class EchoAgent(Agent):
    name = "echo-agent"

    async def prompt(self, turn: Turn) -> None:
        for block in turn.prompt or ():
            if isinstance(block, v2.TextBlock):
                content = v2.TextBlock(text=block.text, meta=MARK)
                message = turn.session.next_id("message")
                await turn.update(v2.AgentMessageChunk(message_id=message, content=content, meta=MARK))


if __name__ == "__main__":
    run(EchoAgent())
