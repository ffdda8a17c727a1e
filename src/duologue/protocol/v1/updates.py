"""Session updates of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from duologue.protocol.base import OPEN, Extensible, Items, Lenient, Unknown
from duologue.protocol.common.ids import SessionId
from duologue.protocol.common.updates import PlanRemovedEvent, SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v1.commands import AvailableCommandsUpdate
from duologue.protocol.v1.config import SessionConfigOption
from duologue.protocol.v1.content import ContentChunk
from duologue.protocol.v1.ids import SessionModeId
from duologue.protocol.v1.plan import Plan, PlanUpdate
from duologue.protocol.v1.tools import ToolCall, ToolCallUpdate


class CurrentModeUpdate(Extensible, kw_only=True):
    """The mode that the session is in now."""

    current_mode_id: SessionModeId


class ConfigOptionUpdate(Extensible, kw_only=True):
    """All config options with their present values."""

    config_options: Lenient[Items[SessionConfigOption]]


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk", kw_only=True):
    """A piece of what the user said."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk", kw_only=True):
    """A piece of what the agent says."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk", kw_only=True):
    """A piece of what the agent thinks."""


class ToolCallEvent(ToolCall, tag_field="sessionUpdate", tag="tool_call", kw_only=True):
    """A tool call appears."""


class ToolCallUpdateEvent(ToolCallUpdate, tag_field="sessionUpdate", tag="tool_call_update", kw_only=True):
    """A tool call has changed."""


class PlanEvent(Plan, tag_field="sessionUpdate", tag="plan", kw_only=True):
    """The plan as it is now."""


class PlanUpdateEvent(PlanUpdate, tag_field="sessionUpdate", tag="plan_update", kw_only=True):
    """One of several plans has changed."""


class AvailableCommandsUpdateEvent(
    AvailableCommandsUpdate, tag_field="sessionUpdate", tag="available_commands_update", kw_only=True
):
    """The commands have changed."""


class CurrentModeUpdateEvent(CurrentModeUpdate, tag_field="sessionUpdate", tag="current_mode_update", kw_only=True):
    """The mode has changed."""


class ConfigOptionUpdateEvent(ConfigOptionUpdate, tag_field="sessionUpdate", tag="config_option_update", kw_only=True):
    """Config options have changed."""


_KNOWN = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallEvent
    | ToolCallUpdateEvent
    | PlanEvent
    | PlanUpdateEvent
    | PlanRemovedEvent
    | AvailableCommandsUpdateEvent
    | CurrentModeUpdateEvent
    | ConfigOptionUpdateEvent
    | SessionInfoUpdateEvent
    | UsageUpdateEvent
)
#: Something that happens in a session.
if TYPE_CHECKING:
    SessionUpdate = _KNOWN | Unknown
else:
    SessionUpdate = Annotated[_KNOWN, OPEN]


class SessionNotification(Extensible, kw_only=True):
    """Tells the client what happens in a session."""

    session_id: SessionId
    update: SessionUpdate
