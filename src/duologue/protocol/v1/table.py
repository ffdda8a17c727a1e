"""The methods of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.protocol.common import table as common
from duologue.protocol.method import AGENT, CLIENT, Notification, Request, declare
from duologue.protocol.v1 import TYPES

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
    from duologue.protocol.v1.auth import AuthenticateRequest, AuthenticateResponse, LogoutRequest, LogoutResponse
    from duologue.protocol.v1.config import (
        SetSessionConfigOptionRequest,
        SetSessionConfigOptionResponse,
        SetSessionModeRequest,
        SetSessionModeResponse,
    )
    from duologue.protocol.v1.fs import (
        ReadTextFileRequest,
        ReadTextFileResponse,
        WriteTextFileRequest,
        WriteTextFileResponse,
    )
    from duologue.protocol.v1.initialize import InitializeRequest, InitializeResponse
    from duologue.protocol.v1.nes import AcceptNesNotification, RejectNesNotification, SuggestNesResponse
    from duologue.protocol.v1.permission import RequestPermissionRequest
    from duologue.protocol.v1.prompt import CancelNotification, PromptRequest, PromptResponse
    from duologue.protocol.v1.session import (
        ForkSessionRequest,
        ForkSessionResponse,
        LoadSessionRequest,
        LoadSessionResponse,
        NewSessionRequest,
        NewSessionResponse,
        ResumeSessionRequest,
        ResumeSessionResponse,
    )
    from duologue.protocol.v1.terminal import (
        CreateTerminalRequest,
        CreateTerminalResponse,
        KillTerminalRequest,
        KillTerminalResponse,
        ReleaseTerminalRequest,
        ReleaseTerminalResponse,
        TerminalOutputRequest,
        TerminalOutputResponse,
        WaitForTerminalExitRequest,
        WaitForTerminalExitResponse,
    )
    from duologue.protocol.v1.updates import SessionNotification

# Handshake and login.
INITIALIZE: Request[InitializeRequest, InitializeResponse] = Request("initialize", AGENT)
AUTHENTICATE: Request[AuthenticateRequest, AuthenticateResponse] = Request("authenticate", AGENT)
LOGOUT: Request[LogoutRequest, LogoutResponse] = Request("logout", AGENT, needs="auth.logout")

# Sessions.
SESSION_NEW: Request[NewSessionRequest, NewSessionResponse] = Request("session/new", AGENT)
SESSION_LOAD: Request[LoadSessionRequest, LoadSessionResponse] = Request("session/load", AGENT, needs="load_session")
SESSION_RESUME: Request[ResumeSessionRequest, ResumeSessionResponse] = Request(
    "session/resume", AGENT, needs="session_capabilities.resume"
)
SESSION_LIST: Request[ListSessionsRequest, ListSessionsResponse] = Request(
    "session/list", AGENT, needs="session_capabilities.list"
)
SESSION_CLOSE: Request[CloseSessionRequest, CloseSessionResponse] = Request(
    "session/close", AGENT, needs="session_capabilities.close"
)
SESSION_DELETE: Request[DeleteSessionRequest, DeleteSessionResponse] = Request(
    "session/delete", AGENT, needs="session_capabilities.delete"
)
SESSION_FORK: Request[ForkSessionRequest, ForkSessionResponse] = Request(
    "session/fork", AGENT, needs="session_capabilities.fork", stable=False
)
SESSION_SET_MODE: Request[SetSessionModeRequest, SetSessionModeResponse] = Request("session/set_mode", AGENT)
SESSION_SET_CONFIG_OPTION: Request[SetSessionConfigOptionRequest, SetSessionConfigOptionResponse] = Request(
    "session/set_config_option", AGENT
)

# Turns.
SESSION_PROMPT: Request[PromptRequest, PromptResponse] = Request("session/prompt", AGENT)
SESSION_CANCEL: Notification[CancelNotification] = Notification("session/cancel", AGENT)
SESSION_UPDATE: Notification[SessionNotification] = Notification("session/update", CLIENT)
SESSION_REQUEST_PERMISSION: Request[RequestPermissionRequest, RequestPermissionResponse] = Request(
    "session/request_permission", CLIENT
)

# The client's files and terminals.
FS_READ_TEXT_FILE: Request[ReadTextFileRequest, ReadTextFileResponse] = Request(
    "fs/read_text_file", CLIENT, needs="fs.read_text_file"
)
FS_WRITE_TEXT_FILE: Request[WriteTextFileRequest, WriteTextFileResponse] = Request(
    "fs/write_text_file", CLIENT, needs="fs.write_text_file"
)
TERMINAL_CREATE: Request[CreateTerminalRequest, CreateTerminalResponse] = Request(
    "terminal/create", CLIENT, needs="terminal"
)
TERMINAL_OUTPUT: Request[TerminalOutputRequest, TerminalOutputResponse] = Request(
    "terminal/output", CLIENT, needs="terminal"
)
TERMINAL_WAIT_FOR_EXIT: Request[WaitForTerminalExitRequest, WaitForTerminalExitResponse] = Request(
    "terminal/wait_for_exit", CLIENT, needs="terminal"
)
TERMINAL_KILL: Request[KillTerminalRequest, KillTerminalResponse] = Request("terminal/kill", CLIENT, needs="terminal")
TERMINAL_RELEASE: Request[ReleaseTerminalRequest, ReleaseTerminalResponse] = Request(
    "terminal/release", CLIENT, needs="terminal"
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
