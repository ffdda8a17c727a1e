"""The programs of the pages about what there is beside chat sessions: suggestions, MCP over ACP, providers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from duologue.testing import connected

Page = Callable[[str], ModuleType]
Protocol = Literal[1, 2]

both = pytest.mark.parametrize("protocol", [1, 2])


@both
async def test_the_brackets_are_closed(page: Page, protocol: Protocol) -> None:
    nes = page("nes")
    async with connected(nes.BracketAgent(), nes.Editor(), protocol=protocol) as connection:
        assert await nes.complete(connection, "file:///a.py", "print((1 + 2") == "print((1 + 2))"
        assert await nes.complete(connection, "file:///a.py", "print()") == "print()"


@both
async def test_the_agent_sees_the_tools_of_the_editor(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    mcp = page("mcp")
    async with connected(mcp.Caller(), protocol=protocol) as connection:
        assert await mcp.ask(connection, tmp_path, "which tools?") == "editor: selection"


async def test_files_are_lent_in_version_2(page: Page, tmp_path: Path) -> None:
    mcp = page("mcp")
    async with connected(mcp.Caller(), mcp.Desk(), protocol=2) as connection:
        said = await mcp.ask(connection, tmp_path, "which tools?")
        assert said == "editor: selectionclient-files: read_text_file, write_text_file"


@both
async def test_the_provider_is_pointed_elsewhere(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    providers = page("providers")
    async with connected(providers.Routed(), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        assert await session.prompt("hello").text() == "I would ask https://models.example/v1."
        await providers.through_a_proxy(connection, "https://proxy.example")
        assert await session.prompt("hello").text() == "I would ask https://proxy.example."
