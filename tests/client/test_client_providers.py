"""Pointing an agent's model providers elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest
from client_kit import Host
from client_nes_kit import offering

from duologue.client import Client, NotOffered
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.providers import LlmProtocol
from wire import PATIENCE

T = TypeVar("T")

LISTED = [
    {
        "providerId": "main",
        "supported": ["openai", "_own", 7],
        "required": True,
        "current": {"apiType": "_own", "baseUrl": "https://x"},
    },
    {"providerId": "spare", "supported": [], "required": False},
]


async def call(host: Host, method: str, result: Any, made: Awaitable[T]) -> tuple[dict[str, Any], T]:
    """Make a call that the agent answers; what was sent, and what it gave."""
    task = asyncio.ensure_future(made)
    request = await host.wire.read_method(method)
    host.answer(request, result)
    return request["params"], await asyncio.wait_for(task, PATIENCE)


@pytest.mark.req("allu-providers-01")
@pytest.mark.parametrize("marker", [{}, {"providers": None}, {"providers": True}])
async def test_an_agent_that_offers_none_is_not_asked(version: int, marker: dict[str, Any]) -> None:
    host = await Host.begin(version, **offering(version, **marker))
    providers = host.connection.providers
    for made in (
        providers.list(),
        providers.set("a", LlmProtocol.OPENAI, "https://x"),
        providers.disable("a"),
    ):
        with pytest.raises(NotOffered, match="providers/"):
            await made
    await host.wire.silence()


@pytest.mark.req("allu-providers-01", "allu-providers-10", "allu-providers-15")
async def test_each_call_before_any_session(version: int) -> None:
    host = Host(version, Client(), None)
    await host.wire.open()
    await host.handshake(**offering(version, providers={}))
    providers = host.connection.providers
    sent, listed = await call(host, "providers/list", {"providers": LISTED}, providers.list())
    assert sent == {}
    assert listed[0].supported == ["openai", "_own"] and listed[0].current and listed[0].current.api_type == "_own"
    assert not listed[1].current
    headers = {"authorization": "Bearer x"}
    made = providers.set("spare", LlmProtocol("_own"), "https://x", headers=headers)
    sent, _ = await call(host, "providers/set", {}, made)
    assert sent == {"providerId": "spare", "apiType": "_own", "baseUrl": "https://x", "headers": headers}
    sent, _ = await call(host, "providers/set", {}, providers.set("spare", LlmProtocol.AZURE, "https://y"))
    assert sent == {"providerId": "spare", "apiType": "azure", "baseUrl": "https://y"}
    sent, _ = await call(host, "providers/disable", None, providers.disable("spare"))
    assert sent == {"providerId": "spare"}


@pytest.mark.req("allu-providers-09")
async def test_a_required_provider_is_not_switched_off(version: int) -> None:
    host = await Host.begin(version, **offering(version, providers={}))
    providers = host.connection.providers
    await call(host, "providers/list", {"providers": LISTED}, providers.list())
    with pytest.raises(ValueError, match="main is required"):
        await providers.disable("main")
    await host.wire.silence()


async def test_a_refusal_reaches_the_caller(version: int) -> None:
    host = await Host.begin(version, **offering(version, providers={}))
    setting = asyncio.create_task(host.connection.providers.set("a", LlmProtocol.OPENAI, "nonsense"))
    host.refuse(await host.wire.read_method("providers/set"), -32602, "no URL")
    with pytest.raises(RpcError, match="no URL"):
        await asyncio.wait_for(setting, PATIENCE)
