"""Plans."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.row import AGENT, BOTH, CLIENT, row

ROWS = (
    row(
        "all-plan-01",
        AGENT,
        "SHOULD",
        "agent-plan",
        "A plan that the model makes is shown, and so is its progress.",
        agent=Reason.MODEL,
    ),
    row("v1-plan-01", AGENT, "SHAPE", "schema", "A plan has entries, each with content, priority and status."),
    row(
        "v1-plan-02",
        AGENT,
        "SHAPE",
        "schema",
        "A priority is high, medium or low; a status pending, in_progress or completed.",
    ),
    row(
        "v1-plan-03",
        AGENT,
        "MUST",
        "agent-plan",
        "Each update of a plan has all entries as they are now.",
        agent=Reason.RECORDING,
    ),
    row("v1-plan-04", CLIENT, "MUST", "agent-plan", "A new plan replaces the shown one.", client=Reason.SCREEN),
    row("all-plan-02", CLIENT, "SHAPE", "schema", "A bad entry is passed over and the others kept."),
    row(
        "v1u-plan-01",
        AGENT,
        "MUST NOT",
        "draft-agent-plan",
        "plan_update and plan_removed go only to clients with the capability plan.",
    ),
    row(
        "v1u-plan-02",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "plan_update has plan with a type (items, markdown or file) and a planId.",
    ),
    row(
        "v1u-plan-03",
        CLIENT,
        "SHAPE",
        "rfd-plan-operations",
        "Plans of different ids stand side by side, and plan_removed takes one away.",
        client=Reason.SCREEN,
    ),
    row(
        "v2-plan-01",
        AGENT,
        "SHAPE",
        "schema",
        "A plan is a plan_update with plan.type, plan.planId and, for items, entries.",
    ),
    row("v2-plan-02", AGENT, "MUST", "agent-plan", "Each update of items has all entries.", agent=Reason.RECORDING),
    row(
        "v2-plan-03",
        CLIENT,
        "MUST",
        "agent-plan",
        "An update replaces the plan of that id and no other.",
        client=Reason.SCREEN,
    ),
    row(
        "v2-plan-04",
        AGENT,
        "SHAPE",
        "schema",
        "A status may be cancelled too; words of one's own begin with an underscore.",
    ),
    row("v2-plan-05", CLIENT, "SHAPE", "schema", "Unknown priorities, statuses and types of plans are lived with."),
    row(
        "v2-plan-06",
        BOTH,
        "MUST",
        "agent-plan",
        "Every plan has a planId, also one of one's own type.",
        client=Reason.OTHER_SIDE,
    ),
    row(
        "v2u-plan-01",
        CLIENT,
        "MUST",
        "draft-agent-plan",
        "Plans as Markdown or file, and plan_removed, are taken, if only to pass them over.",
    ),
    row("v2u-plan-02", AGENT, "MUST", "draft-agent-plan", "The uri of a plan in a file is absolute."),
)
