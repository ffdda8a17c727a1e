"""An agent that plays its side of a script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from msgspec import UNSET

from duologue.agent import Agent, Permission, Turn, default_options
from duologue.agent.elicitation import Outcome
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.permission import ToolCallSubject
from duologue.protocol.v2.tools import ENDED, ToolCallStatus, ToolCallUpdate
from duologue.protocol.v2.updates import ToolCallUpdateEvent
from duologue.testing.lines import Call, Cancel, Failure, Form, Line, Prompt, Question, Reply, Thought, Update, to_say
from duologue.testing.script import Mismatch, Script


class ScriptedAgent(Agent):
    """Says the agent's lines of a script and expects the user's, in whatever session they come.

    The first mismatch ends the turn with an error that tells it; `check` raises it. Override the rest of `Agent` as
    needed: the script is about prompts alone.
    """

    name = "scripted"

    def __init__(self, *lines: Line) -> None:
        self.script = Script(lines)
        # The unfinished tool calls of the script by their titles.
        self._calls: dict[str, str] = {}
        # Whether the script lets the turn be cancelled now, which cancels its task at some `await`.
        self._may_be_cancelled = False

    def check(self) -> None:
        """Raises `Mismatch` if the client did something else, or less, than the script says."""
        self.script.check()

    async def prompt(self, turn: Turn) -> StopReason | None:
        script, blocks = self.script, list(turn.prompt or ())
        for block in blocks:
            script.note("<-", block)
        if not (isinstance(script.line, Prompt) and script.line.fits(blocks)):
            raise self._error(script.mismatch(f"the prompt {turn.text!r}"))
        script.advance()
        self._may_be_cancelled = False
        return await self._play(turn)

    async def _play(self, turn: Turn) -> StopReason | None:
        script = self.script
        while (ending := script.ending) is None:
            line = script.line
            script.advance()
            try:
                await self._say(turn, line)
            except asyncio.CancelledError:
                if isinstance(script.line, Cancel):
                    script.advance()
                elif not self._may_be_cancelled:
                    self._cancelled()
                    raise
                self._may_be_cancelled = False
        script.end_turn()
        if isinstance(ending, Failure):
            raise RpcError(ending.code, ending.message)
        return StopReason(ending.reason)

    async def _say(self, turn: Turn, line: Line | None) -> None:
        match line:
            case Reply(text=text):
                await turn.say(to_say(text))
            case Thought(text=text):
                await turn.think(to_say(text))
            case Update(update=update):
                await turn.update(update)
            case Call():
                await self._call(turn, line)
            case Question():
                await self._ask(turn, line)
            case Form():
                await self._ask_form(turn, line)
            case Cancel():
                self._may_be_cancelled = True
                await asyncio.Event().wait()

    def _call(self, turn: Turn, line: Call) -> Awaitable[None]:
        known = self._calls.get(line.title)
        call_id = self._calls[line.title] = known or turn.session.next_id("call")
        status = line.status or (None if known else "pending")
        if status in ENDED:
            del self._calls[line.title]
        return turn.update(
            ToolCallUpdateEvent(
                tool_call_id=call_id,
                title=line.title,
                kind=ToolKind(line.kind) if line.kind else UNSET,
                status=ToolCallStatus(status) if status else UNSET,
            )
        )

    async def _ask(self, turn: Turn, line: Question) -> None:
        title = to_say(line.title)
        call = self._calls.get(title)
        subject = ToolCallSubject(tool_call=ToolCallUpdate(tool_call_id=call, title=title)) if call else UNSET
        self._may_be_cancelled = line.answer == "cancelled"
        permission = await turn.ask_permission(title, subject=subject, options=default_options("this"))
        self._compare(line.answer, _answer(permission))

    async def _ask_form(self, turn: Turn, line: Form) -> None:
        if line.schema is None:
            raise TypeError(f"a scripted agent asks by a schema: write it into {line!r}")
        form = await turn.ask_form(to_say(line.message), line.schema)
        said = {Outcome.DECLINED: "decline", Outcome.CANCELLED: "cancel"}
        answer = dict(form.content) if form else said.get(form.outcome, form.outcome.value)
        self._compare(line.answer if isinstance(line.answer, str) else dict(line.answer), answer)

    def _compare(self, expected: object, answer: object) -> None:
        """Raises `RpcError` if the client answered something else."""
        if answer != expected:
            self.script.played -= 1
            raise self._error(self.script.mismatch(f"the answer {answer!r}"))

    def _cancelled(self) -> None:
        if self.connection.peer.closed_reason is None:
            self.script.played -= 1
            self.script.mismatch("a cancel")

    @staticmethod
    def _error(mismatch: Mismatch) -> RpcError:
        """What the client is told of a mismatch."""
        return RpcError(INTERNAL_ERROR, str(mismatch))


def _answer(permission: Permission) -> str:
    if permission.cancelled:
        return "cancelled"
    return permission.option.kind.value if permission.option is not None else "nothing that was offered"
