"""A client that plays its side of a script."""

from __future__ import annotations

import asyncio

from duologue.client import Client, PromptTurn, Session, refusal
from duologue.client.client import picked
from duologue.jsonrpc.errors import RpcError
from duologue.peer import ConnectionClosed
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.elicitation import (
    AcceptElicitation,
    CancelElicitation,
    CreateElicitationResponse,
    DeclineElicitation,
    FormElicitation,
)
from duologue.protocol.common.permission import CancelledOutcome, RequestPermissionOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    AgentThoughtEvent,
    SessionUpdate,
    ToolCallUpdateEvent,
)
from duologue.testing.lines import (
    Call,
    Cancel,
    End,
    Failure,
    Form,
    Line,
    Prompt,
    Question,
    Reply,
    Thought,
    Update,
    contains,
    matches,
)
from duologue.testing.script import Mismatch, Script
from duologue.testing.wire import PATIENCE, settle


class ScriptedClient(Client):
    """Says the user's lines of a script, in the session that is given to `play`, and expects the agent's.

    What the script does not mention is passed over, except for what the agent says, what it asks, and the end of a
    turn: those have to be the next line.
    """

    name = "scripted"

    def __init__(self, *lines: Line) -> None:
        self.script = Script(lines)
        self._turn: PromptTurn | None = None
        self._running: asyncio.Task[None] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        # What was said and thought and is in no line yet.
        self._said: dict[type[Reply | Thought], str] = {Reply: "", Thought: ""}
        # The messages that have been said in pieces, so that they are not heard again when they are told whole.
        # By who speaks: agents are known to use one id for what they think and what they say.
        self._messages: set[tuple[type[Reply | Thought], str]] = set()

    def check(self) -> None:
        """Raises `Mismatch` if the agent did something else than the script says, or the script was not played."""
        self.script.check()

    async def play(self, session: Session, *, seconds: float = PATIENCE) -> None:
        """Play the whole script. Raises `Mismatch`, also when a turn takes longer than `seconds`."""
        while isinstance(self.script.line, Prompt):
            blocks = self.script.line.blocks()
            self.script.advance()
            for block in blocks:
                self.script.note("->", block)
            await self._run(session.prompt(blocks), seconds)
        self.script.check()

    async def _run(self, turn: PromptTurn, seconds: float) -> None:
        self._turn, self._cancelling = turn, None
        self._said = {Reply: "", Thought: ""}
        self._messages.clear()
        self._running = asyncio.get_running_loop().create_task(_iterate(turn))
        if isinstance(self.script.line, Cancel):
            # The prompt leaves first.
            await settle()
            self._cancel_if_told()
        try:
            done, _ = await asyncio.wait({self._running}, timeout=seconds)
            if not done:
                raise self.script.mismatch(f"nothing more within {seconds:g} s")
        finally:
            self._turn = None
            self._running.cancel()
            await asyncio.wait({self._running})
        self._ended(turn, None if self._running.cancelled() else self._running.exception())

    def _ended(self, turn: PromptTurn, error: BaseException | None) -> None:
        script = self.script
        self._pass_text(self._text_is_whole())
        if script.failure is not None:
            raise script.failure
        match error, script.ending:
            case None, End(reason=reason) if turn.stop_reason == reason:
                script.end_turn()
            case RpcError(code=code, message=message), Failure() as expected if code == expected.code and (
                expected.message in ("", message)
            ):
                script.end_turn()
            case None, _:
                raise self._differs(f"the end of the turn: {turn.stop_reason}")
            case ((RpcError() | ConnectionClosed()), _):
                raise self._differs(f"{type(error).__name__}: {error}") from error
            case _:
                assert error is not None
                raise error

    # --- what the agent does ------------------------------------------------------------------------------------------

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        self.script.note("<-", update)
        if self._turn is None or self._turn.session is not session or self.script.failure is not None:
            return
        match update:
            case _ if self._sees(session, update):
                pass
            case AgentMessageChunk(content=TextBlock(text=text)) | AgentThoughtChunk(content=TextBlock(text=text)):
                kind = Reply if isinstance(update, AgentMessageChunk) else Thought
                self._messages.add((kind, update.message_id))
                self._hear(kind, text)
            case AgentMessageEvent(content=list(blocks)) | AgentThoughtEvent(content=list(blocks)):
                kind = Reply if isinstance(update, AgentMessageEvent) else Thought
                if (kind, update.message_id) not in self._messages:
                    self._hear(kind, "".join(block.text for block in blocks if isinstance(block, TextBlock)))
        self._cancel_if_told()

    def _hear(self, kind: type[Reply | Thought], text: str) -> None:
        """Take a piece of text; as soon as it is not what the script says, that is a mismatch."""
        line = self.script.line
        if type(line) is not kind and type(self.script.peek(1)) is kind:
            self._pass_text(self._text_is_whole())
        self._said[kind] += text
        while said := self._said[kind]:
            line = self.script.line
            if isinstance(line, Reply | Thought) and type(line) is kind:
                if not isinstance(line.text, str) or (line.text.startswith(said) and line.text != said):
                    return
                if said.startswith(line.text):
                    self._said[kind] = said[len(line.text) :]
                    self.script.advance()
                    continue
            if kind is Reply and not self._passes_over():
                self._differs(f"the message {said!r}")
            self._said[kind] = ""

    def _passes_over(self) -> bool:
        """Whether what is said now need not be in the script: the user has cancelled, or is about to."""
        return isinstance(self.script.line, Cancel) or (self._turn is not None and self._cancelling is not None)

    def _sees(self, session: Session, update: SessionUpdate) -> bool:
        """Advance if the update is the line that comes next, which is no text."""
        whole = self._text_is_whole()
        found = False
        match self.script.peek(whole), update:
            case Call() as line, ToolCallUpdateEvent(tool_call_id=call_id):
                call = session.transcript.tool_calls[call_id]
                found = call.title == line.title
                found = found and (line.status or call.status, line.kind or call.kind) == (call.status, call.kind)
            case Update(update=expected), _:
                found = contains(expected, update)
        if found:
            self._pass_text(whole)
            self.script.advance()
        return found

    def _text_is_whole(self) -> bool:
        """Whether the script expects a text by a pattern, and what was said so far is one."""
        line = self.script.line
        if not isinstance(line, Reply | Thought) or isinstance(line.text, str):
            return False
        said = self._said[type(line)]
        return bool(said) and matches(line.text, said)

    def _pass_text(self, whole: bool) -> None:
        """Something else follows what was said: pass the line of a pattern that it matches."""
        line = self.script.line
        if whole and isinstance(line, Reply | Thought):
            self._said[type(line)] = ""
            self.script.advance()

    def announces(self, member: str) -> bool:
        """Forms are announced by a script that has some."""
        if member == "fill_form":
            return any(isinstance(line, Form) for line in self.script.lines)
        return super().announces(member)

    async def fill_form(self, session: Session | None, form: FormElicitation) -> CreateElicitationResponse:
        self.script.note("<-", form)
        self._pass_text(self._text_is_whole())
        line = self.script.line
        if not isinstance(line, Form) or not matches(line.message, form.message):
            self._differs(f"the form {form.message!r}")
            return CancelElicitation()
        self.script.advance()
        match line.answer:
            case "decline":
                return DeclineElicitation()
            case "cancel":
                return CancelElicitation()
            case content:
                return AcceptElicitation(content=dict(content))

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.script.note("<-", request)
        self._pass_text(self._text_is_whole())
        line = self.script.line
        if not isinstance(line, Question) or not matches(line.title, request.title):
            self._differs(f"the question {request.title!r}")
            return refusal(request)
        if line.answer == "cancelled":
            self.script.advance()
            return CancelledOutcome()
        outcome = picked(request, line.answer)
        if outcome is not None:
            self.script.advance()
            return outcome
        self._differs(f"a question that offers {[option.kind.value for option in request.options]}")
        return refusal(request)

    # --- what follows -------------------------------------------------------------------------------------------------

    def _cancel_if_told(self) -> None:
        if isinstance(self.script.line, Cancel) and self._turn is not None:
            self.script.advance()
            self._cancelling = asyncio.get_running_loop().create_task(self._turn.cancel())

    def _differs(self, got: str) -> Mismatch:
        """A mismatch; the turn, if one runs, is left."""
        said = self._said[Reply]
        found = self.script.mismatch(f"{got}, after the message {said!r}" if said and said not in got else got)
        if self._running is not None:
            self._running.cancel()
        return found


async def _iterate(turn: PromptTurn) -> None:
    async for _ in turn:
        pass
