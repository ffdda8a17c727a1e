"""What the two sides of version 2 announce."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Maybe, Opt
from duologue.protocol.common.capabilities import (
    ElicitationCapabilities,
    PositionEncodingKind,
    ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
)
from duologue.protocol.common.nes_capabilities import ClientNesCapabilities, NesCapabilities


class TerminalAuthCapabilities(Extensible, kw_only=True):
    """The client can log in through a terminal."""


class AuthCapabilities(Extensible, kw_only=True):
    """The kinds of login that the client can do."""

    terminal: Maybe[TerminalAuthCapabilities] = UNSET


class ClientCapabilities(Extensible, kw_only=True):
    """What the client can do for the agent."""

    auth: Maybe[AuthCapabilities] = UNSET
    elicitation: Maybe[ElicitationCapabilities] = UNSET
    nes: Maybe[ClientNesCapabilities] = UNSET
    position_encodings: Opt[Items[PositionEncodingKind]] = UNSET


class PromptImageCapabilities(Extensible, kw_only=True):
    """A prompt may hold images."""


class PromptAudioCapabilities(Extensible, kw_only=True):
    """A prompt may hold sounds."""


class PromptEmbeddedContextCapabilities(Extensible, kw_only=True):
    """A prompt may hold resources."""


class PromptCapabilities(Extensible, kw_only=True):
    """What a prompt may hold, apart from text and links."""

    image: Maybe[PromptImageCapabilities] = UNSET
    audio: Maybe[PromptAudioCapabilities] = UNSET
    embedded_context: Maybe[PromptEmbeddedContextCapabilities] = UNSET


class McpStdioCapabilities(Extensible, kw_only=True):
    """MCP servers can be started as processes."""


class McpHttpCapabilities(Extensible, kw_only=True):
    """MCP servers can be reached over streamable HTTP."""


class McpAcpCapabilities(Extensible, kw_only=True):
    """MCP servers can be reached through this connection."""


class McpCapabilities(Extensible, kw_only=True):
    """The ways to reach an MCP server."""

    stdio: Maybe[McpStdioCapabilities] = UNSET
    http: Maybe[McpHttpCapabilities] = UNSET
    acp: Maybe[McpAcpCapabilities] = UNSET


class SessionCapabilities(Extensible, kw_only=True):
    """The agent has sessions, with these extras."""

    prompt: Maybe[PromptCapabilities] = UNSET
    mcp: Maybe[McpCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    fork: Maybe[SessionForkCapabilities] = UNSET


class AgentAuthCapabilities(Extensible, kw_only=True):
    """What the agent can do about logins."""


class AgentCapabilities(Extensible, kw_only=True):
    """What the agent can do for the client."""

    session: Maybe[SessionCapabilities] = UNSET
    auth: Maybe[AgentAuthCapabilities] = UNSET
    providers: Maybe[ProvidersCapabilities] = UNSET
    nes: Maybe[NesCapabilities] = UNSET
    position_encoding: Maybe[PositionEncodingKind] = UNSET
