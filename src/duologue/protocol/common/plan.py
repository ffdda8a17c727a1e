"""Plans, as far as both versions agree."""

from __future__ import annotations

from duologue.protocol.base import Extensible, OpenEnum
from duologue.protocol.common.ids import PlanId


class PlanEntryPriority(OpenEnum):
    """How much a step matters."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class PlanFile(Extensible, kw_only=True):
    """A plan that is kept in a file."""

    plan_id: PlanId
    uri: str


class PlanMarkdown(Extensible, kw_only=True):
    """A plan written as Markdown."""

    plan_id: PlanId
    content: str


class PlanRemoved(Extensible, kw_only=True):
    """A plan that no longer counts."""

    plan_id: PlanId


class FilePlan(PlanFile, tag_field="type", tag="file", kw_only=True):
    """A plan kept in a file."""


class MarkdownPlan(PlanMarkdown, tag_field="type", tag="markdown", kw_only=True):
    """A plan written as Markdown."""
