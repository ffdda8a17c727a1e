"""The methods of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.protocol.common import table as common
from duologue.protocol.method import AGENT, CLIENT, Notification, Request, declare
from duologue.protocol.v2 import TYPES

if TYPE_CHECKING:
    from duologue.protocol.common.nes import SuggestNesRequest
    from duologue.protocol.common.permission import RequestPermissionResponse
    from duologue.protocol.common.session import (
        CloseSessionRequest,
        CloseSessionResponse,
        DeleteSessionRequest,
        DeleteSessionResponse,
        ListSessionsRequest,
        ListSessionsResponse,
    )
    from duologue.protocol.v2.auth import LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse
    from duologue.protocol.v2.config import SetSessionConfigOptionRequest, SetSessionConfigOptionResponse
    from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
    from duologue.protocol.v2.nes import AcceptNesNotification, RejectNesNotification, SuggestNesResponse
    from duologue.protocol.v2.permission import RequestPermissionRequest
    from duologue.protocol.v2.prompt import CancelSessionNotification, PromptRequest, PromptResponse
    from duologue.protocol.v2.session import (
        ForkSessionRequest,
        ForkSessionResponse,
        NewSessionRequest,
        NewSessionResponse,
        ResumeSessionRequest,
        ResumeSessionResponse,
    )
    from duologue.protocol.v2.updates import UpdateSessionNotification

# Handshake and login. The login methods are due as soon as the agent announces a way to log in.
INITIALIZE: Request[InitializeRequest, InitializeResponse] = Request("initialize", AGENT)
AUTH_LOGIN: Request[LoginAuthRequest, LoginAuthResponse] = Request("auth/login", AGENT)
AUTH_LOGOUT: Request[LogoutAuthRequest, LogoutAuthResponse] = Request("auth/logout", AGENT)

# Sessions.
SESSION_NEW: Request[NewSessionRequest, NewSessionResponse] = Request("session/new", AGENT, needs="session")
SESSION_RESUME: Request[ResumeSessionRequest, ResumeSessionResponse] = Request("session/resume", AGENT, needs="session")
SESSION_LIST: Request[ListSessionsRequest, ListSessionsResponse] = Request("session/list", AGENT, needs="session")
SESSION_CLOSE: Request[CloseSessionRequest, CloseSessionResponse] = Request("session/close", AGENT, needs="session")
SESSION_DELETE: Request[DeleteSessionRequest, DeleteSessionResponse] = Request(
    "session/delete", AGENT, needs="session.delete"
)
SESSION_FORK: Request[ForkSessionRequest, ForkSessionResponse] = Request(
    "session/fork", AGENT, needs="session.fork", stable=False
)
SESSION_SET_CONFIG_OPTION: Request[SetSessionConfigOptionRequest, SetSessionConfigOptionResponse] = Request(
    "session/set_config_option", AGENT, needs="session"
)

# Turns.
SESSION_PROMPT: Request[PromptRequest, PromptResponse] = Request("session/prompt", AGENT, needs="session")
SESSION_CANCEL: Notification[CancelSessionNotification] = Notification("session/cancel", AGENT, needs="session")
SESSION_UPDATE: Notification[UpdateSessionNotification] = Notification("session/update", CLIENT)
SESSION_REQUEST_PERMISSION: Request[RequestPermissionRequest, RequestPermissionResponse] = Request(
    "session/request_permission", CLIENT
)

# Suggested edits.
NES_SUGGEST: Request[SuggestNesRequest, SuggestNesResponse] = Request("nes/suggest", AGENT, needs="nes", stable=False)
NES_ACCEPT: Notification[AcceptNesNotification] = Notification("nes/accept", AGENT, needs="nes", stable=False)
NES_REJECT: Notification[RejectNesNotification] = Notification("nes/reject", AGENT, needs="nes", stable=False)

# As in the other version.
ELICITATION_CREATE = common.ELICITATION_CREATE
ELICITATION_COMPLETE = common.ELICITATION_COMPLETE
MCP_CONNECT = common.MCP_CONNECT
MCP_MESSAGE = common.MCP_MESSAGE
MCP_MESSAGE_NOTIFICATION = common.MCP_MESSAGE_NOTIFICATION
MCP_DISCONNECT = common.MCP_DISCONNECT
PROVIDERS_LIST = common.PROVIDERS_LIST
PROVIDERS_SET = common.PROVIDERS_SET
PROVIDERS_DISABLE = common.PROVIDERS_DISABLE
NES_START = common.NES_START
NES_CLOSE = common.NES_CLOSE
DOCUMENT_DID_OPEN = common.DOCUMENT_DID_OPEN
DOCUMENT_DID_CHANGE = common.DOCUMENT_DID_CHANGE
DOCUMENT_DID_CLOSE = common.DOCUMENT_DID_CLOSE
DOCUMENT_DID_SAVE = common.DOCUMENT_DID_SAVE
DOCUMENT_DID_FOCUS = common.DOCUMENT_DID_FOCUS
CANCEL_REQUEST = common.CANCEL_REQUEST

METHODS = declare(globals(), TYPES)
