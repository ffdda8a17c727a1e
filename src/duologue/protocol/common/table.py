"""The methods that are the same in both versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.protocol.common import TYPES
from duologue.protocol.method import AGENT, BOTH, CLIENT, Notification, Request, declare

if TYPE_CHECKING:
    from duologue.protocol.common.documents import (
        DidChangeDocumentNotification,
        DidCloseDocumentNotification,
        DidFocusDocumentNotification,
        DidOpenDocumentNotification,
        DidSaveDocumentNotification,
    )
    from duologue.protocol.common.elicitation import (
        CompleteElicitationNotification,
        CreateElicitationRequest,
        CreateElicitationResponse,
    )
    from duologue.protocol.common.mcp import (
        ConnectMcpRequest,
        ConnectMcpResponse,
        DisconnectMcpRequest,
        DisconnectMcpResponse,
        MessageMcpNotification,
        MessageMcpRequest,
        MessageMcpResponse,
    )
    from duologue.protocol.common.messages import CancelRequestNotification
    from duologue.protocol.common.nes import CloseNesRequest, CloseNesResponse, StartNesRequest, StartNesResponse
    from duologue.protocol.common.providers import (
        DisableProviderRequest,
        DisableProviderResponse,
        ListProvidersRequest,
        ListProvidersResponse,
        SetProviderRequest,
        SetProviderResponse,
    )

# Elicitation. Each mode has its own marker below the capability; an empty one opens none.
ELICITATION_CREATE: Request[CreateElicitationRequest, CreateElicitationResponse] = Request(
    "elicitation/create", CLIENT, needs="elicitation"
)
ELICITATION_COMPLETE: Notification[CompleteElicitationNotification] = Notification(
    "elicitation/complete", CLIENT, needs="elicitation.url"
)

# MCP through this connection. The agent may use what the client lent it in a session's servers, and the client lends
# only to an agent that can; so no capability of the receiver opens these.
MCP_CONNECT: Request[ConnectMcpRequest, ConnectMcpResponse] = Request("mcp/connect", CLIENT, stable=False)
MCP_MESSAGE: Request[MessageMcpRequest, MessageMcpResponse] = Request("mcp/message", BOTH, stable=False)
MCP_MESSAGE_NOTIFICATION: Notification[MessageMcpNotification] = Notification("mcp/message", BOTH, stable=False)
MCP_DISCONNECT: Request[DisconnectMcpRequest, DisconnectMcpResponse] = Request("mcp/disconnect", CLIENT, stable=False)

# Model providers.
PROVIDERS_LIST: Request[ListProvidersRequest, ListProvidersResponse] = Request(
    "providers/list", AGENT, needs="providers", stable=False
)
PROVIDERS_SET: Request[SetProviderRequest, SetProviderResponse] = Request(
    "providers/set", AGENT, needs="providers", stable=False
)
PROVIDERS_DISABLE: Request[DisableProviderRequest, DisableProviderResponse] = Request(
    "providers/disable", AGENT, needs="providers", stable=False
)

# Suggested edits.
NES_START: Request[StartNesRequest, StartNesResponse] = Request("nes/start", AGENT, needs="nes", stable=False)
NES_CLOSE: Request[CloseNesRequest, CloseNesResponse] = Request("nes/close", AGENT, needs="nes", stable=False)
DOCUMENT_DID_OPEN: Notification[DidOpenDocumentNotification] = Notification(
    "document/didOpen", AGENT, needs="nes.events.document.did_open", stable=False
)
DOCUMENT_DID_CHANGE: Notification[DidChangeDocumentNotification] = Notification(
    "document/didChange", AGENT, needs="nes.events.document.did_change", stable=False
)
DOCUMENT_DID_CLOSE: Notification[DidCloseDocumentNotification] = Notification(
    "document/didClose", AGENT, needs="nes.events.document.did_close", stable=False
)
DOCUMENT_DID_SAVE: Notification[DidSaveDocumentNotification] = Notification(
    "document/didSave", AGENT, needs="nes.events.document.did_save", stable=False
)
DOCUMENT_DID_FOCUS: Notification[DidFocusDocumentNotification] = Notification(
    "document/didFocus", AGENT, needs="nes.events.document.did_focus", stable=False
)

# The protocol itself.
CANCEL_REQUEST: Notification[CancelRequestNotification] = Notification("$/cancel_request", BOTH)

METHODS = declare(globals(), TYPES)
