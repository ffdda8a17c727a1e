"""What an agent reads out of `initialize`, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from duologue import codec
from duologue.agent.agent import Agent
from duologue.agent.login import shown_methods
from duologue.jsonrpc.errors import INVALID_PARAMS, RpcError
from duologue.peer.errors import wrong_params
from duologue.protocol.common.capabilities import (
    UNNAMED,
    Implementation,
    SessionAdditionalDirectoriesCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
)
from duologue.protocol.method import Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.capabilities import (
    AgentAuthCapabilities,
    AgentCapabilities,
    ClientCapabilities,
    SessionCapabilities,
)
from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
from duologue.protocol.version import BY_NUMBER, V1, Version, negotiate

if TYPE_CHECKING:
    from duologue.protocol.changes.memory import AgentExtras


def read_initialize(raw: Any) -> tuple[Version, Request[Any, Any], Any]:
    """The version to speak, its `initialize`, and the params in its words. Raises `RpcError` (invalid params)."""
    proposed = _proposed_version(raw)
    version = negotiate(proposed)
    method = version.request(Side.AGENT, v2.INITIALIZE.name)
    assert method is not None
    try:
        return version, method, codec.decode(method.params, raw, at="$.params")
    except codec.CodecError as error:
        if proposed in BY_NUMBER:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}", {"path": error.path}) from None
    # A client of another version is told ours, whatever its params look like.
    return version, method, InitializeRequest(protocol_version=proposed, info=UNNAMED)


class _Proposal(msgspec.Struct):
    protocol_version: Any = msgspec.field(default=None, name="protocolVersion")


def _proposed_version(raw: Any) -> int:
    """The version number of an `initialize`. Raises `RpcError` (invalid params) when there is none."""
    try:
        proposed = codec.decode(_Proposal, raw if raw is not None else b"{}", at="$.params").protocol_version
    except codec.CodecError as error:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {error}", {"path": error.path}) from None
    if isinstance(proposed, bool) or not isinstance(proposed, int) or not 0 <= proposed <= 65535:
        raise wrong_params("protocolVersion must be an integer from 0 to 65535", "protocolVersion")
    return proposed


def introduce(agent: Agent, version: Version, request: InitializeRequest) -> InitializeResponse:
    """What the agent says of itself: what its author has declared or overridden."""
    methods = shown_methods(agent, request.capabilities or ClientCapabilities())
    return InitializeResponse(
        protocol_version=version.number,
        info=Implementation(name=agent.name, version=agent.version, title=agent.title or UNSET),
        capabilities=AgentCapabilities(
            session=_sessions(agent) if agent.announces("prompt") else UNSET,
            auth=AgentAuthCapabilities() if methods else UNSET,
            meta=_vendor(agent.vendor_capabilities()) or UNSET,
        ),
        auth_methods=methods,
    )


def _vendor(said: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise TypeError(f"vendor_capabilities returns a dict, not {type(said).__name__}")
    return dict(said)


def _sessions(agent: Agent) -> SessionCapabilities:
    mcp = agent.mcp_capabilities()
    return SessionCapabilities(
        prompt=agent.prompt_capabilities(),
        mcp=UNSET if mcp is None else mcp,
        delete=SessionDeleteCapabilities() if agent.announces("delete_session") else UNSET,
        fork=SessionForkCapabilities() if agent.announces("fork_session") else UNSET,
        additional_directories=SessionAdditionalDirectoriesCapabilities() if agent.additional_directories else UNSET,
    )


def said_on_wire(answer: InitializeResponse, extras: AgentExtras, version: Version) -> Any:
    """The capabilities of an answer as they stand on the wire, which decide what is served."""
    capabilities = answer.capabilities or AgentCapabilities()
    if version is not V1:
        return capabilities
    from duologue.protocol.changes.capabilities import agent_down

    return agent_down(extras, capabilities, bool(answer.auth_methods))
