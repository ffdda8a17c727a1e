"""Run the linter; mend what can be proven."""

from __future__ import annotations

from duologue.coder.models.offline.intents.steps import Lint
from duologue.coder.models.offline.scripts.commands import block
from duologue.coder.models.offline.turn import Turn


async def lint(turn: Turn, step: Lint) -> None:
    data = await turn.run("ruff check --output-format concise " + (step.target or "."))
    await turn.say(block(str(data["output"])))
