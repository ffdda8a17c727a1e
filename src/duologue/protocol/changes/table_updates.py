"""The rows of updates, and of values that are part of several messages."""

from __future__ import annotations

from duologue.protocol.changes import (
    auth,
    capabilities,
    commands,
    config,
    content,
    diffs,
    mcp,
    messages,
    plans,
    prompt,
    tools,
)
from duologue.protocol.changes.rows import Kind, Row
from duologue.protocol.common.updates import PlanRemovedEvent
from duologue.protocol.v1 import auth as v1_auth
from duologue.protocol.v1 import capabilities as v1_capabilities
from duologue.protocol.v1 import config as v1_config
from duologue.protocol.v1 import content as v1_content
from duologue.protocol.v1 import mcp as v1_mcp
from duologue.protocol.v1 import tools as v1_tools
from duologue.protocol.v1 import updates as v1u
from duologue.protocol.v2 import auth as v2_auth
from duologue.protocol.v2 import capabilities as v2_capabilities
from duologue.protocol.v2 import config as v2_config
from duologue.protocol.v2 import content as v2_content
from duologue.protocol.v2 import mcp as v2_mcp
from duologue.protocol.v2 import tools as v2_tools
from duologue.protocol.v2 import updates as v2u

#: Variants of `session/update` that changed.
UPDATES = (
    Row(
        v1u.AgentMessageChunk,
        v2u.AgentMessageChunk,
        messages.chunk_down,
        messages.agent_chunk_up,
        Kind.STATE,
        "A chunk without an id goes on with the message before it, unless something came between.",
    ),
    Row(
        v1u.AgentThoughtChunk,
        v2u.AgentThoughtChunk,
        messages.chunk_down,
        messages.thought_chunk_up,
        Kind.STATE,
        "As above. An id that a thought shares with a message is made two.",
    ),
    Row(
        v1u.UserMessageChunk,
        v2u.UserMessageChunk,
        messages.user_chunk_down,
        messages.user_chunk_up,
        Kind.STATE,
        "As above. The message of an open prompt is not sent back to v1, nor heard twice from it.",
    ),
    *(
        Row(
            None,
            update,
            messages.whole_down,
            None,
            Kind.LOSSY,
            "v1 gets chunks of what is new, the first with the `_meta` of the message. One that replaces what was told "
            "is a further message; v1 cannot empty one.",
        )
        for update in (v2u.AgentMessageEvent, v2u.AgentThoughtEvent, v2u.UserMessageEvent)
    ),
    Row(
        None,
        v2u.StateUpdateEvent,
        prompt.state_down,
        None,
        Kind.LOSSY,
        "The end of a turn is the answer of its prompt in v1, an unknown stop reason `end_turn`; `running` and "
        "`requires_action` have no place there.",
    ),
    Row(
        v1u.ToolCallEvent,
        v2u.ToolCallUpdateEvent,
        tools.tool_update_down,
        tools.tool_call_up,
        Kind.LOSSY,
        "The first sight of an id. v1 needs a title: the tool's name, else `Tool call`. What v2 clears: kind becomes "
        "`other`, status `pending`, lists are empty, title, name, input and output stay. `cancelled` is `failed`, with "
        "`Cancelled.` as the last item. Another kind is `other`, another status `in_progress`.",
    ),
    Row(
        v1u.ToolCallUpdateEvent,
        v2u.ToolCallUpdateEvent,
        tools.tool_update_down,
        tools.tool_call_up,
        Kind.LOSSY,
        "As above. null means unchanged in v1, cleared in v2. Up, a kind of no version is `other`, a status of no "
        "version is left out, unless it begins with an underscore.",
    ),
    Row(
        None,
        v2u.ToolCallContentChunkEvent,
        tools.content_chunk_down,
        None,
        Kind.STATE,
        "v1 gets the whole content again, at most ten times a second; content without end loses its beginning.",
    ),
    *(
        Row(
            None,
            update,
            change,
            None,
            Kind.LOSSY,
            "Told in `_meta` of the tool call to clients that sent `_meta.terminal_output: true`, else as its text. A "
            "terminal that no tool call shows is not told, nor is (in `_meta`) its command.",
        )
        for update, change in (
            (v2u.TerminalUpdateEvent, tools.terminal_update_down),
            (v2u.TerminalOutputChunkEvent, tools.terminal_chunk_down),
        )
    ),
    Row(
        v1u.PlanEvent,
        v2u.PlanUpdateEvent,
        plans.plan_down,
        plans.plan_up,
        Kind.LOSSY,
        "For clients without the `plan` capability: one list with the entries of all plans; a Markdown or file plan is "
        "one entry. Up, the plan has the id `plan`.",
    ),
    Row(
        v1u.PlanUpdateEvent,
        v2u.PlanUpdateEvent,
        plans.plan_down,
        plans.plan_update_up,
        Kind.LOSSY,
        "A cancelled entry is `completed`, with ` (cancelled)` behind its words; another state is `pending`, another "
        "priority `medium`. Plans of an unknown type are left out.",
    ),
    Row(
        PlanRemovedEvent,
        PlanRemovedEvent,
        plans.plan_removed_down,
        plans.plan_removed_up,
        Kind.STATE,
        "For clients without the `plan` capability: the list without that plan.",
    ),
    Row(
        v1u.AvailableCommandsUpdateEvent,
        v2u.AvailableCommandsUpdateEvent,
        commands.commands_down,
        commands.commands_up,
        Kind.LOSSY,
        "The input has a type in v2. A command whose input is no text takes none in v1.",
    ),
    Row(
        v1u.CurrentModeUpdateEvent,
        v2u.ConfigOptionUpdateEvent,
        config.options_update_down,
        config.mode_update_up,
        Kind.STATE,
        "Sent beside the options when the mode changed.",
    ),
    Row(
        v1u.ConfigOptionUpdateEvent,
        v2u.ConfigOptionUpdateEvent,
        config.options_update_down,
        config.options_update_up,
        Kind.LOSSY,
        "`id` is `configId`, `group` is `groupId`. v1 does not get types that it does not know, nor switches that its "
        "client did not offer to show.",
    ),
)

