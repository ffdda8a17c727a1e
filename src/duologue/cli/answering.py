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
from duologue.coder.rules import Rule
from duologue.protocol.common.permission import (
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionOutcome,
    SelectedOutcome,
)
from duologue.protocol.v2.permission import CommandSubject, RequestPermissionRequest, ToolCallSubject

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
            call = None
            if isinstance(request.subject, ToolCallSubject):
                call = session.transcript.tool_calls.get(request.subject.tool_call.tool_call_id)
            project = real(".", session.cwd)
            rule = deciding(self.rules, subjects_of(request, call, project), project)
            if rule is not None:
                return self._by_rule(request, rule)
            if self.otherwise != "ask":
                return self._by_option(request)
            return await self._by_person(request)

    def _by_rule(self, request: RequestPermissionRequest, rule: Rule) -> RequestPermissionOutcome:
        self._ask_on(self.printer, request)
        return self._told(request, allow=rule.effect == "allow", why=f"by the rule {rule}")

    def _by_option(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self._ask_on(self.printer, request)
        return self._told(request, allow=self.otherwise == "yes", why=f"by --{self.otherwise}")

    def _told(self, request: RequestPermissionRequest, *, allow: bool, why: str) -> RequestPermissionOutcome:
        option = _option(request, Kind.ALLOW_ONCE) if allow else None
        if option is None:
            if allow:
                why += " it is allowed once, which the agent does not offer"
            self.printer.screen.line(f"  refused {why}", "red")
            return refusal(request)
        self.printer.screen.line(f"  allowed once {why}", "green")
        return SelectedOutcome(option_id=option.option_id)

    async def _by_person(self, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        tty = open_terminal()
        if tty is None:
            self.nobody_asked = True
            self._ask_on(self.printer, request)
            self.printer.screen.line("  refused: there is no terminal to ask at (see --yes and --allow)", "red")
            return refusal(request)
        with tty:
            self.printer.screen.fresh()
            printer = self.printer
            if not printer.screen.is_terminal:
                printer = Printer(Screen(tty.stream, colour=wants_colour(tty.stream)))
            whole = self._ask_on(printer, request)
            return await _read_answer(tty, printer, request, whole=whole)

    def _ask_on(self, printer: Printer, request: RequestPermissionRequest) -> bool:
        """Print the question and what it is about; whether all of that was printed."""
        screen = printer.screen
        screen.line(f"{screen.paint('?', 'yellow', 'bold')} {printable(request.title)}")
        if isinstance(request.description, str) and request.description:
            screen.line(f"  {printable(request.description)}")
        match request.subject:
            case CommandSubject(command=command, cwd=cwd):
                self.printer.note_command(command)
                whole = printer.command(command, COMMAND_LINES)
                screen.line(f"  in {printable(cwd)}", "dim")
                return whole
            case ToolCallSubject(tool_call=call):
                printer.show_diffs(call.tool_call_id, call.content or [])
        return True


async def _read_answer(
    tty: Tty, printer: Printer, request: RequestPermissionRequest, *, whole: bool
) -> RequestPermissionOutcome:
    screen = printer.screen
    offered = {KEYS[option.kind]: option for option in reversed(request.options) if option.kind in KEYS}
    choices = {key: offered[key] for key in KEYS.values() if key in offered}
    for key, option in choices.items():
        screen.line(f"  [{key}] {printable(option.name)}")
    if not whole:
        screen.line("  [w] Show the whole command")
    while True:
        screen.write(f"  {'/'.join([*choices, *([] if whole else ['w'])])}? ", "bold")
        line = await tty.read_line()
        if line is None:
            return refusal(request)
        typed = line.strip().lower()[:1]
        if typed == "w" and isinstance(request.subject, CommandSubject):
            whole = printer.command(request.subject.command, sys.maxsize)
            continue
        chosen = choices.get(typed)
        if chosen is not None:
            return SelectedOutcome(option_id=chosen.option_id)
        screen.line(f"  type one of: {', '.join(choices)}", "dim")


def _option(request: RequestPermissionRequest, kind: PermissionOptionKind) -> PermissionOption | None:
    return next((option for option in request.options if option.kind == kind), None)
