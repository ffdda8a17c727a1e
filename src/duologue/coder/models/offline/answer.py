"""The script of every turn: understand, plan, and do one step after another."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.coder.models.offline.intents import understand
from duologue.coder.models.offline.intents.calling import bare_call
from duologue.coder.models.offline.intents.steps import Declined, Hello, Step, Unknown, title_of
from duologue.coder.models.offline.scripts import calling, perform, talk
from duologue.coder.models.offline.turn import Turn, TurnStopped

#: Longer requests are not read: the rules look at a text many times, and nothing else runs meanwhile.
REQUEST_CHARACTERS = 8000


async def answer(turn: Turn) -> None:
    """Do what the person asked, or say that no rule fits."""
    if len(turn.text) > REQUEST_CHARACTERS:
        await turn.say(
            f"Your request has {len(turn.text)} characters; my rules read at most {REQUEST_CHARACTERS}. "
            "Please ask for less at once.\n"
        )
        return
    steps = _read(turn)
    if len(steps) == 1 and isinstance(steps[0], Hello | Declined | Unknown):
        await talk.reply(turn, steps[0])
        return
    await turn.title("; ".join(title_of(step) for step in steps))
    for index, step in enumerate(steps):
        await _show_plan(turn, steps, index)
        try:
            await perform(turn, step)
        except TurnStopped as stopped:
            await turn.say(f"{stopped}{turn.left_behind()}\n")
            await _say_dropped(turn, steps[index + 1 :])
            return
    await _show_plan(turn, steps, len(steps))


def _read(turn: Turn) -> tuple[Step, ...]:
    bare = bare_call(turn.text)
    if bare is not None and calling.fitting(turn, bare):
        return (bare,)
    steps = understand(turn.text, [text for text in turn.earlier if len(text) <= REQUEST_CHARACTERS])
    # The tool that is meant may be one of a server that is still starting.
    may_come = bare is not None and turn.starting and any(isinstance(step, Unknown) for step in steps)
    return (bare,) if bare is not None and may_come else steps


async def _say_dropped(turn: Turn, steps: Sequence[Step]) -> None:
    if steps:
        await turn.say(f"\nNot done: {'; '.join(title_of(step) for step in steps)}.\n")


async def _show_plan(turn: Turn, steps: Sequence[Step], now: int) -> None:
    if len(steps) < 2 or "update_plan" not in turn.tools:
        return
    items = [{"content": title_of(step), "status": _status(index, now)} for index, step in enumerate(steps)]
    await turn.call("update_plan", items=items)


def _status(index: int, now: int) -> str:
    if index < now:
        return "completed"
    return "in_progress" if index == now else "pending"
