"""Refusing a prompt that holds what the agent has not offered to take."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.peer.errors import wrong_params
from duologue.protocol.v2.capabilities import PromptCapabilities
from duologue.protocol.v2.content import ContentBlock
from duologue.session.blocks import block_problem


def check_prompt(prompt: Sequence[ContentBlock], offered: PromptCapabilities) -> None:
    """Raises `RpcError` (invalid params) for a block that the agent has not offered to take, or does not know."""
    for index, block in enumerate(prompt):
        problem = block_problem(block, offered)
        if problem is not None:
            raise wrong_params(problem, f"prompt[{index}]")
