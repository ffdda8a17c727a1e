"""The handshake: other names, booleans against objects, and what only one version lets a side say.

What v1 says and v2 has no words for is kept in the memory of the connection: `ClientExtras` and `AgentExtras`.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from duologue.protocol.changes.auth import method_down, method_up
from duologue.protocol.changes.memory import AgentExtras, ClientExtras, ConnectionMemory
from duologue.protocol.common.capabilities import UNNAMED
from duologue.protocol.v1 import capabilities as v1
from duologue.protocol.v1 import initialize as v1_initialize
from duologue.protocol.v2 import capabilities as v2
from duologue.protocol.v2 import initialize as v2_initialize

#: The member of `_meta` by which a v1 client says that it shows terminals of tool calls.
TERMINAL_OUTPUT = "terminal_output"


# --- Client to agent -------------------------------------------------------------------------------------------------


def initialize_down(memory: ConnectionMemory, request: v2_initialize.InitializeRequest) -> Any:
    return v1_initialize.InitializeRequest(
        protocol_version=1,
        client_capabilities=client_down(memory.client, request.capabilities or v2.ClientCapabilities()),
        client_info=request.info,
        meta=request.meta,
    )


def client_down(extras: ClientExtras, offered: v2.ClientCapabilities) -> v1.ClientCapabilities:
    switch = v1.BooleanConfigOptionCapabilities()
    options = v1.SessionConfigOptionsCapabilities(boolean=switch)
    meta = {**(offered.meta or {}), TERMINAL_OUTPUT: True} if extras.terminal_output else offered.meta
    return v1.ClientCapabilities(
        fs=v1.FileSystemCapabilities(read_text_file=extras.read_text_file, write_text_file=extras.write_text_file),
        terminal=extras.terminal,
        session=v1.ClientSessionCapabilities(config_options=options) if extras.boolean_options else UNSET,
        plan=v1.PlanCapabilities() if extras.plans else UNSET,
        auth=_client_auth_down(offered.auth),
        elicitation=offered.elicitation,
        nes=offered.nes,
        position_encodings=offered.position_encodings,
        meta=meta,
    )


def _client_auth_down(auth: Any) -> Any:
    if not isinstance(auth, v2.AuthCapabilities):
        return UNSET
    terminal = True if isinstance(auth.terminal, v2.TerminalAuthCapabilities) else UNSET
    return v1.AuthCapabilities(terminal=terminal, meta=auth.meta)


def initialize_up(memory: ConnectionMemory, request: v1_initialize.InitializeRequest) -> Any:
    offered = request.client_capabilities or v1.ClientCapabilities()
    memory.client = client_extras(offered)
    return v2_initialize.InitializeRequest(
        protocol_version=request.protocol_version,
        info=request.client_info or UNNAMED,
        capabilities=client_up(offered),
        meta=request.meta,
    )


def client_extras(offered: v1.ClientCapabilities) -> ClientExtras:
    """What only v1 lets a client say."""
    files = offered.fs or v1.FileSystemCapabilities()
    options = offered.session.config_options if offered.session else None
    return ClientExtras(
        read_text_file=files.read_text_file is True,
        write_text_file=files.write_text_file is True,
        terminal=offered.terminal is True,
        boolean_options=bool(options and isinstance(options.boolean, v1.BooleanConfigOptionCapabilities)),
        plans=isinstance(offered.plan, v1.PlanCapabilities),
        terminal_output=bool(offered.meta and offered.meta.get(TERMINAL_OUTPUT) is True),
    )


def client_up(offered: v1.ClientCapabilities) -> v2.ClientCapabilities:
    auth: Any = UNSET
    if offered.auth:
        terminal = v2.TerminalAuthCapabilities() if offered.auth.terminal is True else UNSET
        auth = v2.AuthCapabilities(terminal=terminal, meta=offered.auth.meta)
    meta = {name: value for name, value in (offered.meta or {}).items() if name != TERMINAL_OUTPUT}
    return v2.ClientCapabilities(
        auth=auth,
        elicitation=offered.elicitation,
        nes=offered.nes,
        position_encodings=offered.position_encodings,
        meta=meta or UNSET,
    )


# --- Agent to client -------------------------------------------------------------------------------------------------


def initialized_down(memory: ConnectionMemory, answer: v2_initialize.InitializeResponse) -> Any:
    methods = answer.auth_methods or []
    return v1_initialize.InitializeResponse(
        protocol_version=1,
        agent_capabilities=agent_down(memory.agent, answer.capabilities or v2.AgentCapabilities(), bool(methods)),
        auth_methods=[method_down(method) for method in methods],
        agent_info=answer.info,
        meta=answer.meta,
    )


def agent_down(extras: AgentExtras, offered: v2.AgentCapabilities, logs_in: bool) -> v1.AgentCapabilities:
    """v1's markers. With `session` an agent has load, list, resume and close; with a login it has a logout."""
    session = offered.session or None
    auth = offered.auth or None
    logout = v1.LogoutCapabilities() if logs_in and extras.logout else UNSET
    return v1.AgentCapabilities(
        load_session=session is not None and extras.load,
        prompt_capabilities=_prompt_down(session.prompt if session else None),
        mcp_capabilities=_mcp_down(extras, session.mcp if session else None),
        session_capabilities=_session_down(extras, session) if session else UNSET,
        auth=v1.AgentAuthCapabilities(logout=logout, meta=auth.meta if auth else UNSET) if logs_in or auth else UNSET,
        providers=offered.providers,
        nes=offered.nes,
        position_encoding=offered.position_encoding,
        meta=offered.meta,
    )