#: Parts of the above that changed as values.
PARTS = (
    Row(
        v1_content.ContentBlock,
        v2_content.ContentBlock,
        content.block_down,
        content.block_up,
        Kind.LOSSY,
        "v1 does not get icons of links. A block of a type that v1 does not know is its type in brackets, as text.",
    ),
    Row(
        v1_tools.ToolDiff,
        v2_tools.ToolDiff,
        diffs.diff_down,
        diffs.diff_up,
        Kind.LOSSY,
        "Up, the patch holds both texts whole. Down, several files are several items; where the patch does not show "
        "all, v1 gets the lines it shows; a deletion, a move or a copy is a line of text, then both texts if they "
        "differ; a binary file or a change without a patch is a line of text.",
    ),
    Row(
        v1_tools.ToolCallContent,
        v2_tools.ToolCallContent,
        tools.item_down,
        tools.item_up,
        Kind.LOSSY,
        "A terminal is text for clients without the convention. An item of a type that v1 does not know is its type in "
        "brackets, as text.",
    ),
    Row(
        v1_mcp.McpServer,
        v2_mcp.McpServer,
        mcp.server_down,
        mcp.server_up,
        Kind.LOSSY,
        "v2 tags stdio servers and may leave lists out. An SSE server stays v1's value. A type that v1 does not have "
        "is refused with -32602.",
    ),
    Row(
        v1_auth.AuthMethod,
        v2_auth.AuthMethod,
        auth.method_down,
        auth.method_up,
        Kind.LOSSY,
        "`id` is `methodId`, no type is `agent`, variables are a list in v2. v1 drops the `_meta` of a variable.",
    ),
    Row(
        v1_capabilities.ClientCapabilities,
        v2_capabilities.ClientCapabilities,
        capabilities.client_down,
        capabilities.client_up,
        Kind.LOSSY,
        "Booleans are objects in v2. The `_meta` of what is a boolean in one version, or no word of it, is dropped.",
    ),
    Row(
        v1_capabilities.AgentCapabilities,
        v2_capabilities.AgentCapabilities,
        capabilities.agent_down,
        capabilities.agent_up,
        Kind.LOSSY,
        "Booleans are objects in v2, and `session` stands for seven methods. An agent without sessions, or without MCP "
        "servers over stdio, cannot say so in v1. `_meta` as above.",
    ),
    Row(
        *(
            v1_config.SessionConfigOption,
            v2_config.SessionConfigOption,
            config.option_down,
            config.option_up,
            Kind.EXACT,
        ),
        "`id` is `configId`, `group` is `groupId`.",
    ),
)
