"""One turn of the conversation: steps of the model, calls of tools, until the model has nothing more to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from duologue.coder.channel import Channel
from duologue.coder.conversation import NOT_RUN, STOPPED, TITLE_CHARACTERS, Conversation
from duologue.coder.dispatch import Dispatch, TurnCancelled
from duologue.coder.events import Event, Text, Thought, TitleChanged, TurnEnded, TurnReason, UsageChanged
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import (
    AssistantMessage,
    CallDelta,
    ChatMessage,
    Model,
    ModelError,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ThoughtDelta,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from duologue.coder.texts import scrub, shorten
from duologue.coder.usage import UsageSum
from duologue.local.ids import fresh_id

#: Statuses that blame the request itself, not the key or the server.
REJECTED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Job:
    """What a turn works with. `request` makes the model's request of the history as it is now."""

    model: Model
    conversation: Conversation
    request: Callable[[], ModelRequest]
    dispatch: Dispatch
    limits: CoderLimits
    emit: Callable[[Event], Awaitable[None]]


class Turn:
    """A turn in motion. It works in a task of its own, so that a reader that goes away does not leave it half done."""

    def __init__(self, job: Job, channel: Channel) -> None:
        self._job = job
        self._channel = channel
        self._usage = UsageSum()
        self._speech = Speech(channel)
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        self._error: BaseException | None = None
        self.cancelled = False

    def unfinished(self) -> str:
        """What was said in a step that has not come to its end."""
        return self._speech.unfinished()

    def cancel(self) -> None:
        """End the turn as cancelled. Repeating it does nothing."""
        if self.cancelled:
            return
        self.cancelled = True
        self._channel.open_up()
        # A task that is cancelled before its first step would never get to say how it ended.
        if self._task and self._begun:
            self._task.cancel()

    async def events(self, message: UserMessage) -> AsyncGenerator[Event]:
        """Do the turn and give its events. Raises what the model raised, after the last event.

        A cancelled reader still gets the events up to `TurnEnded("cancelled")`, and then the cancellation.
        """
        self._task = asyncio.create_task(self._work(message))
        interrupted: asyncio.CancelledError | None = None
        while True:
            try:
                event = await self._channel.get()
            except asyncio.CancelledError as error:
                if interrupted:
                    raise
                interrupted = error
                self.cancel()
                continue
            if event is None:
                break
            yield event
        if interrupted:
            raise interrupted
        if self._error:
            raise self._error

    async def close(self) -> None:
        """End the turn if it still works, and wait until nothing of it runs."""
        if self._task and not self._task.done():
            self.cancel()
            await asyncio.wait([self._task])

    def when_over(self, then: Callable[[], None]) -> None:
        """Call this once nothing of the turn runs; at once when that is so already."""
        if self._task is None or self._task.done():
            then()
        else:
            self._task.add_done_callback(lambda _: then())

    async def _work(self, message: UserMessage) -> None:
        self._begun = True
        mark = self._job.conversation.begin(message)
        reason: TurnReason | None
        try:
            reason = await self._until_end(message)
        except (asyncio.CancelledError, TurnCancelled):
            self._channel.open_up()
            reason = "cancelled"
        except Exception as error:
            # A model may fail because it is being stopped; that is no failure of the turn.
            reason = "cancelled" if self.cancelled else None
            self._error = None if self.cancelled else error
        try:
            self._settle(reason, mark)
            if reason:
                await self._channel.put(TurnEnded(reason, self._usage.total()))
        except Exception as error:
            # Whatever fails here, the reader must not wait for an end that never comes.
            self._error = error
        finally:
            self._channel.close()

    async def _until_end(self, message: UserMessage) -> TurnReason:
        self._stop_if_cancelled()
        await self._name(message)
        repeats = Repeats(self._job.limits.same_failures)
        for _ in range(self._job.limits.steps):
            self._stop_if_cancelled()
            step = await self._step()
            kept = self._job.conversation.add_step(step.message)
            match step.reason:
                case "refusal":
                    return "refusal"
                case "length":
                    return "max_tokens"
            if not kept.calls:
                return "end_turn"
            self._job.dispatch.begin_step()
            for call in kept.calls:
                self._stop_if_cancelled()
                await self._job.dispatch.run(call)
            repeats.check(kept.calls, self._job.conversation.messages[-len(kept.calls) :])
        return "max_turn_requests"

    def _stop_if_cancelled(self) -> None:
        if self.cancelled:
            raise TurnCancelled

    async def _name(self, message: UserMessage) -> None:
        """A first title, from the first thing that was said."""
        title = shorten(scrub(message.text), TITLE_CHARACTERS)
        if self._job.conversation.title is None and title:
            await self._job.emit(TitleChanged(title))

    async def _step(self) -> StepEnded:
        """Ask the model once. Raises ModelError when it does not come to an end."""
        self._speech.begin()
        usage: Usage | None = None
        try:
            async with closing(self._job.model.stream(self._job.request())) as stream:
                async for event in stream:
                    self._stop_if_cancelled()
                    match event:
                        case TextDelta() | ThoughtDelta():
                            await self._speech.say(event)
                        case Usage():
                            usage = event
                        case StepEnded():
                            await self._speech.finish(event.message)
                            return event
                        case CallDelta():
                            pass
            raise ModelError("the model's answer ended before it was whole", retryable=True)
        finally:
            if usage:
                await self._count(usage)

    async def _count(self, usage: Usage) -> None:
        self._usage.add(usage)
        conversation = self._job.conversation
        if usage.cost is not None:
            conversation.cost = (conversation.cost or 0) + usage.cost
        if usage.context_size:
            used = usage.input_tokens + usage.output_tokens
            await self._channel.put(UsageChanged(used, usage.context_size, conversation.cost))

    def _settle(self, reason: TurnReason | None, mark: int) -> None:
        """Leave a history that the next turn can go on from."""
        conversation = self._job.conversation
        if reason == "refusal" or self._was_rejected(mark):
            conversation.drop_from(mark)
            return
        # What was said before the end of a broken step has been seen, so it belongs to the history.
        if said := self._speech.unfinished():
            conversation.add_step(AssistantMessage(said))
        conversation.settle(STOPPED if reason == "cancelled" else NOT_RUN)

    def _was_rejected(self, mark: int) -> bool:
        """Whether the model takes the message itself for a mistake: kept, it would make every later request one."""
        if len(self._job.conversation.messages) > mark + 1 or self._speech.unfinished():
            return False
        return isinstance(self._error, ModelError) and self._error.status in REJECTED


