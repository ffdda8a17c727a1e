"""Model providers on the agent's side."""

from __future__ import annotations

from typing import Any

import pytest
from agent_kit import Talk
from nes_kit import shake

from duologue.agent import Agent, Endpoint, Provider, Providers, Session, Turn
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.providers import LlmProtocol

SECRET = "Bearer marker-1234"
AT_FIRST = Endpoint(LlmProtocol.OPENAI, "https://models.example/v1", {"authorization": "first"})


class Table(Providers):
    def __init__(self) -> None:
        super().__init__(
            Provider("main", [LlmProtocol.OPENAI, LlmProtocol("_own")], AT_FIRST, required=True),
            Provider("spare", [LlmProtocol.ANTHROPIC]),
        )
        self.log: list[tuple[str, Endpoint | None]] = []

    async def changed(self, provider_id: str, endpoint: Endpoint | None) -> None:
        if endpoint is not None and "refused" in endpoint.base_url:
            raise RpcError(-32602, "not there")
        self.log.append((provider_id, endpoint))


async def begin(version: int, table: Providers) -> Talk:
    agent = Agent()
    agent.providers = table
    talk = await Talk.open(agent, version)
    capabilities = await shake(talk)
    assert capabilities["providers"] == {}
    return talk


def setting(id: str, api: str, url: str, **more: Any) -> dict[str, Any]:
    return {"providerId": id, "apiType": api, "baseUrl": url, **more}


@pytest.mark.req("allu-providers-02")
async def test_an_agent_without_providers_neither_announces_nor_answers(version: int) -> None:
    talk = await Talk.open(Agent(), version)
    assert "providers" not in await shake(talk)
    for method, params in (
        ("providers/list", {}),
        ("providers/set", setting("a", "openai", "http://x")),
        ("providers/disable", {"providerId": "a"}),
    ):
        assert (await talk.ask(method, params))["error"]["code"] == -32601


@pytest.mark.req("allu-providers-03", "allu-providers-05", "allu-providers-12")
async def test_the_list_tells_where_each_one_goes_and_no_header(version: int) -> None:
    talk = await begin(version, Table())
    answer = await talk.ask("providers/list", {})
    assert answer["result"]["providers"] == [
        {
            "providerId": "main",
            "supported": ["openai", "_own"],
            "required": True,
            "current": {"apiType": "openai", "baseUrl": "https://models.example/v1"},
        },
        {"providerId": "spare", "supported": ["anthropic"], "required": False, "current": None},
    ]


@pytest.mark.req("allu-providers-04", "allu-providers-05", "allu-providers-06", "allu-providers-12")
async def test_setting_replaces_all_and_disabling_switches_off(version: int) -> None:
    table = Table()
    talk = await begin(version, table)
    first = setting("spare", "anthropic", "https://proxy.example", headers={"x-key": SECRET})
    assert (await talk.ask("providers/set", first))["result"] == {}
    assert table["spare"] == Endpoint(LlmProtocol.ANTHROPIC, "https://proxy.example", {"x-key": SECRET})
    assert SECRET not in repr(table["spare"])
    await talk.ask("providers/list", {})
    assert (await talk.ask("providers/set", setting("spare", "anthropic", "https://b.example")))["result"] == {}
    assert table["spare"] == Endpoint(LlmProtocol.ANTHROPIC, "https://b.example", {})
    assert (await talk.ask("providers/disable", {"providerId": "spare"}))["result"] == {}
    assert table["spare"] is None and table["main"] == AT_FIRST
    listed = (await talk.ask("providers/list", {}))["result"]["providers"]
    assert [(entry["providerId"], entry["current"] is None) for entry in listed] == [("main", False), ("spare", True)]
    assert SECRET not in str(talk.seen)
    assert [name for name, _ in table.log] == ["spare"] * 3


@pytest.mark.req("allu-providers-07", "allu-providers-08")
async def test_what_cannot_be_is_refused_and_changes_nothing(version: int) -> None:
    table = Table()
    talk = await begin(version, table)
    wrong = [
        ("providers/set", setting("other", "openai", "https://x"), "providerId"),
        ("providers/set", setting("main", "anthropic", "https://x"), "apiType"),
        ("providers/set", setting("main", "openai", "ftp://x"), "baseUrl"),
        ("providers/set", setting("main", "openai", "http://[x"), "baseUrl"),
        ("providers/set", setting("main", "openai", "/v1"), "baseUrl"),
        ("providers/disable", {"providerId": "main"}, "providerId"),
    ]
    for method, params, member in wrong:
        error = (await talk.ask(method, params))["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, f"$.params.{member}")
    for params in ({"providerId": "main"}, setting("main", "openai", "https://x", headers=["a"])):
        assert (await talk.ask("providers/set", params))["error"]["code"] == -32602
    refused = await talk.ask("providers/set", setting("main", "openai", "https://refused.example"))
    assert refused["error"]["message"] == "not there"
    assert table["main"] == AT_FIRST and table.log == []


@pytest.mark.req("allu-providers-11")
async def test_switching_off_what_is_not_there_succeeds(version: int) -> None:
    table = Table()
    talk = await begin(version, table)
    assert (await talk.ask("providers/disable", {"providerId": "nobody"}))["result"] == {}
    assert table.log == []
    with pytest.raises(KeyError):
        table["nobody"]


@pytest.mark.req("allu-providers-15")
async def test_a_protocol_of_a_vendor_is_taken(version: int) -> None:
    table = Table()
    talk = await begin(version, table)
    assert (await talk.ask("providers/set", setting("main", "_own", "http://localhost:1")))["result"] == {}
    assert table["main"] == Endpoint(LlmProtocol("_own"), "http://localhost:1")


@pytest.mark.req("allu-providers-14")
async def test_what_a_client_sets_is_gone_with_the_agent(version: int) -> None:
    talk = await begin(version, Table())
    await talk.ask("providers/set", setting("spare", "anthropic", "https://b.example"))
    again = await begin(version, Table())
    listed = (await again.ask("providers/list", {}))["result"]["providers"]
    assert listed[1]["current"] is None


@pytest.mark.req("allu-providers-13", "allu-providers-04")
async def test_a_session_that_is_opened_after_a_change_uses_it(version: int) -> None:
    class Routed(Agent):
        async def prompt(self, turn: Turn) -> None:
            pass

        async def new_session(self, session: Session) -> None:
            assert self.providers is not None
            used.append(self.providers["spare"])

    used: list[Endpoint | None] = []
    agent = Routed()
    agent.providers = Table()
    talk = await Talk.open(agent, version)
    await shake(talk)
    await talk.new()
    await talk.ask("providers/set", setting("spare", "anthropic", "https://b.example"))
    await talk.new()
    await talk.ask("providers/disable", {"providerId": "spare"})
    await talk.new()
    assert used == [None, Endpoint(LlmProtocol.ANTHROPIC, "https://b.example"), None]
