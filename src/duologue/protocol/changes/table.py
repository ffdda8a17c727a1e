"""The table of differences between v1 and v2: one row for each thing that changed.

`down` takes v2's form to v1, `up` takes v1's form to v2; None where one version has nothing like it, and then `reason`
says what happens instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from duologue.protocol.changes import (
    commands,
    config,
    handshake,
    messages,
    nes,
    permission,
    plans,
    prompt,
    sessions,
    settings,
    tools,
    work,
)
from duologue.protocol.changes.memory import ConnectionMemory, SessionMemory
from duologue.protocol.changes.steps import Steps
from duologue.protocol.common import table as common
from duologue.protocol.common.updates import PlanRemovedEvent
from duologue.protocol.method import Notification, Request
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1 import updates as v1u
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2 import updates as v2u

RequestChange = Callable[[ConnectionMemory, Any, Hashable], Steps]
NotificationChange = Callable[[ConnectionMemory, Any], Steps]
UpdateChange = Callable[[SessionMemory, Any], Any]


class Kind(StrEnum):
    """How much a row keeps."""

    #: Nothing is lost either way.
    EXACT = "exact"
    #: Nothing is lost, given what the memory of the connection holds.
    STATE = "state"
    #: One version can say less; the row's reason tells what is shown instead.
    LOSSY = "lossy"


@dataclass(frozen=True, slots=True)
class Row:
    """A difference: a method or an update of each version, and the functions between them."""

    v1: Any
    v2: Any
    down: Callable[..., Any] | None
    up: Callable[..., Any] | None
    kind: Kind
    reason: str


#: Methods.
METHODS = (
    Row(v1.INITIALIZE, v2.INITIALIZE, handshake.initialize_down, handshake.initialize_up, Kind.STATE, ""),
    Row(v1.AUTHENTICATE, v2.AUTH_LOGIN, handshake.login_down, handshake.login_up, Kind.EXACT, ""),
    Row(v1.LOGOUT, v2.AUTH_LOGOUT, handshake.logout_down, handshake.logout_up, Kind.STATE, ""),
    Row(v1.SESSION_NEW, v2.SESSION_NEW, sessions.new_down, sessions.new_up, Kind.STATE, ""),
    Row(v1.SESSION_LOAD, v2.SESSION_RESUME, sessions.resume_down, sessions.load_up, Kind.STATE, ""),
    Row(v1.SESSION_RESUME, v2.SESSION_RESUME, sessions.resume_down, sessions.resume_up, Kind.STATE, ""),
    Row(v1.SESSION_FORK, v2.SESSION_FORK, sessions.fork_down, sessions.fork_up, Kind.STATE, ""),
    Row(v1.SESSION_LIST, v2.SESSION_LIST, sessions.list_down, sessions.list_up, Kind.EXACT, ""),
    Row(v1.SESSION_CLOSE, v2.SESSION_CLOSE, sessions.close_down, sessions.close_up, Kind.STATE, ""),
    Row(v1.SESSION_DELETE, v2.SESSION_DELETE, sessions.delete_down, sessions.delete_up, Kind.EXACT, ""),
    Row(
        v1.SESSION_SET_MODE,
        v2.SESSION_SET_CONFIG_OPTION,
        settings.set_option_down,
        settings.set_mode_up,
        Kind.STATE,
        "",
    ),
    Row(
        v1.SESSION_SET_CONFIG_OPTION,
        v2.SESSION_SET_CONFIG_OPTION,
        settings.set_option_down,
        settings.set_option_up,
        Kind.STATE,
        "",
    ),
    Row(v1.SESSION_PROMPT, v2.SESSION_PROMPT, prompt.prompt_down, prompt.prompt_up, Kind.STATE, ""),
    Row(v1.SESSION_CANCEL, v2.SESSION_CANCEL, prompt.cancel_down, prompt.cancel_up, Kind.EXACT, ""),
    Row(
        v1.SESSION_REQUEST_PERMISSION,
        v2.SESSION_REQUEST_PERMISSION,
        permission.permission_down,
        permission.permission_up,
        Kind.LOSSY,
        "",
    ),
    Row(common.ELICITATION_CREATE, common.ELICITATION_CREATE, None, work.elicitation_up, Kind.EXACT, ""),
    Row(v1.NES_SUGGEST, v2.NES_SUGGEST, nes.suggest_down, nes.suggest_up, Kind.LOSSY, ""),
    Row(v1.NES_ACCEPT, v2.NES_ACCEPT, nes.accept_down, nes.accept_up, Kind.EXACT, ""),
    Row(v1.NES_REJECT, v2.NES_REJECT, nes.reject_down, nes.reject_up, Kind.LOSSY, ""),
    *(
        Row(method, None, None, work.work_up(method), Kind.EXACT, "")
        for method in (
            *(v1.FS_READ_TEXT_FILE, v1.FS_WRITE_TEXT_FILE, v1.TERMINAL_OUTPUT),
            *(v1.TERMINAL_WAIT_FOR_EXIT, v1.TERMINAL_KILL, v1.TERMINAL_RELEASE),
        )
    ),
    Row(v1.TERMINAL_CREATE, None, None, work.terminal_create_up, Kind.STATE, ""),
)

#: Updates of a session.
UPDATES = (
    Row(v1u.AgentMessageChunk, v2u.AgentMessageChunk, messages.chunk_down, messages.agent_chunk_up, Kind.STATE, ""),
    Row(v1u.AgentThoughtChunk, v2u.AgentThoughtChunk, messages.chunk_down, messages.thought_chunk_up, Kind.STATE, ""),
    Row(v1u.UserMessageChunk, v2u.UserMessageChunk, messages.user_chunk_down, messages.user_chunk_up, Kind.STATE, ""),
    Row(None, v2u.AgentMessageEvent, messages.whole_down, None, Kind.LOSSY, ""),
    Row(None, v2u.AgentThoughtEvent, messages.whole_down, None, Kind.LOSSY, ""),
    Row(None, v2u.UserMessageEvent, messages.whole_down, None, Kind.LOSSY, ""),
    Row(None, v2u.StateUpdateEvent, prompt.state_down, None, Kind.LOSSY, ""),
    Row(v1u.ToolCallEvent, v2u.ToolCallUpdateEvent, tools.tool_update_down, tools.tool_call_up, Kind.LOSSY, ""),
    Row(v1u.ToolCallUpdateEvent, v2u.ToolCallUpdateEvent, tools.tool_update_down, tools.tool_call_up, Kind.LOSSY, ""),
    Row(None, v2u.ToolCallContentChunkEvent, tools.content_chunk_down, None, Kind.STATE, ""),
    Row(None, v2u.TerminalUpdateEvent, tools.terminal_update_down, None, Kind.LOSSY, ""),
    Row(None, v2u.TerminalOutputChunkEvent, tools.terminal_chunk_down, None, Kind.LOSSY, ""),
    Row(v1u.PlanEvent, v2u.PlanUpdateEvent, plans.plan_down, plans.plan_up, Kind.LOSSY, ""),
    Row(v1u.PlanUpdateEvent, v2u.PlanUpdateEvent, plans.plan_down, plans.plan_update_up, Kind.LOSSY, ""),
    Row(PlanRemovedEvent, PlanRemovedEvent, plans.plan_removed_down, plans.plan_removed_up, Kind.STATE, ""),
    Row(
        v1u.AvailableCommandsUpdateEvent,
        v2u.AvailableCommandsUpdateEvent,
        commands.commands_down,
        commands.commands_up,
        Kind.EXACT,
        "",
    ),
    Row(
        v1u.CurrentModeUpdateEvent,
        v2u.ConfigOptionUpdateEvent,
        config.options_update_down,
        config.mode_update_up,
        Kind.STATE,
        "",
    ),
    Row(
        v1u.ConfigOptionUpdateEvent,
        v2u.ConfigOptionUpdateEvent,
        config.options_update_down,
        config.options_update_up,
        Kind.STATE,
        "",
    ),
)

REQUESTS_DOWN: dict[Any, RequestChange] = {
    row.v2: row.down for row in METHODS if isinstance(row.v2, Request) and row.down
}
REQUESTS_UP: dict[Any, RequestChange] = {row.v1: row.up for row in METHODS if isinstance(row.v1, Request) and row.up}
NOTIFICATIONS_DOWN: dict[Any, NotificationChange] = {
    row.v2: row.down for row in METHODS if isinstance(row.v2, Notification) and row.down
}
NOTIFICATIONS_UP: dict[Any, NotificationChange] = {
    row.v1: row.up for row in METHODS if isinstance(row.v1, Notification) and row.up
}
UPDATES_DOWN: dict[type, UpdateChange] = {row.v2: row.down for row in UPDATES if row.down}
UPDATES_UP: dict[type, UpdateChange] = {row.v1: row.up for row in UPDATES if row.up}

#: Updates by which a v1 agent shows that it works on a prompt.
SIGNS_OF_WORK: frozenset[type] = frozenset(
    {
        *(v1u.AgentMessageChunk, v1u.AgentThoughtChunk, v1u.UserMessageChunk),
        *(v1u.ToolCallEvent, v1u.ToolCallUpdateEvent, v1u.PlanEvent, v1u.PlanUpdateEvent),
    }
)
