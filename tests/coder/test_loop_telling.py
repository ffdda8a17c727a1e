"""Plans, titles and usage, as the loop tells them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from coder_kit import asks, call, make_coder, of, results, says, take_turn

from duologue.coder.events import (
    PlanChanged,
    PlanItem,
    TitleChanged,
    ToolStarted,
    TurnEnded,
    TurnUsage,
    UsageChanged,
)
from duologue.coder.models.base import (
    AssistantMessage,
    StepEnded,
    TextDelta,
    Usage,
)


async def test_a_plan_is_told_and_no_call_is_shown(tmp_path: Path) -> None:
    items = [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress", "priority": "high"}]
    coder = make_coder(tmp_path, asks(call("update_plan", items=items)), says())
    events = await take_turn(coder)
    assert of(events, PlanChanged) == [PlanChanged((PlanItem("a", "completed"), PlanItem("b", "in_progress", "high")))]
    assert not of(events, ToolStarted)
    assert results(coder)[0].ok


@pytest.mark.parametrize(
    "items", [[{"content": "a", "status": "doing"}], [{"content": "a"}], "all", [{"status": "pending"}]]
)
async def test_a_plan_that_does_not_fit_is_not_told(tmp_path: Path, items: Any) -> None:
    coder = make_coder(tmp_path, asks(call("update_plan", items=items)), says())
    events = await take_turn(coder)
    assert not of(events, PlanChanged)
    assert not results(coder)[0].ok


async def test_a_session_is_named_after_its_first_prompt_until_the_model_names_it(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, says(), asks(call("set_title", title=" A\n better  name ")), says())
    long = "Please   fix\nthe bug " + "x" * 100
    events = await take_turn(coder, long) + await take_turn(coder, "more")
    titles = [event.title for event in of(events, TitleChanged)]
    assert titles[0].startswith("Please fix the bug xxx")
    assert len(titles[0]) <= 80
    assert titles[1:] == ["A better name"]
    assert coder.conversation.title == "A better name"


async def test_usage_is_the_context_of_the_last_step_and_the_sum_of_the_turn(tmp_path: Path) -> None:
    first, *rest = asks(call("list_files"))
    one = Usage(100, 10, 5, 50, 20, context_size=1000, cost=0.25)
    two = Usage(200, 20, context_size=1000, cost=0.5)
    coder = make_coder(
        tmp_path, [Usage(1, 1), one, first, *rest], [TextDelta("x"), two, StepEnded(AssistantMessage("x"))]
    )
    events = await take_turn(coder)
    assert of(events, UsageChanged) == [UsageChanged(110, 1000, 0.25), UsageChanged(220, 1000, 0.75)]
    assert events[-1] == TurnEnded("end_turn", TurnUsage(300, 30, 5, 50, 20))


async def test_unknown_usage_is_not_zero_usage(tmp_path: Path) -> None:
    events = await take_turn(make_coder(tmp_path, says()))
    assert events[-1] == TurnEnded("end_turn", None)
    assert not of(events, UsageChanged)


async def test_a_prompt_without_text_gives_no_title(tmp_path: Path) -> None:
    events = await take_turn(make_coder(tmp_path, says()), "  ")
    assert not of(events, TitleChanged)
