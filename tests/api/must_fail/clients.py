"""Lines about the client's API that a type checker must refuse, each with its mark, between lines that it must take."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

from duologue import Client, ClientConnection, Limits, PromptTurn, connect
from duologue.client import Session, refusal
from duologue.protocol import v2


async def good() -> None:
    async with connect(["agent"], Client(), protocol="auto", limits=Limits(depth=10)) as agent:
        assert_type(agent, ClientConnection)
        session = await agent.new_session(Path("/"))
        assert_type(session, Session)
        turn = session.prompt("text")
        assert_type(turn, PromptTurn)
        async for event in turn:
            assert_type(event, v2.SessionUpdate)
        assert_type(turn.stop_reason, v2.StopReason | None)
        assert_type(await session.prompt([v2.TextBlock(text="a")]).text(), str)
        assert_type(await session.set_config_option("a", True), Sequence[v2.SessionConfigOption])
        assert_type((await agent.list_sessions()).sessions, list[v2.SessionInfo])


async def bad() -> None:
    connect(["agent"], protocol=3)  # must fail
    connect(["agent"], limit=Limits())  # must fail
    connect([1])  # must fail
    connect(["agent"], Client)  # must fail
    Limits(10)  # must fail
    async with connect(["agent"]) as agent:
        await agent.new_session()  # must fail
        await agent.new_session("/", mcp_servers=["server"])  # must fail
        session = await agent.new_session("/")
        session.prompt(1)  # must fail
        session.prompt([v2.TextContent(text="a")])  # must fail
        await session.set_config_option("a", 1)  # must fail
        for event in session.prompt("a"):  # must fail
            print(event)
        reason: str = session.prompt("a").stop_reason  # must fail
        print(reason)


class Right(Client):
    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        return refusal(request)


class Wrong(Client):
    async def request_permission(self, session: Session, request: v2.RequestPermissionRequest) -> bool:  # must fail
        return True

    def on_update(self, update: v2.SessionUpdate) -> None:  # must fail
        pass

    def capabilities(self) -> v2.AgentCapabilities:  # must fail
        return v2.AgentCapabilities()


def missing() -> None:
    from duologue import Nothing  # must fail

    print(Nothing)
