"""Who answers the permission requests of a run: rules, then --yes or --deny, then a person at the terminal.

Where nobody can be asked, the answer is no.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from duologue.cli.screen import Screen, printable, wants_colour
from duologue.cli.show import COMMAND_LINES, Printer
from duologue.cli.subjects import deciding, real, subjects_of
from duologue.cli.terminal import Tty, open_terminal
from duologue.client import Session, refusal
from duologue.coder.rules import Rule, Run, Subject
from duologue.protocol.common.permission import (
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionOutcome,
    SelectedOutcome,
)
from duologue.protocol.v2.permission import RequestPermissionRequest, ToolCallSubject
from duologue.session.entries import ToolCallState

Kind = PermissionOptionKind

#: What is typed for an option.
KEYS = {
    Kind.ALLOW_ONCE: "y",
    Kind.ALLOW_ALWAYS: "a",
    Kind.REJECT_ONCE: "n",
    Kind.REJECT_ALWAYS: "v",
}


@dataclass(slots=True)
class Answers:
    """Answers requests. `nobody_asked` says whether one was refused because there is no terminal."""

    printer: Printer
    rules: Sequence[Rule] = ()
    otherwise: Literal["ask", "yes", "deny"] = "ask"
    nobody_asked: bool = False
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        """The outcome for a request."""
        async with self._one_at_a_time:
            project = real(".", session.cwd)
            subjects = subjects_of(request, self._call(session, request), project)
            rule = deciding(self.rules, subjects, project)
            if rule is None and self.otherwise == "ask":
                return await self._by_person(request, subjects)
            self._ask_on(self.printer, request, subjects)
            if rule is not None:
                return self._told(request, allow=rule.effect == "allow", why=f"by the rule {rule}")
            return self._told(request, allow=self.otherwise == "yes", why=f"by --{self.otherwise}")

    def _call(self, session: Session, request: RequestPermissionRequest) -> ToolCallState | None:
        """What was told of the tool call that a request is about."""
        if not isinstance(request.subject, ToolCallSubject):
            return None
        return session.transcript.tool_calls.get(request.subject.tool_call.tool_call_id)

    def _told(self, request: RequestPermissionRequest, *, allow: bool, why: str) -> RequestPermissionOutcome:
        option = _option(request, Kind.ALLOW_ONCE) if allow else None
        if option is None:
            if allow:
                why += " it is allowed once, which the agent does not offer"
            self.printer.screen.line(f"  refused {why}", "red")
            return refusal(request)
        self.printer.screen.line(f"  allowed once {why}", "green")
        return SelectedOutcome(option_id=option.option_id)

    async def _by_person(
        self, request: RequestPermissionRequest, subjects: Sequence[Subject]
    ) -> RequestPermissionOutcome:
        tty = open_terminal()
        if tty is None:
            self.nobody_asked = True
            self._ask_on(self.printer, request, subjects)
            self.printer.screen.line("  refused: there is no terminal to ask at (see --yes and --allow)", "red")
            return refusal(request)
        with tty:
            self.printer.screen.fresh()
            printer = self.printer
            if not printer.screen.is_terminal:
                printer = Printer(Screen(tty.stream, colour=wants_colour(tty.stream)))
            cut = self._ask_on(printer, request, subjects)
            return await _read_answer(tty, printer, request, cut)

    def _ask_on(self, printer: Printer, request: RequestPermissionRequest, subjects: Sequence[Subject]) -> str | None:
        """Print the question and what it is about; a command that was not printed to its end."""
        screen = printer.screen
        screen.line(f"{screen.paint('?', 'yellow', 'bold')} {printable(request.title)}")
        if isinstance(request.description, str) and request.description:
            screen.line(f"  {printable(request.description)}")
        if isinstance(request.subject, ToolCallSubject):
            printer.show_diffs(request.subject.tool_call.tool_call_id, request.subject.tool_call.content or [])
        cut = None
        for subject in subjects:
            if isinstance(subject, Run):
                self.printer.note_command(subject.command)
                whole = printer.command(subject.command, COMMAND_LINES)
                cut = None if whole else subject.command
                screen.line(f"  in {printable(str(subject.cwd))}", "dim")
        return cut


async def _read_answer(
    tty: Tty, printer: Printer, request: RequestPermissionRequest, cut: str | None
) -> RequestPermissionOutcome:
    screen = printer.screen
    offered = {KEYS[option.kind]: option for option in reversed(request.options) if option.kind in KEYS}
    choices = {key: offered[key] for key in KEYS.values() if key in offered}
    for key, option in choices.items():
        screen.line(f"  [{key}] {printable(option.name)}")
    if cut is not None:
        screen.line("  [w] Show the whole command")
    while True:
        screen.write(f"  {'/'.join([*choices, *([] if cut is None else ['w'])])}? ", "bold")
        line = await tty.read_line()
        if line is None:
            return refusal(request)
        typed = line.strip().lower()[:1]
        if typed == "w" and cut is not None:
            printer.command(cut, sys.maxsize)
            cut = None
            continue
        chosen = choices.get(typed)
        if chosen is not None:
            return SelectedOutcome(option_id=chosen.option_id)
        screen.line(f"  type one of: {', '.join(choices)}", "dim")


def _option(request: RequestPermissionRequest, kind: PermissionOptionKind) -> PermissionOption | None:
    return next((option for option in request.options if option.kind == kind), None)
