"""Model providers that the client can point elsewhere: the table an agent keeps, and the methods about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from duologue.peer.errors import wrong_params
from duologue.peer.overriding import check_instance, check_overrides
from duologue.protocol.common.capabilities import ProvidersCapabilities
from duologue.protocol.common.providers import (
    DisableProviderRequest,
    DisableProviderResponse,
    ListProvidersRequest,
    ListProvidersResponse,
    LlmProtocol,
    ProviderCurrentConfig,
    ProviderInfo,
    SetProviderRequest,
    SetProviderResponse,
)
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.peer import Peer, Scope


class Endpoint(msgspec.Struct, frozen=True):
    """Where the requests of a provider go, and the headers to send with each, which no client is ever told."""

    api_type: LlmProtocol
    base_url: str
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"Endpoint(api_type={self.api_type.value!r}, base_url={self.base_url!r}, headers=***)"


class Provider(msgspec.Struct, frozen=True):
    """A provider that can be configured: the protocols it may be spoken to in, where it goes at first (None: it is
    switched off), and whether the agent cannot do without it."""

    id: str
    supported: Sequence[LlmProtocol]
    endpoint: Endpoint | None = None
    required: bool = False


class Providers:
    """The providers of an agent, by id; set ``Agent.providers`` to an instance.

    ``providers[id]`` is the endpoint to use for what is asked next, or None when the provider is switched off and gets
    no request. What the client sets is held in memory alone. Override `changed` to hear of it, or to refuse it.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_overrides(cls, Providers)

    def __init__(self, *providers: Provider) -> None:
        for provider in providers:
            check_instance(provider, Provider, "Providers")
        self._providers = {provider.id: provider for provider in providers}
        self._endpoints = {provider.id: provider.endpoint for provider in providers}

    def __getitem__(self, provider_id: str) -> Endpoint | None:
        """Raises `KeyError` (there is no such provider)."""
        return self._endpoints[provider_id]

    async def changed(self, provider_id: str, endpoint: Endpoint | None) -> None:
        """The client points a provider elsewhere, or switches it off (None). Raise `RpcError` to leave it as it is."""

    # --- what the client asks -----------------------------------------------------------------------------------------

    def register(self, peer: Peer) -> None:
        """Answer `providers/*` of a connection."""
        peer.handle(v2.PROVIDERS_LIST, self._list)
        peer.handle(v2.PROVIDERS_SET, self._set)
        peer.handle(v2.PROVIDERS_DISABLE, self._disable)

    def introduce(self) -> dict[str, Any]:
        """The members of the agent's capabilities that announce this."""
        return {"providers": ProvidersCapabilities()}

    async def _list(self, params: ListProvidersRequest, scope: Scope) -> ListProvidersResponse:
        return ListProvidersResponse(providers=[self._told(provider) for provider in self._providers.values()])

    def _told(self, provider: Provider) -> ProviderInfo:
        now = self._endpoints[provider.id]
        return ProviderInfo(
            provider_id=provider.id,
            supported=list(provider.supported),
            required=provider.required,
            current=None if now is None else ProviderCurrentConfig(api_type=now.api_type, base_url=now.base_url),
        )

    async def _set(self, params: SetProviderRequest, scope: Scope) -> SetProviderResponse:
        provider = self._providers.get(params.provider_id)
        if provider is None:
            raise wrong_params(f"no such provider: {params.provider_id}", "providerId")
        if params.api_type not in provider.supported:
            spoken = ", ".join(provider.supported)
            raise wrong_params(f"{provider.id} speaks {spoken}, not {params.api_type}", "apiType")
        if not _is_http(params.base_url):
            raise wrong_params("baseUrl must be an http or https URL with a host", "baseUrl")
        headers = {} if params.headers is UNSET else params.headers
        assert isinstance(headers, dict)
        await self._change(provider.id, Endpoint(params.api_type, params.base_url, headers))
        return SetProviderResponse()

    async def _disable(self, params: DisableProviderRequest, scope: Scope) -> DisableProviderResponse:
        provider = self._providers.get(params.provider_id)
        if provider is not None and provider.required:
            raise wrong_params(f"{provider.id} is required and cannot be switched off", "providerId")
        if provider is not None:
            await self._change(provider.id, None)
        return DisableProviderResponse()

    async def _change(self, provider_id: str, endpoint: Endpoint | None) -> None:
        await self.changed(provider_id, endpoint)
        self._endpoints[provider_id] = endpoint


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False
