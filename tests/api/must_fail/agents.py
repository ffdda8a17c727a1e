"""Lines about the agent's API that a type checker must refuse, each with its mark, between lines that it must take."""

from typing import assert_type

from duologue import Agent, Permission, Turn, run, serve
from duologue.agent import Session, plan_entry
from duologue.agent import Terminal as ShownTerminal
from duologue.protocol import v2


class Good(Agent):
    name = "good"

    async def prompt(self, turn: Turn) -> v2.StopReason:
        assert_type(turn.text, str)
        assert_type(turn.session, Session)
        await turn.say("text")
        await turn.say(v2.TextBlock(text="a block"))
        await turn.plan(["one", plan_entry("two", "completed")])
        async with turn.tool_call("Read", kind=v2.ToolKind.READ, locations=[turn.session.cwd]) as call:
            assert_type(await call.ask_permission(), Permission)
            assert_type(await call.terminal("ls"), ShownTerminal)
            await call.diff("/a", None, "text")
        return v2.StopReason.REFUSAL


class Quiet(Agent):
    async def prompt(self, turn: Turn) -> None:
        turn.end_message()


class Bad(Agent):
    name = 1  # must fail

    async def prompt(self, turn: Turn) -> str:  # must fail
        await turn.say(1)  # must fail
        await turn.say()  # must fail
        await turn.think(v2.TextBlock(text="a"))  # must fail
        await turn.plan([1])  # must fail
        await turn.tool_call("Read", kind="read")  # must fail
        await turn.tool_call("Read", titel="a")  # must fail
        async with turn.tool_call("Read") as call:
            await call.text(b"bytes")  # must fail
            await call.diff("/a", "old")  # must fail
            (await call.terminal()).write("text")  # must fail
        if await turn.ask_permission():  # must fail
            pass
        turn.nothing()  # must fail
        return "end_turn"

    def config_options(self, session: Session) -> list[str]:  # must fail
        return []

    async def new_session(self, session: str) -> None:  # must fail
        pass


run(Good())
run(Good)  # must fail
run(Good(), limits={"message_bytes": 1})  # must fail
run("good")  # must fail
serve(Good(), "stdio")  # must fail
