"""What is the same on the wire in both versions, by topic."""

from __future__ import annotations

from duologue.protocol.topics import Topics

LISTING = {
    "auth": "AuthEnvVar",
    "capabilities": """
        PositionEncodingKind Implementation ElicitationFormCapabilities ElicitationUrlCapabilities
        ElicitationCapabilities SessionDeleteCapabilities SessionAdditionalDirectoriesCapabilities
        SessionForkCapabilities ProvidersCapabilities
    """,
    "config": "SessionConfigOptionCategory SessionConfigSelectOption SessionConfigBoolean",
    "content": """
        Role Annotations TextContent ImageContent AudioContent TextResourceContents BlobResourceContents
        EmbeddedResourceResource EmbeddedResource TextBlock ImageBlock AudioBlock ResourceBlock
    """,
    "documents": """
        Position Range TextDocumentContentChangeEvent DidOpenDocumentNotification DidChangeDocumentNotification
        DidCloseDocumentNotification DidSaveDocumentNotification DidFocusDocumentNotification
    """,
    "elicitation": """
        ElicitationSessionScope ElicitationRequestScope ElicitationScope ElicitationFormMode ElicitationUrlMode
        FormElicitation UrlElicitation CreateElicitationRequest ElicitationContentValue ElicitationAcceptAction
        AcceptElicitation DeclineElicitation CancelElicitation CreateElicitationResponse
        CompleteElicitationNotification
    """,
    "elicitation_schema": """
        StringFormat EnumOption StringPropertySchema NumberPropertySchema IntegerPropertySchema
        BooleanPropertySchema StringMultiSelectItems StringItems TitledMultiSelectItems MultiSelectItems
        MultiSelectPropertySchema StringProperty NumberProperty IntegerProperty BooleanProperty ArrayProperty
        ElicitationPropertySchema ElicitationSchemaType ElicitationSchema
    """,
    "errors": "ErrorCode Error",
    "ids": """
        RequestId ProtocolVersion SessionId MessageId ToolCallId TerminalId PlanId PermissionOptionId ElicitationId
        SessionConfigId SessionConfigValueId SessionConfigGroupId AuthMethodId ProviderId McpServerAcpId
        McpConnectionId NesSuggestionId
    """,
    "mcp": """
        HttpHeader McpServerAcp AcpMcpServer ConnectMcpRequest ConnectMcpResponse MessageMcpRequest
        MessageMcpNotification DisconnectMcpRequest DisconnectMcpResponse MessageMcpResponse
    """,
    "messages": """
        ExtRequest ExtResponse ExtNotification RequestMessage ResponseMessage NotificationMessage AgentRequest
        AgentResponse AgentNotification ClientRequest ClientResponse ClientNotification CancelRequestNotification
    """,
    "nes": """
        NesTriggerKind NesDiagnosticSeverity NesRejectReason WorkspaceFolder NesRepository StartNesRequest
        StartNesResponse CloseNesRequest CloseNesResponse NesRecentFile NesExcerpt NesRelatedSnippet
        NesEditHistoryEntry NesUserAction NesOpenFile NesDiagnostic NesSuggestContext SuggestNesRequest NesTextEdit
    """,
    "nes_capabilities": """
        TextDocumentSyncKind NesDocumentDidOpenCapabilities NesDocumentDidChangeCapabilities
        NesDocumentDidCloseCapabilities NesDocumentDidSaveCapabilities NesDocumentDidFocusCapabilities
        NesDocumentEventCapabilities NesEventCapabilities NesRecentFilesCapabilities NesRelatedSnippetsCapabilities
        NesEditHistoryCapabilities NesUserActionsCapabilities NesOpenFilesCapabilities NesDiagnosticsCapabilities
        NesContextCapabilities NesCapabilities NesJumpCapabilities NesRenameCapabilities
        NesSearchAndReplaceCapabilities ClientNesCapabilities
    """,
    "permission": """
        PermissionOptionKind PermissionOption SelectedPermissionOutcome CancelledOutcome SelectedOutcome
        RequestPermissionOutcome RequestPermissionResponse
    """,
    "plan": "PlanEntryPriority PlanFile PlanMarkdown PlanRemoved FilePlan MarkdownPlan",
    "prompt": "StopReason Usage",
    "providers": """
        LlmProtocol ProviderCurrentConfig ProviderInfo ListProvidersRequest ListProvidersResponse SetProviderRequest
        SetProviderResponse DisableProviderRequest DisableProviderResponse
    """,
    "session": """
        SessionInfo ListSessionsRequest ListSessionsResponse DeleteSessionRequest DeleteSessionResponse
        CloseSessionRequest CloseSessionResponse
    """,
    "terminal": "EnvVariable TerminalExitStatus",
    "tools": "ToolKind ToolCallLocation Terminal ToolTerminal",
    "updates": "Cost SessionInfoUpdate UsageUpdate PlanRemovedEvent SessionInfoUpdateEvent UsageUpdateEvent",
}

TYPES = Topics(common=LISTING)
