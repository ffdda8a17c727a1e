"""The history of a conversation, in a state that a model accepts: each call has one result, each id is one call's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from typing import Protocol

from msgspec.structs import replace

from duologue.coder.models.base import AssistantMessage, ChatMessage, ToolCall, ToolResult, UserMessage
from duologue.coder.texts import nests_deeper, scrub, scrub_all
from duologue.late import late_pattern
from duologue.local.ids import fresh_id

USABLE_ID = late_pattern(r"[A-Za-z0-9_-]{1,64}")

#: How deep the arguments of a call may nest. They are shown to a client, whose limit (`duologue.jsonrpc.limits.Limits`)
#: has to hold what is around them as well.
ARGUMENT_DEPTH = 100

#: Characters of a title.
TITLE_CHARACTERS = 80

NOT_RUN = "This call was not run: the turn ended before."
NOT_ASKED = "This call was not run: a call before it in the same step was refused."
STOPPED = "This call was stopped by the user before it ended."


class Watcher(Protocol):
    """Is told of each change of a conversation when it has happened."""

    def added(self, message: ChatMessage) -> None: ...

    def dropped_from(self, mark: int) -> None: ...


@dataclass(slots=True)
class Conversation:
    """Messages in order. `id` is stable over the life of the session; `title` and `cost` belong to it. `unrun` is the
    result of the calls of given messages that have none. `begun` counts the turns since it was made, also those that
    were forgotten."""

    id: str = field(default_factory=fresh_id)
    messages: list[ChatMessage] = field(default_factory=list)
    title: str | None = None
    cost: float | None = None
    watcher: Watcher | None = None
    unrun: InitVar[str] = NOT_RUN
    begun: int = field(init=False, default=0)
    _ids: set[str] = field(init=False, default_factory=set)

    def __post_init__(self, unrun: str) -> None:
        self._ids = {call.id for message in self.messages for call in calls_of(message)}
        self.settle(unrun)

    def begin(self, message: UserMessage) -> int:
        """Add what the user says. Returns a mark for `drop_from`."""
        self.begun += 1
        self._add(replace(message, text=scrub(message.text)))
        return len(self.messages) - 1

    def _add(self, message: ChatMessage) -> None:
        self.messages.append(message)
        if self.watcher is not None:
            self.watcher.added(message)

    def add_step(self, message: AssistantMessage) -> AssistantMessage:
        """Add what the model said. Its calls get ids of their own where the model used one before, and arguments that
        nest too deep are an error instead."""
        calls = tuple(self._unique(call) for call in message.calls)
        kept = replace(message, text=scrub(message.text), thought=scrub(message.thought), calls=calls)
        self._add(kept)
        return kept

    def _unique(self, call: ToolCall) -> ToolCall:
        fresh = call.id if USABLE_ID.fullmatch(call.id) and call.id not in self._ids else f"call-{fresh_id()[:16]}"
        self._ids.add(fresh)
        if nests_deeper(call.arguments, ARGUMENT_DEPTH):
            why = f"the arguments nest deeper than {ARGUMENT_DEPTH} levels; send the call again with simpler ones"
            call = replace(call, arguments={}, error=why)
        return replace(call, id=fresh, name=scrub(call.name), arguments=scrub_all(call.arguments))

    def add_result(self, result: ToolResult) -> None:
        self._add(replace(result, text=scrub(result.text), data=scrub_all(result.data)))

    def settle(self, text: str) -> None:
        """Give each call of the last step that has no result one that says why."""
        for call in self.open_calls():
            self.add_result(ToolResult(call.id, call.name, text, ok=False))

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last step that have no result yet."""
        answered: set[str] = set()
        for message in reversed(self.messages):
            match message:
                case ToolResult(call):
                    answered.add(call)
                case AssistantMessage(calls=calls):
                    return tuple(call for call in calls if call.id not in answered)
                case UserMessage():
                    return ()
        return ()

    def drop_from(self, mark: int) -> None:
        """Forget a turn: what a refusal asks for, and a message that the model cannot take."""
        del self.messages[mark:]
        if self.watcher is not None:
            self.watcher.dropped_from(mark)


def calls_of(message: ChatMessage) -> Iterable[ToolCall]:
    return message.calls if isinstance(message, AssistantMessage) else ()
