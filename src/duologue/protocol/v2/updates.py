"""Session updates of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from duologue.protocol.base import OPEN, Extensible, Items, Lenient, Unknown
from duologue.protocol.common.ids import SessionId
from duologue.protocol.common.updates import PlanRemovedEvent, SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v2.commands import AvailableCommandsUpdate
from duologue.protocol.v2.config import SessionConfigOption
from duologue.protocol.v2.content import AgentMessage, AgentThought, ContentChunk, UserMessage
from duologue.protocol.v2.plan import PlanUpdate
from duologue.protocol.v2.state import StateUpdate
from duologue.protocol.v2.terminal import TerminalOutputChunk, TerminalUpdate
from duologue.protocol.v2.tools import ToolCallContentChunk, ToolCallUpdate


class ConfigOptionUpdate(Extensible, kw_only=True):
    """All config options with their present values."""

    config_options: Lenient[Items[SessionConfigOption]]


class UserMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="user_message_chunk", kw_only=True):
    """A piece of what the user said."""


class UserMessageEvent(UserMessage, tag_field="sessionUpdate", tag="user_message", kw_only=True):
    """What the user said, as it is now."""


class AgentMessageChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_message_chunk", kw_only=True):
    """A piece of what the agent says."""


class AgentMessageEvent(AgentMessage, tag_field="sessionUpdate", tag="agent_message", kw_only=True):
    """What the agent says, as it is now."""


class AgentThoughtChunk(ContentChunk, tag_field="sessionUpdate", tag="agent_thought_chunk", kw_only=True):
    """A piece of what the agent thinks."""


class AgentThoughtEvent(AgentThought, tag_field="sessionUpdate", tag="agent_thought", kw_only=True):
    """What the agent thinks, as it is now."""


class StateUpdateEvent(StateUpdate, tag_field="sessionUpdate", tag="state_update", kw_only=True):
    """The session begins to work, to wait or to rest."""


class ToolCallContentChunkEvent(
    ToolCallContentChunk, tag_field="sessionUpdate", tag="tool_call_content_chunk", kw_only=True
):
    """A tool call has more content."""


class ToolCallUpdateEvent(ToolCallUpdate, tag_field="sessionUpdate", tag="tool_call_update", kw_only=True):
    """A tool call appears or has changed."""


class TerminalUpdateEvent(TerminalUpdate, tag_field="sessionUpdate", tag="terminal_update", kw_only=True):
    """A terminal appears or has changed."""


class TerminalOutputChunkEvent(
    TerminalOutputChunk, tag_field="sessionUpdate", tag="terminal_output_chunk", kw_only=True
):
    """A terminal has more output."""


class PlanUpdateEvent(PlanUpdate, tag_field="sessionUpdate", tag="plan_update", kw_only=True):
    """A plan appears or has changed."""


class AvailableCommandsUpdateEvent(
    AvailableCommandsUpdate, tag_field="sessionUpdate", tag="available_commands_update", kw_only=True
):
    """The commands have changed."""


class ConfigOptionUpdateEvent(ConfigOptionUpdate, tag_field="sessionUpdate", tag="config_option_update", kw_only=True):
    """Config options have changed."""


_KNOWN = (
    UserMessageChunk
    | UserMessageEvent
    | AgentMessageChunk
    | AgentMessageEvent
    | AgentThoughtChunk
    | AgentThoughtEvent
    | StateUpdateEvent
    | ToolCallContentChunkEvent
    | ToolCallUpdateEvent
    | TerminalUpdateEvent
    | TerminalOutputChunkEvent
    | PlanUpdateEvent
    | PlanRemovedEvent
    | AvailableCommandsUpdateEvent
    | ConfigOptionUpdateEvent
    | SessionInfoUpdateEvent
    | UsageUpdateEvent
)
#: Something that happens in a session.
if TYPE_CHECKING:
    SessionUpdate = _KNOWN | Unknown
else:
    SessionUpdate = Annotated[_KNOWN, OPEN]


class UpdateSessionNotification(Extensible, kw_only=True):
    """Tells the client what happens in a session."""

    session_id: SessionId
    update: SessionUpdate
