"""`search`: ripgrep where it is installed, our own program elsewhere. Both run without a shell and can be stopped."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

import duologue
from duologue.coder.environment import command_environment
from duologue.coder.errors import ToolError
from duologue.coder.events import Location
from duologue.coder.ignore import SKIPPED_FOLDERS
from duologue.coder.limits import CoderLimits
from duologue.coder.texts import quoted, scrub, shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.listing import check_glob
from duologue.local import globs
from duologue.local.workspace import Place, Workspace
from duologue.processes.process import Process


class Search(Arguments, frozen=True):
    pattern: Annotated[str, Meta(min_length=1, max_length=4000, description="Text to find in single lines.")]
    regex: Annotated[bool, Meta(description="Take the pattern as a regular expression.")] = False
    path: Annotated[str, Meta(description="Folder or file to search; the working folder when left out.")] = "."
    glob: Annotated[str, Meta(max_length=1000, description="Search only files that match, such as `*.py`.")] | None = (
        None
    )
    ignore_case: bool = False
    limit: Annotated[int, Meta(ge=1, description="How many matches to give at most.")] | None = None


@tool("search", "Find lines in files; ignored and binary files are left out.", "search", Search)
async def search(arguments: Search, context: Context) -> Plan:
    place = context.workspace.resolve(arguments.path)
    if not place.real.exists():
        raise ToolError(f"{place.name}: there is no such file or folder")
    check_glob(arguments.glob)
    limit = min(arguments.limit or context.limits.matches, context.limits.matches)

    async def perform(call: str) -> Outcome:
        query = Query(place, arguments, _prefix(place, context.workspace), limit, context.limits)
        await query.run()
        return query.outcome()

    title = shorten(f"Search {quoted(arguments.pattern)} in {place.name}", CALL_TITLE_CHARACTERS)
    return Plan(title, None, perform, locations=(Location(place.shown),))


def _prefix(place: Place, workspace: Workspace) -> str:
    folder = place.real if place.real.is_dir() else place.real.parent
    return workspace.prefix(workspace.resolve(folder))


@dataclass(slots=True)
class Query:
    """One search, and what it has found so far."""

    place: Place
    arguments: Search
    prefix: str
    limit: int
    limits: CoderLimits
    matches: list[dict[str, Any]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    truncated: bool = False

    async def run(self) -> None:
        """Search until the end, the limit or the time. Raises ToolError when the search cannot be made."""
        environment = {**command_environment(), "PYTHONPATH": str(Path(duologue.__file__).parent.parent)}
        argv = self._argv(environment["PATH"])
        process = Process.start(argv, self._folder(), environment, grace=self.limits.stop_grace)
        try:
            async with asyncio.timeout(self.limits.search_seconds):
                await self._read(process)
        except TimeoutError:
            self.complaints.append(f"the search was stopped after {self.limits.search_seconds:g} seconds")
            self.truncated = True
        finally:
            await process.stop()
        if self.complaints and not self.matches:
            raise ToolError(scrub("; ".join(self.complaints)[:2000]))

    async def _read(self, process: Process) -> None:
        rest = b""
        async for data in process.output():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(line)
            if self.truncated:
                return

    def _take(self, line: bytes) -> None:
        match = parse_line(line)
        if match is None:
            return
        if isinstance(match, str):
            self.complaints.append(match)
        elif self._wanted(match[0]):
            self._add(*match)

    def _wanted(self, path: str) -> bool:
        glob = self.arguments.glob
        return glob is None or self.place.real != self._folder() or globs.matches_anywhere(glob, path)

    def _add(self, path: str, number: int, text: str) -> None:
        if len(self.matches) >= self.limit:
            self.truncated = True
            return
        shown = text[: self.limits.match_characters]
        self.matches.append({"path": scrub(self.prefix + path), "line": number, "text": scrub(shown)})

    def _folder(self) -> Path:
        return self.place.real if self.place.real.is_dir() else self.place.real.parent

    def _argv(self, path: str) -> list[str]:
        ripgrep = shutil.which("rg", path=path)
        return [ripgrep, *self._ripgrep()] if ripgrep else [sys.executable, *self._own()]

    def _ripgrep(self) -> Iterator[str]:
        arguments = self.arguments
        yield from ("--json", "--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-dot")
        yield from ("--sort=path", "--no-messages", f"--max-filesize={self.limits.file}")
        # The glob of the call is applied to what is found: here it would bring ignored files back.
        yield from (f"--glob=!**/{name}/" for name in sorted(SKIPPED_FOLDERS))
        if arguments.ignore_case:
            yield "--ignore-case"
        if not arguments.regex:
            yield "--fixed-strings"
        yield from ("-e", arguments.pattern, "--", "./" if self.place.real.is_dir() else f"./{self.place.real.name}")

    def _own(self) -> Iterator[str]:
        # -P: a file of the project must not pass for a module of the library. -s: nor one in the user's home.
        yield from ("-P", "-s", "-m", "duologue.coder.searcher")
        yield json.dumps(
            {
                "root": str(self.place.root),
                "parts": self.place.parts,
                "file": not self.place.real.is_dir(),
                "pattern": self.arguments.pattern,
                "regex": self.arguments.regex,
                "ignore_case": self.arguments.ignore_case,
                "glob": self.arguments.glob,
                "limit": self.limits.file,
                "characters": self.limits.match_characters,
            }
        )

    def outcome(self) -> Outcome:
        lines = [f"{match['path']}:{match['line']}: {match['text']}" for match in self.matches]
        if self.truncated:
            lines.append(f"[only the first {len(self.matches)}; narrow the pattern or the path]")
        lines += [f"[{complaint}]" for complaint in self.complaints]
        return Outcome("\n".join(lines) or "[no matches]", {"matches": self.matches, "truncated": self.truncated})


def parse_line(line: bytes) -> tuple[str, int, str] | str | None:
    """A match (path, line number, text), a complaint, or nothing, from a line of either program."""
    try:
        value = json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace").strip() or None
    match value:
        case {"type": "match", "data": {"path": dict(path), "lines": dict(lines), "line_number": int(number)}}:
            return _text(path).removeprefix("./"), number, _text(lines).split("\n")[0].removesuffix("\r")
        case {"path": str(path), "line": int(number), "text": str(text)}:
            return path, number, text
        case {"error": str(reason)}:
            return reason
        case _:
            return None


def _text(value: dict[str, Any]) -> str:
    """ripgrep gives text as it is, and bytes that are no text as base64."""
    if "text" in value:
        return str(value["text"])
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")
