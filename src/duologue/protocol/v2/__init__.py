"""Version 2 of the protocol: every type by name, what is common to both versions included; loaded when asked for."""

# ruff: noqa: F403 - the star imports tell type checkers what `__getattr__` finds.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duologue.protocol.common import LISTING as COMMON
from duologue.protocol.topics import Topics

if TYPE_CHECKING:
    from duologue.protocol.common.auth import *
    from duologue.protocol.common.capabilities import *
    from duologue.protocol.common.config import *
    from duologue.protocol.common.content import *
    from duologue.protocol.common.documents import *
    from duologue.protocol.common.elicitation import *
    from duologue.protocol.common.elicitation_schema import *
    from duologue.protocol.common.errors import *
    from duologue.protocol.common.ids import *
    from duologue.protocol.common.mcp import *
    from duologue.protocol.common.messages import *
    from duologue.protocol.common.nes import *
    from duologue.protocol.common.nes_capabilities import *
    from duologue.protocol.common.permission import *
    from duologue.protocol.common.plan import *
    from duologue.protocol.common.prompt import *
    from duologue.protocol.common.providers import *
    from duologue.protocol.common.session import *
    from duologue.protocol.common.terminal import *
    from duologue.protocol.common.tools import *
    from duologue.protocol.common.updates import *
    from duologue.protocol.v2.auth import *
    from duologue.protocol.v2.capabilities import *
    from duologue.protocol.v2.commands import *
    from duologue.protocol.v2.config import *
    from duologue.protocol.v2.content import *
    from duologue.protocol.v2.diff import *
    from duologue.protocol.v2.ids import *
    from duologue.protocol.v2.initialize import *
    from duologue.protocol.v2.mcp import *
    from duologue.protocol.v2.messages import *
    from duologue.protocol.v2.nes import *
    from duologue.protocol.v2.permission import *
    from duologue.protocol.v2.plan import *
    from duologue.protocol.v2.prompt import *
    from duologue.protocol.v2.session import *
    from duologue.protocol.v2.state import *
    from duologue.protocol.v2.terminal import *
    from duologue.protocol.v2.tools import *
    from duologue.protocol.v2.updates import *

LISTING = {
    "auth": """
        AuthMethodAgent AuthMethodEnvVar AuthMethodTerminal AgentAuthMethod EnvVarAuthMethod TerminalAuthMethod
        AuthMethod LoginAuthRequest LoginAuthResponse LogoutAuthRequest LogoutAuthResponse
    """,
    "capabilities": """
        TerminalAuthCapabilities AuthCapabilities ClientCapabilities PromptImageCapabilities PromptAudioCapabilities
        PromptEmbeddedContextCapabilities PromptCapabilities McpStdioCapabilities McpHttpCapabilities
        McpAcpCapabilities McpCapabilities SessionCapabilities AgentAuthCapabilities AgentCapabilities
    """,
    "commands": "TextCommandInput TextInput AvailableCommandInput AvailableCommand AvailableCommandsUpdate",
    "config": """
        SessionConfigSelectGroup SessionConfigSelectOptions SessionConfigSelect ConfigOption SelectConfigOption
        BooleanConfigOption SessionConfigOption SetSessionConfigOptionResponse SetConfigOption SetIdConfigOption
        SetBooleanConfigOption SetSessionConfigOptionRequest
    """,
    "content": """
        IconTheme Icon ResourceLink ResourceLinkBlock ContentBlock ContentChunk UserMessage AgentMessage
        AgentThought
    """,
    "diff": """
        DiffFileType DiffPatchFormat DiffPatch DiffPathChange DiffPathPairChange PathChange PathPairChange AddChange
        DeleteChange ModifyChange MoveChange CopyChange DiffChange Diff
    """,
    "ids": "AbsolutePath MediaType SessionListCursor",
    "initialize": "InitializeRequest InitializeResponse",
    "mcp": "McpServerStdio McpServerHttp StdioMcpServer HttpMcpServer McpServer",
    "messages": "ProtocolLevelNotification",
    "nes": """
        NesEditSuggestion NesJumpSuggestion NesRenameSuggestion NesSearchAndReplaceSuggestion EditSuggestion
        JumpSuggestion RenameSuggestion SearchAndReplaceSuggestion NesSuggestion SuggestNesResponse
        AcceptNesNotification RejectNesNotification
    """,
    "permission": """
        ToolCallPermissionSubject CommandPermissionSubject ToolCallSubject CommandSubject RequestPermissionSubject
        RequestPermissionRequest
    """,
    "plan": "PlanEntryStatus PlanEntry PlanItems ItemsPlan PlanUpdateContent PlanUpdate",
    "prompt": "PromptRequest PromptResponse CancelSessionNotification",
    "session": """
        ReplayFromStart StartReplay ReplayFrom NewSessionRequest NewSessionResponse ResumeSessionRequest
        ResumeSessionResponse ForkSessionRequest ForkSessionResponse
    """,
    "state": "RunningStateUpdate IdleStateUpdate RequiresActionStateUpdate SessionState StateUpdate",
    "terminal": "TerminalOutput TerminalUpdate TerminalOutputChunk",
    "tools": "ToolCallStatus Content ToolContent ToolDiff ToolCallContent ToolCallUpdate ToolCallContentChunk",
    "updates": """
        ConfigOptionUpdate UserMessageChunk UserMessageEvent AgentMessageChunk AgentMessageEvent AgentThoughtChunk
        AgentThoughtEvent StateUpdateEvent ToolCallContentChunkEvent ToolCallUpdateEvent TerminalUpdateEvent
        TerminalOutputChunkEvent PlanUpdateEvent AvailableCommandsUpdateEvent ConfigOptionUpdateEvent SessionUpdate
        UpdateSessionNotification
    """,
}

TYPES = Topics(common=COMMON, v2=LISTING)

if not TYPE_CHECKING:  # type checkers know the names, and are to refuse all others

    def __getattr__(name: str) -> Any:
        if name not in TYPES:
            raise AttributeError(f"version 2 has no type {name}")
        return TYPES.find(name)


def __dir__() -> list[str]:
    return [*globals(), *TYPES]
