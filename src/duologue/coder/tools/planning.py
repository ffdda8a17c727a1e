"""`update_plan` and `set_title`: they only tell, so nobody is asked and no call is shown."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from duologue.coder.conversation import TITLE_CHARACTERS
from duologue.coder.errors import BadArguments
from duologue.coder.events import PlanChanged, PlanItem, PlanPriority, PlanStatus, TitleChanged
from duologue.coder.texts import shorten
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool


class Item(Arguments, frozen=True):
    content: Annotated[str, Meta(min_length=1, max_length=1000, description="What is to be done.")]
    status: PlanStatus
    priority: PlanPriority = "medium"


class UpdatePlan(Arguments, frozen=True):
    items: Annotated[list[Item], Meta(max_length=100, description="The whole plan as it is now.")]


@tool(
    "update_plan",
    "Show the plan of a longer task and how far it is. Always send all items; at most one is in progress.",
    "think",
    UpdatePlan,
)
async def update_plan(arguments: UpdatePlan, context: Context) -> Plan:
    items = tuple(PlanItem(item.content, item.status, item.priority) for item in arguments.items)

    async def perform(call: str) -> Outcome:
        await context.emit(PlanChanged(items))
        return Outcome("The plan is shown.")

    return Plan("Update the plan", None, perform, quiet=True)


class SetTitle(Arguments, frozen=True):
    title: Annotated[str, Meta(description="A few words that name the task.")]


@tool("set_title", "Name the conversation.", "think", SetTitle)
async def set_title(arguments: SetTitle, context: Context) -> Plan:
    title = shorten(arguments.title, TITLE_CHARACTERS)
    if not title:
        raise BadArguments("the title is empty")

    async def perform(call: str) -> Outcome:
        await context.emit(TitleChanged(title))
        return Outcome("The title is set.")

    return Plan("Set the title", None, perform, quiet=True)
