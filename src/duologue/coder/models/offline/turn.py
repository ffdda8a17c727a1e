"""What a script of rules can do in one turn: speak, think, and call tools through the loop.

A script is a coroutine that is driven by hand, one `stream` at a time: it needs no event loop, holds no task, and can
be suspended between steps or thrown away at any point. It reads neither clock nor disk, so it replays from a history.
"""

from __future__ import annotations

import re
import types
from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from duologue.coder.models.base import ToolResult
from duologue.coder.models.offline.settings import Settings
from duologue.coder.texts import shorten

# Calls of one step; a turn has a limit of steps.
READ_TOGETHER = 25
# Lists of files, of a thousand each.
MOST_LISTS = 30
EDITING = frozenset(("write_file", "edit_file", "delete_file", "move_file"))
#: What a project may ask of its tools even where no terminal is.
_COLOURS = re.compile(r"\x1b\[[\d;:]*[mK]")
_WITHOUT_EFFECT = frozenset(("list_files", "read_file", "search", "update_plan", "set_title"))


@dataclass(frozen=True, slots=True)
class Say:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """A piece of visible thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Calls to run together; the script goes on with their results, in the same order."""

    calls: tuple[tuple[str, dict[str, Any]], ...]


Item = Say | Think | Ask
Script = Coroutine[Item, Sequence[ToolResult] | None, None]


class TurnStopped(Exception):
    """The turn cannot go on; the text is what the person is told."""


@types.coroutine
def _hand_over(item: Item) -> Generator[Item, Sequence[ToolResult] | None, Sequence[ToolResult] | None]:
    return (yield item)


class Turn:
    """One turn: the request's words, what the loop offers, and the verbs a script uses."""

    def __init__(
        self,
        text: str,
        settings: Settings,
        *,
        tools: frozenset[str],
        cwd: str,
        titled: bool,
        earlier: tuple[str, ...] = (),
        starting: tuple[str, ...] = (),
    ) -> None:
        self.text = text
        self.settings = settings
        self.tools = tools
        self.cwd = cwd
        self.earlier = earlier
        self.starting = starting
        self._titled = titled
        self._refused = self._edited = False
        self.has_run_commands = False
        #: What holds until a call may change something.
        self.known: dict[str, Any] = {}
        self._files: tuple[str, ...] | None = None

    async def say(self, text: str) -> None:
        await _hand_over(Say(text))

    async def think(self, text: str) -> None:
        await _hand_over(Think(text))

    async def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[ToolResult]:
        """Run tools one after the other in one step, and give their results, whatever they are."""
        for tool, _ in calls:
            if tool not in self.tools:
                raise TurnStopped(f"I would need the tool `{tool}`, and this session does not offer it.")
        if any(tool not in _WITHOUT_EFFECT for tool, _ in calls):
            self.known.clear()
        results = await _hand_over(Ask(calls))
        if results is None or len(results) != len(calls):
            raise TurnStopped("A call came back without a result, so I stop here.")
        self._refused = any(is_refused(result) for result in results)
        self._edited |= any(result.ok and result.tool in EDITING for result in results)
        return list(results)

    @property
    def can_undo(self) -> bool:
        """Whether a later turn of this session can take edits back."""
        return "undo_edits" in self.tools

    def left_behind(self) -> str:
        """After a refusal: what the turn has changed so far."""
        if not self._refused:
            return ""
        if self._edited:
            return f" What I changed before that stays{'; “undo” takes it back' if self.can_undo else ''}."
        return " No file was edited." if self.has_run_commands else " Nothing was changed."

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Run one tool and give its result, whatever it is."""
        return (await self.calls((tool, arguments)))[0]

    async def need(self, tool: str, **arguments: Any) -> Any:
        """Run one tool whose failure ends the turn; gives the structured result."""
        result = await self.call(tool, **arguments)
        if not result.ok:
            raise TurnStopped(why_not(tool, result))
        return self.data_of(result)

    async def must(self, call: tuple[str, dict[str, Any]]) -> None:
        """Run one call whose failure ends the turn."""
        await self.need(call[0], **call[1])

    async def run(
        self, command: str, seconds: float | None = None, *, title: str | None = None, description: str | None = None
    ) -> Any:
        """Run a command to any end; gives its structured result. `title` tells people what it is for in a few words,
        `description` what it does and why, before they allow it."""
        given = {"timeout": seconds, "title": title, "description": description}
        named = {name: value for name, value in given.items() if value is not None}
        result = await self.call("run_command", command=command, **named)
        if not result.ok and not isinstance(result.data, dict):
            raise TurnStopped(why_not("run_command", result))
        self.forget_files()
        data = self.data_of(result)
        return {**data, "output": _COLOURS.sub("", str(data["output"]))}

    def data_of(self, result: ToolResult) -> Any:
        if result.data is None:
            raise TurnStopped(
                f"`{result.tool}` gave no structured result, and rules cannot read prose. Please ask again."
            )
        return result.data

    async def title(self, text: str) -> None:
        """Name the session, once."""
        if self._titled or "set_title" not in self.tools:
            return
        self._titled = True
        await self.call("set_title", title=shorten(text, 60))

    async def files(self) -> tuple[str, ...]:
        """The project's files, listed once a turn until something changes."""
        if self._files is None:
            self._files = tuple(await self._listed())
        return self._files

    async def _listed(self) -> list[str]:
        files: list[str] = []
        for _ in range(MOST_LISTS):
            after = {"after": files[-1]} if files else {}
            data = await self.need("list_files", limit=1000, **after)
            files += data["files"]
            if not data.get("truncated"):
                return files
            if not data["files"]:
                raise TurnStopped("Listing the files of this project takes too long, so I stop here.")
        raise TurnStopped(f"This project has more than {len(files)} files, which is more than I can look through.")

    def forget_files(self) -> None:
        self._files = None

    async def read(self, path: str) -> str:
        """The whole text of a file, however many calls that takes."""
        text = ""
        while True:
            first = text.count("\n") + 1
            data = await self.need("read_file", path=path, line=first)
            part = str(data["text"])
            if not data["truncated"]:
                return text + part
            whole = part[: part.rfind("\n") + 1]
            if not whole:
                raise TurnStopped(f"{path} has a line that is too long for me (line {first}).")
            text += whole

    async def read_all(self, paths: Sequence[str]) -> dict[str, str]:
        """The texts of several files, many in one step."""
        texts: dict[str, str] = {}
        for start in range(0, len(paths), READ_TOGETHER):
            batch = paths[start : start + READ_TOGETHER]
            for path, result in zip(
                batch, await self.calls(*(("read_file", {"path": path}) for path in batch)), strict=True
            ):
                if not result.ok:
                    raise TurnStopped(why_not("read_file", result))
                data = self.data_of(result)
                texts[path] = await self.read(path) if data["truncated"] else str(data["text"])
        return texts


_WHEN_ASKED, _BY_RULE = "Permission for this call", "A rule of the user"
_WITH_OTHERS = "This call was not run: a call before it"


def is_refused(result: ToolResult) -> bool:
    """True if a person or a rule said no to the call, or to one that was made together with it."""
    return not result.ok and result.text.startswith((_WHEN_ASKED, _BY_RULE, _WITH_OTHERS))


def why_not(tool: str, result: ToolResult) -> str:
    """A sentence for a call that was refused or failed."""
    if result.text.startswith(_BY_RULE):
        return "Not allowed by one of your rules, or by the mode of this session, so I stopped."
    if is_refused(result):
        return "Not allowed, so I stopped."
    return f"`{tool}` did not work, so I stop here: {shorten(result.text, 400) or 'no reason was given'}"
