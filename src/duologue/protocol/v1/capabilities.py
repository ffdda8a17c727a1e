"""What the two sides of version 1 announce."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Flag, Items, Maybe, Opt, default
from duologue.protocol.common.capabilities import (
    ElicitationCapabilities,
    PositionEncodingKind,
    ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
)
from duologue.protocol.common.nes_capabilities import ClientNesCapabilities, NesCapabilities


class FileSystemCapabilities(Extensible, kw_only=True):
    """Which file methods the client answers."""

    read_text_file: Flag = UNSET
    write_text_file: Flag = UNSET


class BooleanConfigOptionCapabilities(Extensible, kw_only=True):
    """The client can show switches."""


class SessionConfigOptionsCapabilities(Extensible, kw_only=True):
    """The kinds of config option that the client can show, apart from selections."""

    boolean: Maybe[BooleanConfigOptionCapabilities] = UNSET


class ClientSessionCapabilities(Extensible, kw_only=True):
    """What the client can do with a session."""

    config_options: Maybe[SessionConfigOptionsCapabilities] = UNSET


class PlanCapabilities(Extensible, kw_only=True):
    """The client understands plan updates."""


class AuthCapabilities(Extensible, kw_only=True):
    """The kinds of login that the client can do."""

    terminal: Flag = UNSET


class ClientCapabilities(Extensible, kw_only=True):
    """What the client can do for the agent."""

    fs: Annotated[Opt[FileSystemCapabilities], default({})] = UNSET
    terminal: Flag = UNSET
    session: Maybe[ClientSessionCapabilities] = UNSET
    plan: Maybe[PlanCapabilities] = UNSET
    auth: Annotated[Opt[AuthCapabilities], default({})] = UNSET
    elicitation: Maybe[ElicitationCapabilities] = UNSET
    nes: Maybe[ClientNesCapabilities] = UNSET
    position_encodings: Opt[Items[PositionEncodingKind]] = UNSET


class PromptCapabilities(Extensible, kw_only=True):
    """What a prompt may hold, apart from text and links."""

    image: Flag = UNSET
    audio: Flag = UNSET
    embedded_context: Flag = UNSET


class McpCapabilities(Extensible, kw_only=True):
    """The ways to reach an MCP server, apart from stdio."""

    http: Flag = UNSET
    sse: Flag = UNSET
    acp: Flag = UNSET


class SessionListCapabilities(Extensible, kw_only=True):
    """Sessions can be listed."""


class SessionResumeCapabilities(Extensible, kw_only=True):
    """Sessions can be resumed."""


class SessionCloseCapabilities(Extensible, kw_only=True):
    """Sessions can be closed."""


class SessionCapabilities(Extensible, kw_only=True):
    """What can be done with a session, apart from the basics."""

    list: Maybe[SessionListCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    fork: Maybe[SessionForkCapabilities] = UNSET
    resume: Maybe[SessionResumeCapabilities] = UNSET
    close: Maybe[SessionCloseCapabilities] = UNSET


class LogoutCapabilities(Extensible, kw_only=True):
    """The login can be forgotten."""


class AgentAuthCapabilities(Extensible, kw_only=True):
    """What the agent can do about logins."""

    logout: Maybe[LogoutCapabilities] = UNSET


class AgentCapabilities(Extensible, kw_only=True):
    """What the agent can do for the client."""

    load_session: Flag = UNSET
    prompt_capabilities: Annotated[Opt[PromptCapabilities], default({})] = UNSET
    mcp_capabilities: Annotated[Opt[McpCapabilities], default({})] = UNSET
    session_capabilities: Annotated[Opt[SessionCapabilities], default({})] = UNSET
    auth: Annotated[Opt[AgentAuthCapabilities], default({})] = UNSET
    providers: Maybe[ProvidersCapabilities] = UNSET
    nes: Maybe[NesCapabilities] = UNSET
    position_encoding: Maybe[PositionEncodingKind] = UNSET
