"""Who answers the permission requests of a run: rules, then --yes or --reject, then a person at the terminal.

Where nobody can be asked, the answer is no. What a rule that rejects could be about is asked in spite of --yes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from duologue.cli.parts import Parts
from duologue.cli.screen import Screen, one_line, visible, wants_colour
from duologue.cli.show import Printer
from duologue.cli.terminal import Tty, open_terminal
from duologue.client import Session, refusal
from duologue.client.client import picked
from duologue.client.subjects import Matter, deciding, matter_of, may_reject, real
from duologue.local.rules import Rule, Run, Use, Write
from duologue.protocol.common.permission import (
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
#: The words that are taken for a key. Any other word is no answer.
WORDS = {"yes": "y", "always": "a", "no": "n", "never": "v", "whole": "w"}


@dataclass(slots=True)
class Answers:
    """Answers requests. `nobody_asked` says whether one was refused because there is no terminal, `asking` whether a
    question is open at one; `printed` waits until it can be seen."""

    printer: Printer
    rules: Sequence[Rule] = ()
    otherwise: Literal["ask", "yes", "reject"] = "ask"
    nobody_asked: bool = False
    asking: bool = False
    printed: Callable[[], Awaitable[None]] | None = None
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        """The outcome for a request."""
        async with self._one_at_a_time:
            project = real(".", session.cwd)
            matter = matter_of(request, self._call(session, request), project)
            rule = deciding(self.rules, matter, project)
            if rule is not None:
                self._note(matter)
                return self._told(request, allow=rule.effect == "allow", why=f"by the rule {rule}")
            doubt = may_reject(self.rules, matter, project) if self.otherwise == "yes" else None
            if self.otherwise == "ask" or doubt is not None:
                return await self._by_person(request, matter, doubt)
            self._note(matter)
            return self._told(request, allow=self.otherwise == "yes", why=f"by --{self.otherwise}")

    def _call(self, session: Session, request: RequestPermissionRequest) -> ToolCallState | None:
        """What was told of the tool call that a request is about."""
        if not isinstance(request.subject, ToolCallSubject):
            return None
        return session.transcript.tool_calls.get(request.subject.tool_call.tool_call_id)

    def _told(self, request: RequestPermissionRequest, *, allow: bool, why: str) -> RequestPermissionOutcome:
        outcome = picked(request, Kind.ALLOW_ONCE) if allow else None
        if outcome is None:
            if allow:
                why += " it is allowed once, which the agent does not offer"
            self.printer.screen.line(f"  refused {why}", "red")
            return refusal(request)
        self.printer.screen.line(f"  allowed once {why}", "green")
        return outcome

    async def _by_person(
        self, request: RequestPermissionRequest, matter: Matter, doubt: Rule | None
    ) -> RequestPermissionOutcome:
        tty = open_terminal()
        if tty is None:
            self.nobody_asked = True
            self._tell(self.printer, request, matter, doubt)
            self.printer.screen.line("  refused: there is no terminal to ask at (see --yes and --allow)", "red")
            return refusal(request)
        with tty, self._open_question():
            self.printer.screen.fresh()
            printer = self.printer
            if not printer.screen.is_terminal:
                printer = Printer(Screen(tty.stream, colour=wants_colour(tty.stream)), printer.parts.bounds)
            whole = self._tell(printer, request, matter, doubt)
            return await self._read_answer(tty, printer, request, None if whole else matter)

    @contextmanager
    def _open_question(self) -> Iterator[None]:
        self.asking = True
        try:
            yield
        finally:
            self.asking = False

    def _note(self, matter: Matter) -> None:
        """Print what is answered without a person, as far as it does not stand there already."""
        printer = self.printer
        printer.calls.announce()
        printer.calls.show_diffs(matter.call, matter.content)
        if not matter.certain:
            _tell_matter(printer.parts, matter, printer.parts.bounds.command)
        for command in _commands(matter):
            printer.parts.command_once(command)

    def _tell(
        self, printer: Printer, request: RequestPermissionRequest, matter: Matter, doubt: Rule | None = None
    ) -> bool:
        """Print the question and what it is about; whether that was printed to its end."""
        screen, parts = printer.screen, printer.parts
        self.printer.calls.announce()
        title = one_line(request.title)
        words = "Allow this?" if printer.calls.title_of(matter.call) == title else title
        screen.line(f"{screen.paint('?', 'yellow', 'bold')} {words}")
        if isinstance(request.description, str) and request.description:
            _tell_words(parts, request.description, sys.maxsize)
        whole = True
        for text in matter.texts:
            whole &= _tell_words(parts, text, parts.bounds.text)
        whole &= printer.calls.show_diffs(matter.call, matter.content, near=True)
        whole &= _tell_matter(parts, matter, parts.bounds.command)
        for command in _commands(matter):
            self.printer.parts.know_command(command)
        if doubt is not None:
            screen.line(
                f"  --yes does not answer this: it may be what the rule {one_line(str(doubt))} is about", "yellow"
            )
        return whole

    async def _read_answer(
        self, tty: Tty, printer: Printer, request: RequestPermissionRequest, cut: Matter | None
    ) -> RequestPermissionOutcome:
        screen = printer.screen
        offered = {KEYS[option.kind]: option for option in reversed(request.options) if option.kind in KEYS}
        choices = {key: offered[key] for key in KEYS.values() if key in offered}
        for key, option in choices.items():
            screen.line(f"  [{key}] {one_line(option.name)}")
        if cut is not None:
            screen.line("  [w] Show all of it")
        while True:
            if self.printed is not None:
                await self.printed()
            tty.forget_typed()
            screen.write(f"  {'/'.join([*choices, *([] if cut is None else ['w'])])}? ", "bold")
            line = await tty.read_line()
            if line is None:
                return refusal(request)
            if line.endswith("\n"):
                screen.typed()
            word = line.strip().lower()
            typed = WORDS.get(word, word)
            if typed == "w" and cut is not None:
                for text in cut.texts:
                    _tell_words(printer.parts, text, sys.maxsize)
                printer.whole_diffs(cut.content)
                _tell_matter(printer.parts, cut, sys.maxsize)
                cut = None
                continue
            chosen = choices.get(typed)
            if chosen is not None:
                return SelectedOutcome(option_id=chosen.option_id)
            screen.line(f"  type one of: {', '.join(choices)}", "dim")


def _commands(matter: Matter) -> list[str]:
    return [subject.command for subject in matter.subjects if isinstance(subject, Run)]


def _tell_words(parts: Parts, text: str, most: int) -> bool:
    """Print what a request says for itself; whether that was all."""
    return parts.lines([f"│ {line}" for line in visible(text).split("\n")], most)


def _tell_matter(parts: Parts, matter: Matter, most: int) -> bool:
    """Print what a yes would do, `most` lines of each part; whether that was all."""
    whole = True
    for subject in matter.subjects:
        match subject:
            case Run(command, folder):
                whole &= parts.command(command, most)
                parts.lines([f"in {one_line(str(folder))}"], sys.maxsize, "dim")
            case Write(paths, kind):
                verb = "deletes or moves" if kind == "delete" else "writes"
                whole &= parts.lines([f"{verb} {one_line(str(path))}" for path in paths], most)
            case Use(tool):
                parts.lines([f"uses the tool {one_line(tool)}"], sys.maxsize)
    whole &= parts.lines([f"names {one_line(str(path))}" for path in matter.paths], most)
    if matter.certain:
        return whole
    parts.screen.line("  It is not told for certain what this does.", "yellow")
    if matter.raw is not None:
        told = json.dumps(matter.raw, ensure_ascii=False, default=str)
        whole &= parts.lines([f"input: {one_line(told)}"], most, "dim")
    return whole
