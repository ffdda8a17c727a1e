"""The `offline` model: rules, no network, no language model."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence

from duologue.coder.models.base import ChatMessage, ModelEvent, ModelRequest, StepEnded, ToolResult
from duologue.coder.models.offline.answer import answer
from duologue.coder.models.offline.play import Play, rebuild, turn_of
from duologue.coder.models.offline.settings import Settings


class OfflineModel:
    """Answers plain requests by rules, through the same tools as any model.

    A turn is a script that waits for its tool results between two `stream` calls. A turn that is not in memory, because
    there were too many or because another process began it, is rebuilt from the history it left.
    """

    name = "offline"
    description = "Rules that ship with the agent: no network, no key, no language model. For set-up, demos and tests."

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self._plays: OrderedDict[str, Play] = OrderedDict()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        play, results = self._find(request)
        ended = False
        for event in play.step(results):
            if isinstance(event, StepEnded):
                ended = True
                self._keep(request.conversation, play if event.message.calls else None)
            yield event
            await asyncio.sleep(0)
        assert ended, "a step always ends"

    def _find(self, request: ModelRequest) -> tuple[Play, Sequence[ToolResult] | None]:
        play = self._plays.pop(request.conversation, None)
        results = _last_results(request.messages)
        if play is not None and play.waits_for(results):
            return play, results
        if play is not None:
            play.close()
        turn, since = turn_of(request, self.settings)
        return rebuild(answer, turn, since)

    def _keep(self, conversation: str, play: Play | None) -> None:
        if play is None:
            return
        self._plays[conversation] = play
        while len(self._plays) > self.settings.remembered_turns:
            self._plays.popitem(last=False)[1].close()


def _last_results(messages: Sequence[ChatMessage]) -> list[ToolResult]:
    found: list[ToolResult] = []
    for message in reversed(messages):
        if not isinstance(message, ToolResult):
            break
        found.append(message)
    return found[::-1]
