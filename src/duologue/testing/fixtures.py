"""Fixtures for pytest: ``pytest_plugins = ["duologue.testing.fixtures"]`` in a conftest enables them.

They need pytest and pytest-asyncio, which nothing else of Duologue does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Literal

try:
    import pytest
    import pytest_asyncio
except ImportError as error:
    raise ImportError(
        "duologue.testing.fixtures needs pytest and pytest-asyncio: pip install pytest pytest-asyncio", name=error.name
    ) from error

from duologue.client import ClientConnection
from duologue.testing.faults import FAULTS, Fault
from duologue.testing.joining import connected
from duologue.testing.wire import Wire


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def acp_version(request: pytest.FixtureRequest) -> Literal[1, 2]:
    """Each version of the protocol: the test runs in both."""
    return 1 if request.param == 1 else 2


@pytest_asyncio.fixture
async def acp_connected(acp_version: Literal[1, 2]) -> AsyncIterator[Callable[..., Awaitable[ClientConnection]]]:
    """`connected` for the rest of the test, in each version: ``connection = await acp_connected(agent, client)``."""
    async with AsyncExitStack() as until_end:

        async def join(*sides: object, **options: object) -> ClientConnection:
            joined = connected(*sides, **{"protocol": acp_version, **options})  # type: ignore[arg-type]
            return await until_end.enter_async_context(joined)

        yield join


@pytest_asyncio.fixture
async def acp_wire() -> AsyncIterator[Wire]:
    """An open `Wire`, closed after the test. Give its `far` end to what is under test."""
    async with Wire() as wire:
        yield wire


@pytest.fixture(params=[name for name, each in FAULTS.items() if each.survivable])
def acp_fault(request: pytest.FixtureRequest) -> Fault:
    """Each survivable fault: a sound peer goes on as if nothing had happened."""
    return FAULTS[request.param]()
