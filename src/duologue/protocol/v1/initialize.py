"""The handshake of version 1."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Maybe, Opt, default
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.common.ids import ProtocolVersion
from duologue.protocol.v1.auth import AuthMethod
from duologue.protocol.v1.capabilities import AgentCapabilities, ClientCapabilities


class InitializeRequest(Extensible, kw_only=True):
    """Offers a protocol version and tells what the client can do."""

    protocol_version: ProtocolVersion
    client_capabilities: Annotated[Opt[ClientCapabilities], default({})] = UNSET
    client_info: Maybe[Implementation] = UNSET


class InitializeResponse(Extensible, kw_only=True):
    """Settles the protocol version and tells what the agent can do."""

    protocol_version: ProtocolVersion
    agent_capabilities: Annotated[Opt[AgentCapabilities], default({})] = UNSET
    auth_methods: Annotated[Opt[Items[AuthMethod]], default([])] = UNSET
    agent_info: Maybe[Implementation] = UNSET
