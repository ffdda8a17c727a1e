"""The one way to run a tool: plan, tell, ask, work, tell. Nothing with an effect happens anywhere else.

A tool that calls other tools goes through here as well, so it cannot pass the gate by.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from duologue.coder.conversation import NOT_ASKED, STOPPED
from duologue.coder.errors import ToolError, reason
from duologue.coder.events import PermissionQuestion, ToolFinished, ToolKind, ToolOutcome, ToolRunning, ToolStarted
from duologue.coder.models.base import ToolCall, ToolResult
from duologue.coder.permissions import Gate, Ready, Verdict, at_once
from duologue.coder.texts import scrub, scrub_all
from duologue.coder.tools.base import Context, Outcome, Plan, Tool
from duologue.local.errors import LocalError
from duologue.local.rules import Subject, Use

log = logging.getLogger(__name__)

REFUSED: Mapping[Verdict, str] = {
    # Who said no is not told: the user, a policy of the client, or nobody who could be asked.
    "refused when asked": "Permission for this call was asked for and refused; it had no effect.",
    "refused by a rule": "A rule of the user, or the mode that the session is in, forbids this call; it had no effect.",
}

Record = Callable[[ToolResult], None]


class TurnCancelled(Exception):
    """The user cancelled the turn instead of answering a question."""


class Dispatch:
    """Runs calls of the `tools` that there are at the time. `record` gets each result before the outside hears of it,
    so the history is never behind.

    `heard` waits until the outside knows all that was said: nobody is asked about a call that was not shown yet.
    """

    def __init__(
        self,
        tools: Callable[[], Mapping[str, Tool]],
        context: Context,
        gate: Gate,
        record: Record,
        heard: Ready = at_once,
    ) -> None:
        self._tools = tools
        self._context = context
        self._gate = gate
        self._record = record
        self._heard = heard
        self._refused = False

    def begin_step(self) -> None:
        """The model has made calls together. Once one of them is refused, none of the others has an effect: a change
        that a person said no to in part is neither done in part nor asked about again, piece by piece."""
        self._refused = False

    async def run(self, call: ToolCall) -> None:
        """Run one call to its end. Raises TurnCancelled or CancelledError after saying that the call was stopped."""
        tools = self._tools()
        tool = tools.get(call.name)
        if tool is None:
            known = f"there is no tool {call.name!r}; there are: {', '.join(tools)}"
            await self._fail_unplanned(call, "other", known)
            return
        try:
            plan = await self._plan(call, tool)
        except (ToolError, LocalError, OSError) as error:
            await self._fail_unplanned(call, tool.kind, reason(error))
            return
        await self._run_plan(call, plan, tool)

    async def _plan(self, call: ToolCall, tool: Tool) -> Plan:
        if call.error:
            raise ToolError(call.error)
        try:
            return await tool.plan(call.arguments, self._context)
        except (ToolError, LocalError, OSError):
            raise
        except Exception as error:
            raise internal(call, error) from error

    async def _fail_unplanned(self, call: ToolCall, kind: ToolKind, text: str) -> None:
        self._record(ToolResult(call.id, call.name, text, ok=False))
        await self._context.emit(ToolStarted(call.id, call.name, call.name or "unnamed tool", kind, call.arguments))
        await self._context.emit(ToolFinished(call.id, "failed", text, text))

    async def _run_plan(self, call: ToolCall, plan: Plan, tool: Tool) -> None:
        if self._refused and subject_of(plan, tool) is not None:
            self._record(ToolResult(call.id, call.name, NOT_ASKED, ok=False))
            return
        outcome = Outcome(STOPPED, ok=False)
        end: ToolOutcome = "cancelled"
        try:
            if not plan.quiet:
                await self._context.emit(started(call, plan, tool))
            outcome = await self._permitted(call, plan, tool)
            end = "completed" if outcome.ok else "failed"
        finally:
            self._record(ToolResult(call.id, call.name, outcome.text, outcome.ok, outcome.data))
            if not plan.quiet:
                await self._context.emit(finished(call, plan, outcome, end))

    async def _permitted(self, call: ToolCall, plan: Plan, tool: Tool) -> Outcome:
        subject = subject_of(plan, tool)
        rule = None if subject is None else self._gate.rule(subject)
        if subject is not None:
            question = PermissionQuestion(
                call.id,
                plan.title,
                tool.kind,
                self._gate.scope(subject),
                plan.diffs,
                plan.command,
                plan.cwd,
                plan.locations,
                scrub(plan.description),
            )
            verdict = await self._gate.decide(subject, question, self._heard)
            if verdict == "cancelled":
                raise TurnCancelled
            if verdict != "allowed":
                self._refused = True
                return Outcome(REFUSED[verdict], ok=False)
        if not plan.quiet:
            await self._context.emit(ToolRunning(call.id, plan.command, plan.cwd, None if rule is None else str(rule)))
        return await self._perform(call, plan)

    async def _perform(self, call: ToolCall, plan: Plan) -> Outcome:
        try:
            return await plan.perform(call.id)
        except (ToolError, LocalError, OSError) as error:
            return Outcome(reason(error), ok=False)
        except Exception as error:
            return Outcome(str(internal(call, error)), ok=False)


def subject_of(plan: Plan, tool: Tool) -> Subject | None:
    """What needs permission. A plan that shows an effect but forgets to name it is asked about all the same."""
    return plan.subject or (Use(tool.spec.name) if plan.diffs or plan.command else None)


def started(call: ToolCall, plan: Plan, tool: Tool) -> ToolStarted:
    return ToolStarted(call.id, call.name, scrub(plan.title), tool.kind, call.arguments, plan.locations, plan.diffs)


def finished(call: ToolCall, plan: Plan, outcome: Outcome, end: ToolOutcome) -> ToolFinished:
    text = outcome.text if outcome.shown is None else outcome.shown
    raw: Any = outcome.text if outcome.data is None else outcome.data
    return ToolFinished(
        call.id,
        end,
        scrub(text),
        scrub_all(raw),
        plan.diffs,
        plan.locations,
        outcome.exit_code,
        outcome.signal,
        outcome.blocks,
    )


def internal(call: ToolCall, error: Exception) -> ToolError:
    """A fault of a tool itself; its text may hold anything, so only its kind is told and logged."""
    log.error("tool %s failed: %s", call.name, type(error).__name__)
    return ToolError(f"the tool {call.name} failed inside ({type(error).__name__}); this is not your mistake")