def _prompt_down(prompt: Any) -> v1.PromptCapabilities:
    if not prompt:
        return v1.PromptCapabilities()
    return v1.PromptCapabilities(
        image=isinstance(prompt.image, v2.PromptImageCapabilities),
        audio=isinstance(prompt.audio, v2.PromptAudioCapabilities),
        embedded_context=isinstance(prompt.embedded_context, v2.PromptEmbeddedContextCapabilities),
        meta=prompt.meta,
    )


def _mcp_down(extras: AgentExtras, mcp: Any) -> v1.McpCapabilities:
    if not mcp:
        return v1.McpCapabilities(sse=extras.sse)
    return v1.McpCapabilities(
        http=isinstance(mcp.http, v2.McpHttpCapabilities),
        sse=extras.sse,
        acp=isinstance(mcp.acp, v2.McpAcpCapabilities),
        meta=mcp.meta,
    )


def _session_down(extras: AgentExtras, session: v2.SessionCapabilities) -> v1.SessionCapabilities:
    return v1.SessionCapabilities(
        list=v1.SessionListCapabilities() if extras.list else UNSET,
        resume=v1.SessionResumeCapabilities() if extras.resume else UNSET,
        close=v1.SessionCloseCapabilities() if extras.close else UNSET,
        delete=session.delete,
        additional_directories=session.additional_directories,
        fork=session.fork,
        meta=session.meta,
    )


def initialized_up(memory: ConnectionMemory, answer: v1_initialize.InitializeResponse) -> Any:
    offered = answer.agent_capabilities or v1.AgentCapabilities()
    memory.agent = agent_extras(offered)
    methods = answer.auth_methods
    return v2_initialize.InitializeResponse(
        protocol_version=answer.protocol_version,
        info=answer.agent_info or UNNAMED,
        capabilities=agent_up(offered),
        auth_methods=[method_up(method) for method in methods] if isinstance(methods, list) else UNSET,
        meta=answer.meta,
    )


def agent_extras(offered: v1.AgentCapabilities) -> AgentExtras:
    """What only v1 lets an agent say."""
    session = offered.session_capabilities or v1.SessionCapabilities()
    return AgentExtras(
        sse=bool(offered.mcp_capabilities and offered.mcp_capabilities.sse is True),
        load=offered.load_session is True,
        list=isinstance(session.list, v1.SessionListCapabilities),
        resume=isinstance(session.resume, v1.SessionResumeCapabilities),
        close=isinstance(session.close, v1.SessionCloseCapabilities),
        logout=bool(offered.auth and isinstance(offered.auth.logout, v1.LogoutCapabilities)),
    )


def agent_up(offered: v1.AgentCapabilities) -> v2.AgentCapabilities:
    """v2's markers: every v1 agent has sessions and starts MCP servers of its own."""
    session = offered.session_capabilities or v1.SessionCapabilities()
    return v2.AgentCapabilities(
        session=v2.SessionCapabilities(
            prompt=_prompt_up(offered.prompt_capabilities or v1.PromptCapabilities()),
            mcp=_mcp_up(offered.mcp_capabilities or v1.McpCapabilities()),
            delete=session.delete,
            additional_directories=session.additional_directories,
            fork=session.fork,
            meta=session.meta,
        ),
        auth=v2.AgentAuthCapabilities(meta=offered.auth.meta) if offered.auth else UNSET,
        providers=offered.providers,
        nes=offered.nes,
        position_encoding=offered.position_encoding,
        meta=offered.meta,
    )


def _prompt_up(prompt: v1.PromptCapabilities) -> v2.PromptCapabilities:
    return v2.PromptCapabilities(
        image=v2.PromptImageCapabilities() if prompt.image is True else UNSET,
        audio=v2.PromptAudioCapabilities() if prompt.audio is True else UNSET,
        embedded_context=v2.PromptEmbeddedContextCapabilities() if prompt.embedded_context is True else UNSET,
        meta=prompt.meta,
    )


def _mcp_up(mcp: v1.McpCapabilities) -> v2.McpCapabilities:
    return v2.McpCapabilities(
        stdio=v2.McpStdioCapabilities(),
        http=v2.McpHttpCapabilities() if mcp.http is True else UNSET,
        acp=v2.McpAcpCapabilities() if mcp.acp is True else UNSET,
        meta=mcp.meta,
    )
