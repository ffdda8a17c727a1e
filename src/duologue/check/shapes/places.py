"""Which requirement a misfit breaks, by the place where it stands.

A place is a type, a member of it (`Type.member`), or either with what is wrong there (`Type.member:word`). The most
exact one counts. What no place claims breaks the requirement that all messages fit the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from duologue.check.rows import ROWS
from duologue.check.shapes.fit import Misfit, Wrong
from duologue.protocol.method import Side

_CHUNKS = ("UserMessageChunk", "AgentMessageChunk", "AgentThoughtChunk")
_MESSAGES = (*_CHUNKS, "UserMessageEvent", "AgentMessageEvent", "AgentThoughtEvent")
_BLOCKS = (*_MESSAGES, "ToolContent")
_REOPENED = ("LoadSessionRequest", "ResumeSessionRequest")


def _each(owners: tuple[str, ...], member: str) -> str:
    return " ".join(f"{owner}.{member}" for owner in owners)


#: What both sides send.
SHARED: Mapping[str, str] = {
    "all-initialize-01": "Implementation",
    "all-content-01": "TextBlock",
    "all-content-02": "ImageBlock",
    "all-content-03": "AudioBlock",
    "all-content-04": "ResourceBlock TextResourceContents BlobResourceContents",
    "all-content-05": "ResourceLinkBlock",
    "all-content-06": "Annotations",
    "allu-nes-10": "Position Range",
    "allu-mcp-04": "MessageMcpRequest MessageMcpNotification",
    "v2-content-03": "TextResourceContents.uri:look BlobResourceContents.uri:look ResourceLinkBlock.uri:look"
    " ImageBlock.uri:look Annotations.lastModified:look Annotations.priority:look",
    "v2-content-04": "Icon",
}

_SUGGESTIONS = "EditSuggestion JumpSuggestion RenameSuggestion SearchAndReplaceSuggestion"
_NES = (
    "NesCapabilities NesEventCapabilities NesDocumentEventCapabilities NesDocumentDidChangeCapabilities"
    " NesContextCapabilities NesRecentFilesCapabilities NesEditHistoryCapabilities NesUserActionsCapabilities"
)

AGENT_PLACES: Mapping[str, str] = {
    **SHARED,
    "v1-initialize-04": "InitializeResponse.protocolVersion",
    "v1-initialize-08": "AgentCapabilities.loadSession PromptCapabilities McpCapabilities",
    "v1-initialize-09": "PromptCapabilities:member",
    "v1-initialize-10": "SessionCapabilities AgentAuthCapabilities",
    "v2-initialize-02": "InitializeResponse.info",
    "v2-initialize-04": "InitializeResponse.agentCapabilities:member InitializeResponse.agentInfo:member",
    "v2-initialize-06": "AgentCapabilities SessionCapabilities PromptCapabilities McpCapabilities",
    "v1-auth-01": "AgentAuthMethod InitializeResponse.authMethods",
    "v1u-auth-04": "TerminalAuthMethod",
    "v2-auth-01": "AgentAuthMethod AgentAuthMethod.id:member InitializeResponse.authMethods:missing TerminalAuthMethod"
    " InitializeResponse.authMethods:type",
    "v2-auth-08": "InitializeResponse.authMethods:variant",
    "v2u-auth-02": "TerminalAuthMethod.env EnvVariable",
    "v2u-auth-04": "EnvVarAuthMethod AuthEnvVar",
    "v1-session-02": "NewSessionResponse",
    "v2-session-02": "NewSessionResponse NewSessionResponse.modes:member",
    "v1-session-08": "LoadSessionResponse",
    "v2-session-11": "ResumeSessionResponse",
    "v2-modes-01": "ResumeSessionResponse.modes:member",
    "all-session-11": "ListSessionsResponse",
    "all-session-13": "SessionInfo",
    "v1-session-17": "SessionInfo.updatedAt",
    "v2-session-05": "SessionInfo.updatedAt",
    "v1-prompt-03": "PromptResponse.stopReason",
    "v1-prompt-04": "PromptResponse.stopReason:word",
    "v1u-prompt-01": "Usage",
    "v2u-prompt-01": "Usage",
    "v2-prompt-02": "PromptResponse PromptResponse.stopReason:member",
    "v2-prompt-07": "StateUpdateEvent.stopReason:word",
    "v2-prompt-15": "StateUpdateEvent",
    "v2-updates-13": "StateUpdateEvent.running:member StateUpdateEvent.idle:member"
    " StateUpdateEvent.requires_action:member",
    "all-updates-01": "SessionNotification UpdateSessionNotification",
    "v1-updates-01": "SessionNotification.update:variant",
    "all-updates-03": _each(_CHUNKS, "content"),
    "v1-updates-03": _each(_CHUNKS, "messageId"),
    "v2-updates-02": _each(_MESSAGES, "messageId"),
    "v1-updates-05": "UsageUpdateEvent Cost",
    "v2-updates-01": "Cost.currency",
    "all-updates-05": "SessionInfoUpdateEvent.sessionId:member SessionInfoUpdateEvent.cwd:member"
    " SessionInfoUpdateEvent.additionalDirectories:member",
    "v2-content-01": " ".join(f"{owner}.content:variant" for owner in _BLOCKS),
    "v1-tools-01": "ToolCallEvent.toolCallId ToolCallEvent.title",
    "v1-tools-03": "ToolCallEvent.kind ToolCallEvent.status ToolCallUpdateEvent.kind ToolCallUpdateEvent.status",
    "v1-tools-05": "ToolCallUpdateEvent",
    "v1-tools-09": "ToolCallEvent.content ToolCallUpdateEvent.content ToolContent",
    "v1-tools-10": "ToolDiff",
    "v1u-tools-01": "ToolCallEvent.name ToolCallUpdateEvent.name",
    "all-tools-05": "ToolCallLocation",
    "v2-tools-05": "ToolCallContentChunkEvent",
    "v2-tools-08": "ToolCallUpdateEvent.kind:word ToolCallUpdateEvent.status:word",
    "v2-tools-10": "ToolDiff ToolDiff.oldText:member ToolDiff.newText:member DiffPatch",
    "v2-tools-11": "AddChange DeleteChange ModifyChange MoveChange CopyChange",
    "v1-permissions-01": "RequestPermissionRequest",
    "all-permissions-01": "PermissionOption",
    "v1-permissions-02": "PermissionOption.kind:word",
    "v2-permissions-01": "RequestPermissionRequest",
    "v2-permissions-02": "ToolCallSubject RequestPermissionRequest.toolCall:member",
    "v2-permissions-03": "CommandSubject",
    "v1-plan-01": "PlanEvent PlanEntry",
    "v1-plan-02": "PlanEntry.priority PlanEntry.status",
    "v1u-plan-02": "PlanUpdateEvent ItemsPlan MarkdownPlan FilePlan",
    "v2-plan-01": "PlanUpdateEvent ItemsPlan MarkdownPlan FilePlan PlanEntry",
    "v2-plan-04": "PlanEntry.priority:word PlanEntry.status:word",
    "v2-plan-06": "ItemsPlan.planId MarkdownPlan.planId FilePlan.planId",
    "v2u-plan-02": "FilePlan.uri:look",
    "v1-modes-01": "SessionModeState SessionMode",
    "v1-modes-06": "CurrentModeUpdateEvent CurrentModeUpdateEvent.modeId:member",
    "v1-config-01": "SelectConfigOption BooleanConfigOption",
    "v2-config-01": "SelectConfigOption BooleanConfigOption SessionConfigSelectGroup.groupId",
    "all-config-01": "SelectConfigOption.currentValue:type SelectConfigOption.options SessionConfigSelectOption"
    " SessionConfigSelectGroup",
    "all-config-03": "BooleanConfigOption.currentValue:type BooleanConfigOption.options:member",
    "all-config-04": "SelectConfigOption.currentValue:missing BooleanConfigOption.currentValue:missing",
    "all-config-09": "SelectConfigOption.category BooleanConfigOption.category",
    "all-config-13": "SetSessionConfigOptionResponse",
    "all-config-15": "ConfigOptionUpdateEvent",
    "all-commands-01": "AvailableCommandsUpdateEvent AvailableCommand",
    "v1-commands-01": "UnstructuredCommandInput AvailableCommand.input",
    "v2-commands-01": "TextInput AvailableCommand.input",
    "v1-fs-02": "ReadTextFileRequest WriteTextFileRequest",
    "all-session-03": "CreateTerminalRequest.cwd:look",
    "all-session-25": "SessionInfo.additionalDirectories:look",
    "v2-terminal-01": "ToolTerminal ToolTerminal.output:member",
    "v2-terminal-06": "TerminalUpdateEvent.cwd",
    "v2-terminal-08": "TerminalOutput.data TerminalOutputChunkEvent.data",
    "all-elicitation-05": "FormElicitation.message UrlElicitation.message FormElicitation:missing",
    "all-elicitation-09": "FormElicitation.requestedSchema ElicitationSchema",
    "all-elicitation-11": "StringProperty NumberProperty IntegerProperty BooleanProperty ElicitationSchema.properties",
    "all-elicitation-12": "EnumOption ArrayProperty StringItems TitledMultiSelectItems",
    "all-elicitation-23": "UrlElicitation",
    "all-elicitation-40": "FormElicitation:variant ElicitationSchema.properties:variant",
    "v1u-nes-01": _NES,
    "v2u-nes-01": f"{_NES} NesDocumentDidChangeCapabilities.syncKind",
    "allu-nes-02": "StartNesResponse",
    "allu-nes-07": "SuggestNesResponse",
    "v1u-nes-02": f"{_SUGGESTIONS} NesTextEdit",
    "v2u-nes-02": f"{_SUGGESTIONS} NesTextEdit",
    "allu-providers-03": "ListProvidersResponse ProviderInfo ProviderCurrentConfig",
    "allu-mcp-02": "ConnectMcpRequest",
}

CLIENT_PLACES: Mapping[str, str] = {
    **SHARED,
    "all-versioning-06": "InitializeRequest.protocolVersion",
    "v1-initialize-02": "InitializeRequest",
    "v1-initialize-11": "ClientCapabilities FileSystemCapabilities ClientSessionCapabilities ElicitationCapabilities",
    "v2-initialize-01": "InitializeRequest.info",
    "v2-initialize-04": "InitializeRequest.clientCapabilities:member InitializeRequest.clientInfo:member",
    "v2-initialize-06": "ClientCapabilities ElicitationCapabilities",
    "v2-initialize-09": "ClientCapabilities.fs:member ClientCapabilities.terminal:member",
    "v1-session-01": "NewSessionRequest",
    "v2-session-01": "NewSessionRequest",
    "v1-session-04": "LoadSessionRequest",
    "all-session-03": f"NewSessionRequest.cwd:look {' '.join(f'{each}.cwd:look' for each in _REOPENED)}"
    " ListSessionsRequest.cwd:look",
    "all-session-25": "NewSessionRequest.additionalDirectories:look "
    + " ".join(f"{each}.additionalDirectories:look" for each in _REOPENED),
    "v1-prompt-01": "PromptRequest",
    "v2-content-01": "PromptRequest.prompt:variant",
    "all-permissions-02": "SelectedOutcome CancelledOutcome RequestPermissionResponse",
    "v1-config-03": "SetSessionConfigOptionRequest",
    "v2-config-02": "SetIdConfigOption SetBooleanConfigOption",
    "v1-mcp-02": "StdioMcpServer EnvVariable",
    "all-mcp-01": "StdioMcpServer.command:look",
    "v1-mcp-03": "HttpMcpServer SseMcpServer HttpHeader",
    "v2-mcp-01": "StdioMcpServer HttpMcpServer NewSessionRequest.mcpServers",
    "v2-mcp-05": "NewSessionRequest.mcpServers:variant",
    "v1-terminal-03": "CreateTerminalResponse",
    "v1-terminal-05": "TerminalOutputResponse",
    "v1-terminal-09": "TerminalExitStatus WaitForTerminalExitResponse",
    "v1-fs-03": "ReadTextFileResponse",
    "v1-fs-08": "WriteTextFileResponse",
    "all-elicitation-13": "AcceptElicitation:variant AcceptElicitation:missing",
    "all-elicitation-14": "AcceptElicitation.content",
    "allu-nes-05": "SuggestNesRequest SuggestNesRequest.triggerKind",
    "allu-nes-06": "NesSuggestContext NesRecentFile NesRelatedSnippet NesExcerpt NesEditHistoryEntry NesUserAction"
    " NesOpenFile NesDiagnostic",
    "allu-nes-12": "AcceptNesNotification RejectNesNotification RejectNesNotification.reason",
    "allu-documents-03": "DidOpenDocumentNotification",
    "allu-documents-04": "DidChangeDocumentNotification TextDocumentContentChangeEvent",
    "allu-documents-08": "DidFocusDocumentNotification",
    "allu-documents-09": "DidSaveDocumentNotification DidCloseDocumentNotification",
    "allu-mcp-03": "ConnectMcpResponse",
}

PLACES: Mapping[Side, Mapping[str, str]] = {Side.AGENT: AGENT_PLACES, Side.CLIENT: CLIENT_PLACES}

_REMOVED = frozenset({"tool_call", "plan", "current_mode_update"})
_ONLY_V2 = frozenset(
    (
        *("user_message", "agent_message", "agent_thought", "state_update", "tool_call_content_chunk"),
        *("terminal_update", "terminal_output_chunk"),
    )
)
THE_SCHEMA = "all-jsonrpc-22"


@cache
def _table(side: Side, version: int) -> Mapping[str, str]:
    """The requirement of each place."""
    return {
        place: row for row, places in PLACES[side].items() if version in ROWS[row].versions for place in places.split()
    }


@cache
def owners(side: Side, version: int) -> Mapping[str, frozenset[str]]:
    """The types that a requirement is about: it counts as seen when one of them was."""
    found: dict[str, set[str]] = {}
    for place, row in _table(side, version).items():
        found.setdefault(row, set()).add(place.split(":")[0].split(".")[0])
    return {row: frozenset(names) for row, names in found.items()}


def broken_by(misfit: Misfit, side: Side, version: int) -> str:
    """The id of the requirement that a misfit breaks."""
    place, wrong = f"{misfit.owner}.{misfit.member}", misfit.wrong.value
    if misfit.member == "_meta":
        return "all-extensibility-01"
    if misfit.wrong is Wrong.VARIANT and misfit.member == "update" and (row := _of_update(misfit.value, version)):
        return row
    table = _table(side, version)
    for key in (f"{place}:{wrong}", place, f"{misfit.owner}:{wrong}"):
        if key in table:
            return table[key]
    match misfit.wrong:
        case Wrong.MEMBER:
            return "all-extensibility-10" if "_" in misfit.member.lstrip("_") else "all-extensibility-02"
        case Wrong.WORD | Wrong.VARIANT if version == 2:
            return "v2-extensibility-01"
    return table.get(misfit.owner, THE_SCHEMA)


def _of_update(kind: object, version: int) -> str | None:
    """The requirement against a kind of update that is out of place."""
    if version == 1:
        return "all-versioning-05" if kind in _ONLY_V2 else None
    return "v2-updates-11" if kind in _REMOVED else None
