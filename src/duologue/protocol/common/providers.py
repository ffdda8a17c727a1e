"""Choosing the endpoint of a model provider."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Items, Lenient, OpenEnum, Secretive
from duologue.protocol.common.ids import ProviderId


class LlmProtocol(OpenEnum):
    """The API that a model provider speaks."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    AZURE = "azure"
    VERTEX = "vertex"
    BEDROCK = "bedrock"


class ProviderCurrentConfig(Extensible, kw_only=True):
    """Where a provider's requests go now."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(Extensible, kw_only=True):
    """A provider, the protocols it can speak, and its present endpoint (null when switched off)."""

    provider_id: ProviderId
    supported: Lenient[Items[LlmProtocol]]
    required: bool
    current: ProviderCurrentConfig | UnsetType | None = UNSET


class ListProvidersRequest(Extensible, kw_only=True):
    """Asks which providers can be configured."""


class ListProvidersResponse(Extensible, kw_only=True):
    """The providers that can be configured."""

    providers: list[ProviderInfo]


class SetProviderRequest(Secretive, kw_only=True):
    """Points a provider at an endpoint, in place of what was there."""

    hidden = frozenset({"headers"})

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: dict[str, str] | UnsetType = UNSET


class SetProviderResponse(Extensible, kw_only=True):
    """The provider is configured."""


class DisableProviderRequest(Extensible, kw_only=True):
    """Switches a provider off."""

    provider_id: ProviderId


class DisableProviderResponse(Extensible, kw_only=True):
    """The provider is off."""
