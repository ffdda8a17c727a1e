"""Plans of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from duologue.protocol.base import OPEN, Extensible, Items, Lenient, OpenEnum, Unknown
from duologue.protocol.common.ids import PlanId
from duologue.protocol.common.plan import FilePlan, MarkdownPlan, PlanEntryPriority


class PlanEntryStatus(OpenEnum):
    """How far a step is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class PlanEntry(Extensible, kw_only=True):
    """A step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(Extensible, kw_only=True):
    """The plan of a session, whole each time."""

    entries: Lenient[Items[PlanEntry]]


class PlanItems(Extensible, kw_only=True):
    """A plan as a list of steps."""

    plan_id: PlanId
    entries: Lenient[Items[PlanEntry]]


class ItemsPlan(PlanItems, tag_field="type", tag="items", kw_only=True):
    """A plan as a list of steps."""


#: A plan in one of its forms.
if TYPE_CHECKING:
    PlanUpdateContent = ItemsPlan | FilePlan | MarkdownPlan | Unknown
else:
    PlanUpdateContent = Annotated[ItemsPlan | FilePlan | MarkdownPlan, OPEN]


class PlanUpdate(Extensible, kw_only=True):
    """The new contents of one plan."""

    plan: PlanUpdateContent
