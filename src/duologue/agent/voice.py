"""What an agent can tell the client about a session: messages, thoughts, tool calls, plans, usage, titles.

`Turn` speaks during a prompt; `Session` speaks at any time. Both are a `Voice`. Every method sends when it is called;
awaiting it takes part in back-pressure.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from duologue.agent.asker import Asker
from duologue.agent.errors import TurnOver
from duologue.agent.sending import sent_update
from duologue.local.arguments import as_path, several
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.plan import FilePlan, MarkdownPlan, PlanEntryPriority
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.common.updates import Cost, PlanRemovedEvent, SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v2.commands import AvailableCommand, TextInput
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.plan import ItemsPlan, PlanEntry, PlanEntryStatus
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    AvailableCommandsUpdateEvent,
    ConfigOptionUpdateEvent,
    PlanUpdateEvent,
    SessionUpdate,
)
from duologue.session.blocks import sent_block

if TYPE_CHECKING:
    from duologue.agent.session import Session
    from duologue.agent.toolcall import ToolCall

#: The id of the plan of an agent that keeps one plan at a time.
THE_PLAN = "plan"


class Voice(Asker):
    """Speaks about one session. Pieces of text that follow each other form one message; anything between begins
    the next one."""

    def __init__(self, session: Session, send: Callable[[SessionUpdate], Awaitable[None]]) -> None:
        self.session = session
        # Sends an update as it is, without ending the message that is being said; `update` ends it.
        self._send = send
        self._next_id = session.next_id
        self._saying: str | None = None
        self._thinking: str | None = None
        self._over = False

    @property
    def over(self) -> bool:
        """Whether the turn has ended, so that it cannot speak any more; a session never is over."""
        return self._over

    def update(self, update: SessionUpdate) -> Awaitable[None]:
        """Send any session update of version 2.

        Raises `TurnOver`, `ConnectionClosed`, `LimitError`, `CodecError` (it does not fit its type), `TypeError` (it is
        no update).
        """
        return self.send(sent_update(update))

    def send(self, update: SessionUpdate) -> Awaitable[None]:
        """Send an update that is known to fit its type."""
        if self._over:
            raise TurnOver
        self._saying = self._thinking = None
        return self._send(update)

    def say(self, text: str | ContentBlock) -> Awaitable[None]:
        """Say a piece of the answer: text, or any content block. Raises `ValueError` for a block that does not keep to
        the formats of the schema."""
        if self._over:
            raise TurnOver
        if not isinstance(text, str):
            text = sent_block(text)
        message = self._saying
        if message is None:
            message = self._saying = self._next_id("message")
            self._thinking = None
        content: ContentBlock = TextBlock(text=text) if isinstance(text, str) else text
        return self._send(AgentMessageChunk(message_id=message, content=content))

    def think(self, text: str) -> Awaitable[None]:
        """Say a piece of what the agent thinks. Raises `TypeError` for what is no text."""
        if self._over:
            raise TurnOver
        if not isinstance(text, str):
            raise TypeError(f"think takes a text, not {type(text).__name__}")
        message = self._thinking
        if message is None:
            message = self._thinking = self._next_id("thought")
            self._saying = None
        return self._send(AgentThoughtChunk(message_id=message, content=TextBlock(text=text)))

    def end_message(self) -> None:
        """Let the next piece of text begin a new message."""
        self._saying = self._thinking = None

    def tool_call(
        self,
        title: str,
        *,
        kind: ToolKind | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        locations: Sequence[ToolCallLocation | Path] = (),
        raw_input: Any = UNSET,
    ) -> ToolCall:
        """A tool call, as an async context manager: pending when entered, completed, failed or cancelled when left."""
        from duologue.agent.toolcall import ToolCall

        # A plain string will do, in either version.
        known = kind if isinstance(kind, UnsetType) else ToolKind.named(kind)
        return ToolCall(
            self, self._next_id("call"), title, kind=known, name=name, locations=locations, raw_input=raw_input
        )

    def plan(self, entries: Sequence[PlanEntry | str], *, plan_id: str = THE_PLAN) -> Awaitable[None]:
        """Show a plan; it replaces the one with the same id. A string is a pending entry of medium priority. Raises
        `TypeError` for anything else."""
        whole = [_as_entry(entry) for entry in several(entries, "the entries of a plan")]
        return self.update(PlanUpdateEvent(plan=ItemsPlan(plan_id=plan_id, entries=whole)))

    def plan_markdown(self, text: str, *, plan_id: str = THE_PLAN) -> Awaitable[None]:
        """Show a plan written as Markdown; it replaces the one with the same id."""
        return self.update(PlanUpdateEvent(plan=MarkdownPlan(plan_id=plan_id, content=text)))

    def plan_file(self, path: Path, *, plan_id: str = THE_PLAN) -> Awaitable[None]:
        """Show a plan that is kept in a file; a relative path starts at the session's working directory."""
        uri = (self.session.cwd / as_path(path, "the path of a plan")).as_uri()
        return self.update(PlanUpdateEvent(plan=FilePlan(plan_id=plan_id, uri=uri)))

    def remove_plan(self, plan_id: str = THE_PLAN) -> Awaitable[None]:
        """Show a plan no longer."""
        return self.update(PlanRemovedEvent(plan_id=plan_id))

    def set_title(self, title: str | None) -> Awaitable[None]:
        """Name the session, or (None) take its name away; `session.title` is the name from then on."""
        sent = self.update(SessionInfoUpdateEvent(title=title))
        self.session.title = title
        return sent

    def set_updated_at(self, moment: datetime) -> Awaitable[None]:
        """Say when the session was last used, as a listing shows it. Raises `ValueError` for a time without a zone."""
        sent = self.update(SessionInfoUpdateEvent(updated_at=timestamp(moment)))
        self.session.updated_at = moment
        return sent

    def usage(self, used: int, size: int, *, cost: float | None = None, currency: str = "USD") -> Awaitable[None]:
        """Tell how full the context window is, in tokens, and what the session has cost so far. What one turn has used
        is told with its end instead: see `Turn.tokens`. Raises `ValueError` for a currency that is no ISO 4217 code."""
        if not isinstance(currency, str) or re.fullmatch("[A-Z]{3}", currency) is None:
            raise ValueError(f"a currency is three capital letters: {currency!r}")
        money = UNSET if cost is None else Cost(amount=cost, currency=currency)
        return self.update(UsageUpdateEvent(used=used, size=size, cost=money))

    def commands(self, commands: Sequence[AvailableCommand]) -> Awaitable[None]:
        """Offer slash commands (see `command`); they replace the ones offered before. `Turn.command` is the one that a
        prompt begins with."""
        return self.update(AvailableCommandsUpdateEvent(available_commands=several(commands, "commands")))

    def update_config_options(self) -> Awaitable[None]:
        """Tell the client what `Agent.config_options` says now, after the agent has changed something by itself."""
        options = self.session.connection.agent.config_options(self.session)
        return self.update(ConfigOptionUpdateEvent(config_options=several(options, "what config_options returns")))


