"""Plans across the versions: several by id in v2, one list in stable v1."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import Line, agent, client

from duologue.protocol.changes.memory import ClientExtras


def entry(content: str, status: str = "pending", priority: str = "high", **members: Any) -> Any:
    return {"content": content, "priority": priority, "status": status, **members}


def items(plan_id: str, *entries: Any, **members: Any) -> Any:
    plan = {"type": "items", "planId": plan_id, "entries": list(entries), **members}
    return {"sessionUpdate": "plan_update", "plan": plan}


def only(*entries: Any) -> Any:
    return {"sessionUpdate": "plan", "entries": list(entries)}


def plain_agent() -> Line:
    line = agent()
    line.memory.client = ClientExtras(plans=False)
    return line


@pytest.mark.req("v1u-plan-01", "v1-plan-01", "v1-plan-03")
def test_a_client_without_the_capability_gets_one_plan() -> None:
    assert plain_agent().update_out(items("p", entry("a"), entry("b", "completed"))) == [
        only(entry("a"), entry("b", "completed"))
    ]


def test_several_plans_stand_in_one_list_until_they_are_removed() -> None:
    line = plain_agent()
    line.update_out(items("p", entry("a")))
    markdown = {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "m", "content": "# Do"}}
    file = {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "f", "uri": "file:///plan.md"}}
    vendor = {"sessionUpdate": "plan_update", "plan": {"type": "_kanban", "planId": "k", "rows": []}}
    shown = [entry("# Do", "in_progress", "medium"), entry("file:///plan.md", "in_progress", "medium")]
    assert line.update_out(markdown) == [only(entry("a"), shown[0])]
    assert line.update_out(file) == [only(entry("a"), *shown)]
    assert line.update_out(vendor) == [only(entry("a"), *shown)]
    assert line.update_out(items("p", entry("b"))) == [only(entry("b"), *shown)]
    removed = {"sessionUpdate": "plan_removed", "planId": "m"}
    assert line.update_out(removed) == [only(entry("b"), shown[1])]
    assert line.update_out(removed) == []


@pytest.mark.req("v1u-plan-02", "v1u-plan-03")
def test_a_client_with_the_capability_gets_plans_by_id() -> None:
    line, back = agent(), client()
    for said in (
        items("p", entry("a"), _meta={"k": 1}),
        {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "m", "content": "# Do"}},
        {"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "f", "uri": "file:///plan.md"}},
        {"sessionUpdate": "plan_removed", "planId": "p"},
    ):
        assert line.update_out(said) == [said]
        assert back.update_in(said) == [said]
    assert line.update_out({"sessionUpdate": "plan_update", "plan": {"type": "_kanban", "planId": "k"}}) == []


@pytest.mark.req("v1-plan-02")
def test_states_that_v1_does_not_know_are_said_as_nearly_as_it_can() -> None:
    said = items("p", entry("a", "cancelled"), entry("b", "_blocked", "_urgent"), entry("c", _meta={"k": 1}))
    (told,) = agent().update_out(said)
    assert told["plan"]["entries"] == [
        entry("a (cancelled)", "completed"),
        entry("b", "pending", "medium"),
        entry("c", _meta={"k": 1}),
    ]
    assert client().update_in(told) == [told], "and stay so"


@pytest.mark.req("v2-plan-01", "v2-plan-06", "v2-updates-11")
def test_the_plan_of_v1_has_the_same_id_each_time() -> None:
    line = client()
    assert line.update_in(only(entry("a"))) == [items("plan", entry("a"))]
    assert line.update_in(only()) == [items("plan")]
