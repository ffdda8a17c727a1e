"""Call a tool of an MCP server and show what it gave."""

from __future__ import annotations

from duologue.coder.models.offline.intents.steps import CallTool
from duologue.coder.models.offline.scripts.commands import fenced
from duologue.coder.models.offline.turn import Turn, TurnStopped, why_not
from duologue.coder.naming import is_of_server, may_be

SHOWN_TOOLS = 20


async def use(turn: Turn, step: CallTool) -> None:
    """Call the one tool that is meant."""
    name = _meant(turn, step)
    (result,) = await turn.calls((name, step.arguments))
    if not result.ok:
        raise TurnStopped(why_not(name, result))
    await turn.say(f"`{name}` gave:\n\n{fenced(result.text)}")


def fitting(turn: Turn, step: CallTool) -> list[str]:
    """The tools that may be meant."""
    offered = _offered(turn)
    return [step.tool] if step.tool in offered else [n for n in offered if may_be(n, step.tool, step.server)]


def _offered(turn: Turn) -> list[str]:
    return sorted(name for name in turn.tools if is_of_server(name))


def _meant(turn: Turn, step: CallTool) -> str:
    found, offered = fitting(turn, step), _offered(turn)
    if len(found) == 1:
        return found[0]
    if found:
        raise TurnStopped(f"Several tools are called that: {_listed(found)}. Please say which server's.")
    if turn.starting:
        raise TurnStopped(
            f"There is no tool {step.tool} yet: these MCP servers are still starting: {_listed([*turn.starting])}. "
            "Please ask again in a moment."
        )
    if not offered:
        raise TurnStopped(f"There is no tool {step.tool}: this session has no MCP server with tools.")
    raise TurnStopped(f"There is no tool {step.tool}. The tools of MCP servers here are {_listed(offered)}.")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN_TOOLS} more" if len(names) > SHOWN_TOOLS else ""
    return ", ".join(f"`{name}`" for name in names[:SHOWN_TOOLS]) + more
