"""Version 1 of the protocol: every type by name, what is common to both versions included; loaded when asked for."""

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
    from duologue.protocol.v1.auth import *
    from duologue.protocol.v1.capabilities import *
    from duologue.protocol.v1.commands import *
    from duologue.protocol.v1.config import *
    from duologue.protocol.v1.content import *
    from duologue.protocol.v1.fs import *
    from duologue.protocol.v1.ids import *
    from duologue.protocol.v1.initialize import *
    from duologue.protocol.v1.mcp import *
    from duologue.protocol.v1.nes import *
    from duologue.protocol.v1.permission import *
    from duologue.protocol.v1.plan import *
    from duologue.protocol.v1.prompt import *
    from duologue.protocol.v1.session import *
    from duologue.protocol.v1.terminal import *
    from duologue.protocol.v1.tools import *
    from duologue.protocol.v1.updates import *

LISTING = {
    "auth": """
        AuthMethodAgent AuthMethodEnvVar AuthMethodTerminal AgentAuthMethod EnvVarAuthMethod TerminalAuthMethod
        AuthMethod AuthenticateRequest AuthenticateResponse LogoutRequest LogoutResponse
    """,
    "capabilities": """
        FileSystemCapabilities BooleanConfigOptionCapabilities SessionConfigOptionsCapabilities
        ClientSessionCapabilities PlanCapabilities AuthCapabilities ClientCapabilities PromptCapabilities
        McpCapabilities SessionListCapabilities SessionResumeCapabilities SessionCloseCapabilities
        SessionCapabilities LogoutCapabilities AgentAuthCapabilities AgentCapabilities
    """,
    "commands": "UnstructuredCommandInput AvailableCommandInput AvailableCommand AvailableCommandsUpdate",
    "config": """
        SessionMode SessionModeState SetSessionModeRequest SetSessionModeResponse SessionConfigSelectGroup
        SessionConfigSelectOptions SessionConfigSelect ConfigOption SelectConfigOption BooleanConfigOption
        SessionConfigOption SetSessionConfigOptionResponse SetSessionConfigOptionRequest
    """,
    "content": "ResourceLink ResourceLinkBlock ContentBlock ContentChunk",
    "fs": "ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse",
    "ids": "SessionModeId",
    "initialize": "InitializeRequest InitializeResponse",
    "mcp": "McpServerStdio McpServerHttp McpServerSse StdioMcpServer HttpMcpServer SseMcpServer McpServer",
    "nes": """
        NesEditSuggestion NesJumpSuggestion NesRenameSuggestion NesSearchAndReplaceSuggestion EditSuggestion
        JumpSuggestion RenameSuggestion SearchAndReplaceSuggestion NesSuggestion SuggestNesResponse
        AcceptNesNotification RejectNesNotification
    """,
    "permission": "RequestPermissionRequest",
    "plan": "PlanEntryStatus PlanEntry Plan PlanItems ItemsPlan PlanUpdateContent PlanUpdate",
    "prompt": "PromptRequest PromptResponse CancelNotification",
    "session": """
        NewSessionRequest NewSessionResponse LoadSessionRequest LoadSessionResponse ResumeSessionRequest
        ResumeSessionResponse ForkSessionRequest ForkSessionResponse
    """,
    "terminal": """
        CreateTerminalRequest CreateTerminalResponse TerminalOutputRequest TerminalOutputResponse
        WaitForTerminalExitRequest WaitForTerminalExitResponse KillTerminalRequest KillTerminalResponse
        ReleaseTerminalRequest ReleaseTerminalResponse
    """,
    "tools": "ToolCallStatus Content Diff ToolContent ToolDiff ToolCallContent ToolCall ToolCallUpdate",
    "updates": """
        CurrentModeUpdate ConfigOptionUpdate UserMessageChunk AgentMessageChunk AgentThoughtChunk ToolCallEvent
        ToolCallUpdateEvent PlanEvent PlanUpdateEvent AvailableCommandsUpdateEvent CurrentModeUpdateEvent
        ConfigOptionUpdateEvent SessionUpdate SessionNotification
    """,
}

TYPES = Topics(common=COMMON, v1=LISTING)

if not TYPE_CHECKING:  # type checkers know the names, and are to refuse all others

    def __getattr__(name: str) -> Any:
        if name not in TYPES:
            raise AttributeError(f"version 1 has no type {name}")
        return TYPES.find(name)


def __dir__() -> list[str]:
    return [*globals(), *TYPES]
