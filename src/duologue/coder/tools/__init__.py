"""The coder's tools. Each module has one or two; `builtin_tools` is the list a session starts with."""

from __future__ import annotations

from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, Tool, tool

__all__ = ["Arguments", "Context", "Outcome", "Plan", "Tool", "builtin_tools", "tool"]


def builtin_tools() -> tuple[Tool, ...]:
    """The tools of a session, in the order a model sees them."""
    from duologue.coder.tools import editing, listing, planning, reading, removing, running, searching, undoing, writing

    return (
        listing.list_files,
        reading.read_file,
        searching.search,
        writing.write_file,
        editing.edit_file,
        removing.delete_file,
        removing.move_file,
        running.run_command,
        undoing.undo_edits,
        planning.update_plan,
        planning.set_title,
    )
