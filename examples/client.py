"""A client that starts any agent, gives it one prompt and shows what it says and does."""

import asyncio
import sys

from duologue import Client, connect
from duologue.client import Session, allowance
from duologue.protocol import v2


class AllowsAll(Client):
    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        return allowance(request)


async def main(command: list[str], prompt: str) -> None:
    async with connect(command, AllowsAll()) as agent:
        session = await agent.new_session(".")
        turn = session.prompt(prompt)
        async for event in turn:
            match event:
                case v2.AgentMessageChunk(content=v2.TextBlock(text=text)):
                    print(text, end="", flush=True)
                case v2.ToolCallUpdateEvent(title=str(title)):
                    print(f"[{title}]")
        print(f"\n({turn.stop_reason})")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit('usage: client.py PROMPT COMMAND [ARGUMENT ...], such as: client.py "hello" duologue agent')
    try:
        asyncio.run(main(sys.argv[2:], sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
