"""The model providers of an agent: where their requests go, and pointing them elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue.protocol.common.providers import (
    DisableProviderRequest,
    ListProvidersRequest,
    LlmProtocol,
    ProviderInfo,
    SetProviderRequest,
)
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection


class AgentProviders:
    """Configures the providers of an agent that offers it; do so before sessions are opened, which may keep what they
    began with. Each method raises `NotOffered` and `RpcError`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._required: set[str] = set()

    async def list(self) -> Sequence[ProviderInfo]:
        """The providers; one whose `current` is null or absent is switched off. Headers are never told."""
        self._connection.need(v2.PROVIDERS_LIST)
        response = await self._connection.peer.request(v2.PROVIDERS_LIST, ListProvidersRequest())
        self._required = {provider.provider_id for provider in response.providers if provider.required}
        return response.providers

    async def set(
        self, provider_id: str, api_type: LlmProtocol, base_url: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Point a provider at an endpoint. It replaces all that was set before: without headers there are none."""
        self._connection.need(v2.PROVIDERS_SET)
        request = SetProviderRequest(
            provider_id=provider_id,
            api_type=api_type,
            base_url=base_url,
            headers=UNSET if headers is None else dict(headers),
        )
        await self._connection.peer.request(v2.PROVIDERS_SET, request)

    async def disable(self, provider_id: str) -> None:
        """Switch a provider off. Raises `ValueError` for one that was listed as required."""
        self._connection.need(v2.PROVIDERS_DISABLE)
        if provider_id in self._required:
            raise ValueError(f"{provider_id} is required and cannot be switched off")
        await self._connection.peer.request(v2.PROVIDERS_DISABLE, DisableProviderRequest(provider_id=provider_id))
