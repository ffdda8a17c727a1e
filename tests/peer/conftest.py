"""No connection outlives its test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from wire import close_all


@pytest.fixture(autouse=True)
async def _closed_afterwards() -> AsyncIterator[None]:
    yield
    await close_all()
