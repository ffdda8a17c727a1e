"""The coder: one conversation with a model that works in a workspace.

```python
coder = Coder(model=model, workspace=Workspace([cwd]), permissions=PermissionStore(), ask=ask)
async with aclosing(coder.turn(UserMessage("Fix the test"))) as events:
    async for event in events:
        ...
```
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing

from duologue.coder.channel import Channel
from duologue.coder.commands import Runner, Shell
from duologue.coder.conversation import Conversation
from duologue.coder.dispatch import Dispatch
from duologue.coder.events import Event, TitleChanged
from duologue.coder.files import Disk, Files
from duologue.coder.journal import Journal
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import Model, ModelRequest, UserMessage
from duologue.coder.permissions import Ask, Gate, PermissionStore
from duologue.coder.prompt import system_prompt
from duologue.coder.tools import Context, Tool, builtin_tools
from duologue.coder.turn import Job, Turn
from duologue.local.workspace import Workspace


class Coder:
    """A session of the coding agent. One turn at a time; queueing further prompts is the caller's.

    `model`, `instructions` and `tools` may be changed between turns, and what `more_tools` gives at any time;
    `starting` names the MCP servers whose tools it does not give yet. `files` and `runner` let an editor's buffers and
    terminal stand in for the disk and our own shell. `ask` is called for each write and command that no rule decides.
    """

    def __init__(
        self,
        *,
        model: Model,
        workspace: Workspace,
        permissions: PermissionStore,
        ask: Ask,
        files: Files | None = None,
        runner: Runner | None = None,
        tools: Iterable[Tool] | None = None,
        more_tools: Callable[[], Iterable[Tool]] = tuple,
        starting: Callable[[], Iterable[str]] = tuple,
        limits: CoderLimits | None = None,
        conversation: Conversation | None = None,
        instructions: str = "",
    ) -> None:
        self.model = model
        self.workspace = workspace
        self.limits = limits or CoderLimits()
        self.conversation = conversation or Conversation()
        self.instructions = instructions
        self.tools = tuple(builtin_tools() if tools is None else tools)
        self.more_tools = more_tools
        self.starting = starting
        self.gate = Gate(permissions, ask, workspace.project)
        self._disk = Disk(workspace, self.limits)
        self._files = files or self._disk
        self._runner = runner or Shell(grace=self.limits.stop_grace)
        self._journal = Journal(self.limits.journal)
        self._turn: Turn | None = None

    async def turn(self, message: UserMessage) -> AsyncGenerator[Event]:
        """Say something to the model and give what happens, up to `TurnEnded`.

        The turn works ahead of the reader by `CoderLimits.events` events at most. Raises ModelError when the model
        fails, after the events so far; the history is then fit for another turn. Raises RuntimeError when a turn is
        under way. Leave the iterator with `contextlib.aclosing`: that ends the turn and waits until nothing of it runs.
        """
        if self._turn is not None:
            raise RuntimeError("a turn is under way in this session; wait for its end or cancel it")
        channel = Channel(self.limits.events)
        turn = self._turn = Turn(self._job(channel), channel)
        self._journal.begin_turn()
        try:
            async with aclosing(turn.events(message)) as events:
                async for event in events:
                    yield event
        finally:
            try:
                await turn.close()
            finally:
                # A second cancellation comes here before the end: until then it is under way.
                turn.when_over(self._forget)

    def _forget(self) -> None:
        self._turn = None

    def unfinished(self) -> str:
        """What the turn under way has said, and the conversation does not have yet."""
        return "" if self._turn is None else self._turn.unfinished()

    def cancel(self) -> bool:
        """End the turn under way as cancelled; false when there is none. Repeating it does nothing."""
        if self._turn is None:
            return False
        self._turn.cancel()
        return True

    async def aclose(self) -> None:
        """Cancel what is under way, and wait until no process and no task of it is left."""
        if self._turn is not None:
            await self._turn.close()

    def _job(self, channel: Channel) -> Job:
        async def emit(event: Event) -> None:
            if isinstance(event, TitleChanged):
                self.conversation.title = event.title
            await channel.put(event)

        context = Context(self.workspace, self._files, self._disk, self._runner, self._journal, self.limits, emit)
        dispatch = Dispatch(self._tools, context, self.gate, self.conversation.add_result, channel.heard)
        return Job(self.model, self.conversation, self._request, dispatch, self.limits, emit)

    def _tools(self) -> dict[str, Tool]:
        return {tool.spec.name: tool for tool in (*self.tools, *self.more_tools())}

    def _request(self) -> ModelRequest:
        starting = tuple(self.starting())
        return ModelRequest(
            conversation=self.conversation.id,
            system=system_prompt(self.workspace, self.instructions, starting),
            messages=tuple(self.conversation.messages),
            tools=tuple(tool.spec for tool in self._tools().values()),
            cwd=str(self.workspace.cwd),
            starting=starting,
        )
