"""The handshake of version 2."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Opt, default
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.common.ids import ProtocolVersion
from duologue.protocol.v2.auth import AuthMethod
from duologue.protocol.v2.capabilities import AgentCapabilities, ClientCapabilities


class InitializeRequest(Extensible, kw_only=True):
    """Offers a protocol version and tells who the client is and what it can do."""

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: Annotated[Opt[ClientCapabilities], default({})] = UNSET


class InitializeResponse(Extensible, kw_only=True):
    """Settles the protocol version and tells who the agent is and what it can do."""

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: Annotated[Opt[AgentCapabilities], default({})] = UNSET
    auth_methods: Opt[Items[AuthMethod]] = UNSET
