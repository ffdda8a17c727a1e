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


class TerminalAuthCapabilities(Extensible):
    """The client can log in through a terminal."""


class AuthCapabilities(Extensible):
    """The kinds of login that the client can do."""

    terminal: Maybe[TerminalAuthCapabilities] = UNSET


class ClientCapabilities(Extensible):
    """What the client can do for the agent."""

    auth: Maybe[AuthCapabilities] = UNSET
    elicitation: Maybe[ElicitationCapabilities] = UNSET
    nes: Maybe[ClientNesCapabilities] = UNSET
    position_encodings: Opt[Items[PositionEncodingKind]] = UNSET


class PromptImageCapabilities(Extensible):
    """A prompt may hold images."""


class PromptAudioCapabilities(Extensible):
    """A prompt may hold sounds."""


class PromptEmbeddedContextCapabilities(Extensible):
    """A prompt may hold resources."""


class PromptCapabilities(Extensible):
    """What a prompt may hold, apart from text and links."""

    image: Maybe[PromptImageCapabilities] = UNSET
    audio: Maybe[PromptAudioCapabilities] = UNSET
    embedded_context: Maybe[PromptEmbeddedContextCapabilities] = UNSET


class McpStdioCapabilities(Extensible):
    """MCP servers can be started as processes."""


class McpHttpCapabilities(Extensible):
    """MCP servers can be reached over streamable HTTP."""


class McpAcpCapabilities(Extensible):
    """MCP servers can be reached through this connection."""


class McpCapabilities(Extensible):
    """The ways to reach an MCP server."""

    stdio: Maybe[McpStdioCapabilities] = UNSET
    http: Maybe[McpHttpCapabilities] = UNSET
    acp: Maybe[McpAcpCapabilities] = UNSET


class SessionCapabilities(Extensible):
    """The agent has sessions, with these extras."""

    prompt: Maybe[PromptCapabilities] = UNSET
    mcp: Maybe[McpCapabilities] = UNSET
    delete: Maybe[SessionDeleteCapabilities] = UNSET
    additional_directories: Maybe[SessionAdditionalDirectoriesCapabilities] = UNSET
    fork: Maybe[SessionForkCapabilities] = UNSET


class AgentAuthCapabilities(Extensible):
    """What the agent can do about logins."""


class AgentCapabilities(Extensible):
    """What the agent can do for the client."""

    session: Maybe[SessionCapabilities] = UNSET
    auth: Maybe[AgentAuthCapabilities] = UNSET
    providers: Maybe[ProvidersCapabilities] = UNSET
    nes: Maybe[NesCapabilities] = UNSET
    position_encoding: Maybe[PositionEncodingKind] = UNSET
