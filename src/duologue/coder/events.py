"""What the coder's loop tells the outside, in order. One table (`coder.acp_events`) maps these to protocol updates.

All paths are absolute `pathlib.Path` values, all times seconds, all output bytes as the process wrote them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]
ToolOutcome = Literal["completed", "failed", "cancelled"]
PlanStatus = Literal["pending", "in_progress", "completed"]
PlanPriority = Literal["high", "medium", "low"]
TurnReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class Text(msgspec.Struct, frozen=True):
    """A piece of the answer; pieces of one message share `message`."""

    message: str
    text: str


class Thought(msgspec.Struct, frozen=True):
    """A piece of the model's visible thinking."""

    message: str
    text: str


class Location(msgspec.Struct, frozen=True):
    """A place in a file; `line` is 1-based."""

    path: Path
    line: int | None = None


class FileDiff(msgspec.Struct, frozen=True):
    """A change of one file. `old` is None for a new file, `new` is None for a deleted one."""

    path: Path
    old: str | None
    new: str | None


class ToolStarted(msgspec.Struct, frozen=True):
    """A tool call is known; nothing has been done yet. `call` is unique in the session."""

    call: str
    tool: str
    title: str
    kind: ToolKind
    arguments: dict[str, Any]
    locations: tuple[Location, ...] = ()
    diffs: tuple[FileDiff, ...] = ()


class ToolRunning(msgspec.Struct, frozen=True):
    """The call was permitted, and its work begins. `command` and `cwd` are set for a process, `rule` where nobody was
    asked since a rule allows it."""

    call: str
    command: str | None = None
    cwd: Path | None = None
    rule: str | None = None


class ToolOutput(msgspec.Struct, frozen=True):
    """Bytes of a running process, standard output and error together, in the order they came."""

    call: str
    data: bytes


class ToolFinished(msgspec.Struct, frozen=True):
    """The call ended. `text` is what a reader should see, `raw` what the tool returned to the model.

    `blocks` are content blocks as MCP writes them, which are shown as they are, in place of the text.
    """

    call: str
    outcome: ToolOutcome
    text: str = ""
    raw: Any = None
    diffs: tuple[FileDiff, ...] = ()
    locations: tuple[Location, ...] = ()
    exit_code: int | None = None
    signal: str | None = None
    blocks: tuple[dict[str, Any], ...] = ()


class PlanItem(msgspec.Struct, frozen=True):
    content: str
    status: PlanStatus = "pending"
    priority: PlanPriority = "medium"


class PlanChanged(msgspec.Struct, frozen=True):
    """The whole plan as it is now."""

    items: tuple[PlanItem, ...]


class TitleChanged(msgspec.Struct, frozen=True):
    """The session has a (new) title."""

    title: str


class UsageChanged(msgspec.Struct, frozen=True):
    """Tokens now in the model's context and its size; sent only when the size is known."""

    used: int
    size: int
    cost: float | None = None
    currency: str = "USD"


class TurnUsage(msgspec.Struct, frozen=True):
    """Tokens that one whole turn took."""

    input_tokens: int = 0
    output_tokens: int = 0
    thought_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0


class TurnEnded(msgspec.Struct, frozen=True):
    """The last event of a turn."""

    reason: TurnReason
    usage: TurnUsage | None = None


Event = (
    Text
    | Thought
    | ToolStarted
    | ToolRunning
    | ToolOutput
    | ToolFinished
    | PlanChanged
    | TitleChanged
    | UsageChanged
    | TurnEnded
)


class PermissionQuestion(msgspec.Struct, frozen=True):
    """What a person is asked before a write or a command. The diffs are what will be written, byte for byte.

    `scope` says in words what "always" would cover (for example: "`pytest` in this project"), `description` what it
    does and why, where that is told.
    """

    call: str
    title: str
    kind: ToolKind
    scope: str
    diffs: tuple[FileDiff, ...] = ()
    command: str | None = None
    cwd: Path | None = None
    locations: tuple[Location, ...] = msgspec.field(default=())
    description: str = ""


PermissionAnswer = Literal["allow_once", "allow_always", "reject_once", "reject_always", "cancelled"]