def plan_entry(content: str, status: str = "pending", priority: str = "medium") -> PlanEntry:
    """An entry of a plan from plain strings. Raises `ValueError` for a status or priority that is neither the
    protocol's nor, beginning with an underscore, one's own."""
    return PlanEntry(content=content, priority=PlanEntryPriority.named(priority), status=PlanEntryStatus.named(status))


def command(name: str, description: str, hint: str | None = None) -> AvailableCommand:
    """A slash command for `Voice.commands`; with a `hint`, text may stand behind it. Raises `ValueError` for a name
    that nobody could type: one that is empty, begins with a slash or holds white space."""
    if not isinstance(name, str) or not name or name.startswith("/") or name.split() != [name]:
        raise ValueError(f"a command is named by one word, without the slash: {name!r}")
    return AvailableCommand(name=name, description=description, input=UNSET if hint is None else TextInput(hint=hint))


def timestamp(moment: datetime) -> str:
    """A point of time as the wire has it (RFC 3339, in UTC). Raises `ValueError` for one without a zone."""
    if not isinstance(moment, datetime):
        raise TypeError(f"a point of time is a datetime, not {type(moment).__name__}")
    if moment.tzinfo is None:
        raise ValueError("a point of time needs a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_entry(entry: object) -> PlanEntry:
    match entry:
        case PlanEntry():
            return entry
        case str():
            return plan_entry(entry)
    raise TypeError(f"an entry of a plan is a string or a PlanEntry (see plan_entry), not {type(entry).__name__}")
