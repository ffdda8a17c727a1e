"""Requests that are too long for rules are refused at once: they must not hold up everything else."""

from __future__ import annotations

import pytest

from duologue.coder.models.base import ModelRequest, TextDelta, UserMessage
from duologue.coder.models.offline import OfflineModel
from duologue.coder.models.offline.answer import REQUEST_CHARACTERS
from duologue.coder.models.offline.intents import understand
from duologue.coder.models.offline.intents.steps import Unknown


@pytest.mark.parametrize("text", ["add a\n" * 100_000, "x y " * 2_000_000])
async def test_a_request_beyond_the_limit_is_not_read(text: str) -> None:
    request = ModelRequest("c", "", (UserMessage(text),), (), "/tmp")
    said = "".join([event.text async for event in OfflineModel().stream(request) if isinstance(event, TextDelta)])
    assert f"at most {REQUEST_CHARACTERS}" in said


def test_a_text_of_very_many_parts_is_no_list_of_things_to_do() -> None:
    assert isinstance(understand("add a\n" * 200)[0], Unknown)
