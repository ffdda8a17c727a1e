"""What an agent has beside its sessions: suggested edits and model providers, announced only if they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from duologue.peer.overriding import check_instance
from duologue.protocol.v2.capabilities import AgentCapabilities, ClientCapabilities
from duologue.protocol.v2.initialize import InitializeResponse

if TYPE_CHECKING:
    from duologue.agent.agent import Agent
    from duologue.agent.nes_serving import NesService
    from duologue.peer import Peer


class Companions:
    """The companions of one agent on one connection."""

    def __init__(self, agent: Agent, peer: Peer) -> None:
        self._providers = agent.providers
        self._nes: NesService | None = None
        if agent.providers is not None:
            from duologue.agent.providers import Providers

            check_instance(agent.providers, Providers, "Agent.providers")
            agent.providers.register(peer)
        if agent.nes is not None:
            # Late: most agents suggest no edits.
            from duologue.agent.nes import Nes
            from duologue.agent.nes_serving import NesService

            check_instance(agent.nes, Nes, "Agent.nes")
            self._nes = NesService(peer, agent.nes)

    def introduce(self, response: InitializeResponse, client: ClientCapabilities) -> InitializeResponse:
        """The agent's introduction with what the companions add to its capabilities, in answer to the client's."""
        more: dict[str, Any] = {}
        if self._providers is not None:
            more |= self._providers.introduce()
        if self._nes is not None:
            more |= self._nes.introduce(client)
        if not more:
            return response
        return replace(response, capabilities=replace(response.capabilities or AgentCapabilities(), **more))

    async def end(self) -> None:
        """The connection has ended."""
        if self._nes is not None:
            await self._nes.end()
