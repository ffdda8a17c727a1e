"""Tool calls: one line for each that only looks, the change or the command of each that acts, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from duologue.cli.command_output import CommandOutputs
from duologue.cli.parts import Parts, changed_lines
from duologue.cli.screen import one_line, printable
from duologue.client.raw_input import read_raw_input
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.tools import ToolKind, ToolTerminal
from duologue.protocol.v2.tools import ToolCallContent, ToolCallStatus, ToolContent, ToolDiff
from duologue.session import ToolCallState

#: Kinds of calls that only look.
LOOKS = frozenset((ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH))

#: Calls that are remembered.
KEPT = 64
#: How far above a question its diffs may stand, in lines.
NEAR_LINES = 20
#: The longest result of a look that is shown itself, in characters.
SHORT_RESULT = 60

ENDS: Mapping[str, tuple[str, str]] = {
    ToolCallStatus.COMPLETED: ("✓ completed", "green"),
    ToolCallStatus.FAILED: ("✗ failed", "red"),
    ToolCallStatus.CANCELLED: ("✗ cancelled", "yellow"),
}

#: An end that says no more than one before it: a call that was shown as cancelled fails, in version 1.
_CANCELLED_BEFORE: Mapping[str, tuple[str, ...]] = {ToolCallStatus.FAILED: (ToolCallStatus.CANCELLED,)}


@dataclass(slots=True)
class Seen:
    """What was printed of a call. `title` is None until its line was; `end` is the status that was told as its end."""

    title: str | None = None
    command: str = ""
    end: str = ""
    #: By the hash of a diff: whether it was printed to its end, and how many lines stood on the screen then.
    diffs: dict[int, tuple[bool, int]] = field(default_factory=dict)
    #: The hashes of the lines that they change.
    changed: set[int] = field(default_factory=set)


class Calls:
    """Prints the tool calls of a session.

    A call is often named better by its second update than by its first. So its line is printed when it says what it
    works on, ends, or something else has to be printed; `before_others` is called for that.
    """

    def __init__(self, parts: Parts, outputs: CommandOutputs, before_others: Callable[[], None]) -> None:
        self._parts = parts
        self._screen = parts.screen
        self._outputs = outputs
        self._before_others = before_others
        self._seen: dict[str, Seen] = {}
        self._waiting: dict[str, ToolCallState] = {}
        self._begun: str | None = None

    def show(self, call: ToolCallState, fresh: Sequence[ToolCallContent]) -> None:
        """Print what is new of a call; `fresh` is content that its update brought."""
        seen = self._seen_of(call.id)
        if _only_looks(call):
            self._look(call, seen)
        else:
            self._act(call, seen, fresh)

    def announce(self, *, begun_only: bool = False) -> None:
        """Print the lines of the calls that are known and were not printed yet; or of those among them that work."""
        for call in list(self._waiting.values()):
            if not begun_only or _has_begun(call):
                self._announce(call, self._seen_of(call.id))

    def title_of(self, call_id: str) -> str | None:
        """The title under which a call stands on the screen."""
        seen = self._seen.get(call_id)
        return None if seen is None else seen.title

    def _seen_of(self, call_id: str) -> Seen:
        seen = self._seen.get(call_id)
        if seen is None:
            seen = self._seen[call_id] = Seen()
            if len(self._seen) > KEPT:
                oldest = next(iter(self._seen))
                del self._seen[oldest]
                self._waiting.pop(oldest, None)
        return seen

    # --- calls that look --------------------------------------------------------------------------------------------

    def _look(self, call: ToolCallState, seen: Seen) -> None:
        if not call.ended:
            if seen.title is None:
                self._waiting[call.id] = call
                if call.status == ToolCallStatus.IN_PROGRESS and not self._screen.begun:
                    self._begin(call, seen)
        elif seen.end != call.status:
            seen.end = call.status
            if call.status == ToolCallStatus.COMPLETED and not self._parts.bounds.looks:
                self._found(call, seen)
            else:
                self._announce(call, seen)
                self._end(call, seen)

    def _begin(self, call: ToolCallState, seen: Seen) -> None:
        """Print the line without its end, which tells what was found."""
        self._waiting.pop(call.id, None)
        self._before_others()
        seen.title = _title(call)
        self._begun = call.id
        self._screen.begin(self._line(call))

    def _found(self, call: ToolCallState, seen: Seen) -> None:
        found = _found(call)
        tail = self._screen.paint(f" · {found}", "dim") if found else ""
        if seen.title is None:
            self._begin(call, seen)
        if self._begun == call.id and self._screen.begun:
            self._screen.write(f"{_renamed(call, seen)}{tail}\n")
        # Else its line is further above, and there is nothing to say that needs one of its own.

    # --- calls that act ---------------------------------------------------------------------------------------------

    def _act(self, call: ToolCallState, seen: Seen, fresh: Sequence[ToolCallContent]) -> None:
        if seen.title is None and not _says_what(call):
            self._waiting[call.id] = call
            return
        self._announce(call, seen)
        if _has_begun(call):  # Before, a question may come, which shows the command itself.
            self._tell_command(call, seen)
        self.show_diffs(call.id, fresh)
        if call.ended and seen.end not in (call.status, *_CANCELLED_BEFORE.get(call.status, ())):
            seen.end = call.status
            self._end(call, seen)

    def _announce(self, call: ToolCallState, seen: Seen) -> None:
        self._waiting.pop(call.id, None)
        if seen.title is not None:
            return
        self._before_others()
        seen.title = _title(call)
        self._screen.line(self._line(call))
        command = self._command(call)
        self._parts.know_command(command if command and _in_title(command, seen) else None)

    def _tell_command(self, call: ToolCallState, seen: Seen) -> None:
        """Print the command of a call whose title does not hold it, once."""
        command = self._command(call)
        if command and seen.command != command:
            seen.command = command
            if _in_title(command, seen):
                self._parts.know_command(command)
            else:
                self._parts.command_once(command)

    def _command(self, call: ToolCallState) -> str | None:
        if call.kind == ToolKind.EXECUTE and (command := read_raw_input(call.raw_input).command):
            return command
        told = [self._outputs.command(item.terminal_id) for item in call.content if isinstance(item, ToolTerminal)]
        return next(iter(told), None)

    def _line(self, call: ToolCallState) -> str:
        kind = f" [{one_line(str(call.kind))}]" if isinstance(call.kind, str) else ""
        return f"{self._screen.paint('●', 'cyan')} {_title(call)}{self._screen.paint(kind, 'dim')}"

    def _end(self, call: ToolCallState, seen: Seen) -> None:
        failed = call.status == ToolCallStatus.FAILED
        self._texts(call, failed)
        codes = [
            self._outputs.end(item.terminal_id, failed=failed)
            for item in call.content
            if isinstance(item, ToolTerminal)
        ]
        words, style = ENDS[call.status]
        code = next((f" (exit code {code})" for code in codes if code), "")
        self._screen.line(f"  {words}{code}{_renamed(call, seen)}", style)

    def _texts(self, call: ToolCallState, failed: bool) -> None:
        lines = _lines(call)
        if "\n".join(lines).strip() == (self._command(call) or "").strip():
            return  # A question had it as its text.
        bounds = self._parts.bounds
        if call.kind == ToolKind.EXECUTE:
            self._parts.last_lines(lines, bounds.failed_end if failed else bounds.text, "dim")
        else:
            self._parts.lines(lines, bounds.text, "dim")

    # --- diffs ------------------------------------------------------------------------------------------------------

    def show_diffs(self, call_id: str, content: Sequence[ToolCallContent], *, near: bool = False) -> bool:
        """Print the diffs of a tool call that were not printed before; whether they are printed to their ends.

        Where they must be `near`, those that much was printed after are printed again.
        """
        seen = self._seen_of(call_id)
        whole = [self._diff(seen, item, near) for item in content if isinstance(item, ToolDiff)]
        return all(whole)

    def _diff(self, seen: Seen, item: ToolDiff, near: bool) -> bool:
        key = hash(repr((item.patch, item.changes)))
        known = seen.diffs.get(key)
        if known is not None and not (near and self._screen.lines - known[1] > NEAR_LINES):
            return known[0]
        changed = hash(tuple(changed_lines(item)))
        if not near and changed in seen.changed:
            return True  # The same change, with more or less around it.
        seen.changed.add(changed)
        whole = self._parts.diff(item, self._parts.bounds.diff)
        seen.diffs[key] = whole, self._screen.lines
        return whole


def block_text(block: Any) -> str:
    """A block of content as text that may be printed."""
    if isinstance(block, TextBlock):
        return printable(block.text)
    kind = block.raw.get("type") if isinstance(block, Unknown) else block.__struct_config__.tag
    return f"[{printable(str(kind))}]"


def _only_looks(call: ToolCallState) -> bool:
    return call.kind in LOOKS and not any(isinstance(item, ToolDiff | ToolTerminal) for item in call.content)


def _says_what(call: ToolCallState) -> bool:
    """Whether a call is more than a kind and a first title."""
    return _has_begun(call) or bool(call.content or call.raw_input or call.locations)


def _has_begun(call: ToolCallState) -> bool:
    return isinstance(call.status, str) and call.status != ToolCallStatus.PENDING


def _in_title(command: str, seen: Seen) -> bool:
    return seen.title is not None and one_line(command.strip()) in seen.title


def _renamed(call: ToolCallState, seen: Seen) -> str:
    """The title that a call has got since its line was printed, unless it is the command that stands there."""
    title = _title(call)
    return "" if title in (seen.title, one_line(seen.command)) else f" · {title}"


def _title(call: ToolCallState) -> str:
    return one_line(call.title) if isinstance(call.title, str) else "tool call"


def _found(call: ToolCallState) -> str:
    """What a look gave, in a few words."""
    lines = _lines(call)
    if len(lines) == 1 and len(lines[0]) <= SHORT_RESULT:
        return lines[0].strip()
    return f"{len(lines)} line{'' if len(lines) == 1 else 's'}" if lines else ""


def _lines(call: ToolCallState) -> list[str]:
    texts = [_unfenced(block_text(item.content)) for item in call.content if isinstance(item, ToolContent)]
    text = "\n".join(texts).strip("\n")
    return text.split("\n") if text.strip() else []


def _unfenced(text: str) -> str:
    """A code block of Markdown without its fence: everything here is shown as it is."""
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].startswith("```"):
        return "\n".join(lines[1:-1])
    return text
