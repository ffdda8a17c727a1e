"""One turn in motion: a script, where it stands, and which results it waits for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from duologue.coder.models.base import (
    AssistantMessage,
    CallDelta,
    ChatMessage,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ThoughtDelta,
    ToolCall,
    ToolResult,
    UserMessage,
)
from duologue.coder.models.offline.settings import Settings
from duologue.coder.models.offline.turn import Item, Say, Script, Think, Turn, TurnStopped
from duologue.local.ids import fresh_id

LOST = "I lost my place in this turn (its history does not fit what I was doing). Please ask again."

#: What a client puts before the person's words: JupyterLab's, about notebooks, with the first message of a session.
NOTE = re.compile(r"\ASystem note: [^\n]*\n\n")


class Play:
    """Drives a script from one step to the next."""

    def __init__(self, write: Callable[[Turn], Script], turn: Turn) -> None:
        self._script = write(turn)
        self._waiting: tuple[ToolCall, ...] = ()
        self._over = False

    def waits_for(self, results: Sequence[ToolResult]) -> bool:
        return bool(results) and [call.id for call in self._waiting] == [result.call for result in results]

    def step(self, results: Sequence[ToolResult] | None) -> Iterator[ModelEvent]:
        """Run to the next calls or to the end of the turn; ends with `StepEnded`."""
        texts: list[str] = []
        thoughts: list[str] = []
        self._waiting = ()
        item = self._advance(results)
        while isinstance(item, Say | Think):
            (texts if isinstance(item, Say) else thoughts).append(item.text)
            yield TextDelta(item.text) if isinstance(item, Say) else ThoughtDelta(item.text)
            item = self._advance(None)
        calls = tuple(ToolCall(f"call-{fresh_id()[:12]}", *call) for call in item.calls) if item else ()
        for call in calls:
            yield CallDelta(call.id, call.name)
        self._waiting = calls
        message = AssistantMessage("".join(texts), "".join(thoughts), calls)
        yield StepEnded(message, "tool_calls" if calls else "stop")

    def replay(self, message: AssistantMessage, results: Sequence[ToolResult] | None) -> bool:
        """Take a step that already happened; false if this script would have done something else."""
        for event in self.step(results):
            if isinstance(event, StepEnded):
                asked = [(call.name, call.arguments) for call in event.message.calls]
                self._waiting = message.calls
                return asked == [(call.name, call.arguments) for call in message.calls]
        return False

    def _advance(self, results: Sequence[ToolResult] | None) -> Item | None:
        if self._over:
            return None
        try:
            return self._script.send(results)
        except StopIteration:
            self._over = True
            return None
        except TurnStopped as stopped:
            self._over = True
            return Say(f"{stopped}\n")

    def close(self) -> None:
        self._script.close()


async def _lost(turn: Turn) -> None:
    await turn.say(LOST)


def rebuild(
    write: Callable[[Turn], Script], turn: Turn, since: Sequence[ChatMessage]
) -> tuple[Play, list[ToolResult] | None]:
    """A play that stands where the messages after the person's words end, and the results it goes on with."""
    play = Play(write, turn)
    results: list[ToolResult] | None = None
    for message in since:
        match message:
            case AssistantMessage():
                if not play.replay(message, results):
                    play.close()
                    return Play(_lost, turn), None
                results = None
            case ToolResult():
                results = [*(results or []), message]
            case UserMessage():
                pass
    if results is not None and not play.waits_for(results):
        play.close()
        return Play(_lost, turn), None
    return play, results


def turn_of(request: ModelRequest, settings: Settings) -> tuple[Turn, Sequence[ChatMessage]]:
    """The newest turn of a history, and what happened in it so far."""
    at = max((i for i, m in enumerate(request.messages) if isinstance(m, UserMessage)), default=-1)
    texts = tuple(NOTE.sub("", m.text) for m in request.messages[: at + 1] if isinstance(m, UserMessage))
    before = request.messages[:at] if at >= 0 else ()
    titled = any(call.name == "set_title" for m in before if isinstance(m, AssistantMessage) for call in m.calls)
    tools = frozenset(tool.name for tool in request.tools)
    text = texts[-1] if texts else ""
    turn = Turn(
        text,
        settings,
        tools=tools,
        cwd=request.cwd,
        titled=titled,
        earlier=texts[:-1],
        starting=request.starting,
    )
    return turn, request.messages[at + 1 :]
