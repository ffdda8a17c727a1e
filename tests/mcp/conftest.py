"""Both versions, and no connection that outlives its test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from wire import close_all


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(autouse=True)
async def _closed_afterwards() -> AsyncIterator[None]:
    yield
    await close_all()