class Repeats:
    """Notices a model that makes the same failing calls again and again, each at a price."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last: list[tuple[str, dict[str, Any]]] = []
        self._count = 0

    def check(self, calls: Sequence[ToolCall], results: Sequence[ChatMessage]) -> None:
        """Take the calls of a step and what came of them. Raises ModelError when it is enough."""
        failed = all(isinstance(result, ToolResult) and not result.ok for result in results)
        made = [(call.name, call.arguments) for call in calls] if failed else []
        self._count = self._count + 1 if made and made == self._last else len(made[:1])
        self._last = made
        if self._count >= self._most:
            names = ", ".join(dict.fromkeys(name for name, _ in made))
            raise ModelError(f"the model made the same failing call {self._count} times in a row ({names})")


class Speech:
    """Sends what the model says and thinks as messages: one id for each unbroken piece of either."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.begin()

    def begin(self) -> None:
        """A step begins: nothing said yet."""
        self._said: list[str] = []
        self._kind: type[Text] | type[Thought] | None = None
        self._message = ""
        self._finished = False

    async def say(self, delta: TextDelta | ThoughtDelta) -> None:
        text = scrub(delta.text)
        kind = Text if isinstance(delta, TextDelta) else Thought
        if not text:
            return
        if kind is not self._kind:
            self._kind, self._message = kind, fresh_id()
        if kind is Text:
            self._said.append(text)
        await self._channel.put(kind(self._message, text))

    async def finish(self, message: AssistantMessage) -> None:
        """The step is whole; a model that does not stream has said nothing yet."""
        if message.text and not self._said:
            await self.say(TextDelta(message.text))
        self._finished = True

    def unfinished(self) -> str:
        """What was said in a step that did not come to its end."""
        return "" if self._finished else "".join(self._said)


@asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """Closes the model's stream in any case, which tells the provider to stop."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close:
            await close()
