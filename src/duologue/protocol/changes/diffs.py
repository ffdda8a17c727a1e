"""Diffs: v1 has the two texts of one file, v2 has changes of files and a git patch.

Up is exact: the patch holds the whole texts. Down is exact for files whose patch shows them whole. Otherwise v1 gets
the lines that the patch shows. What two texts do not tell (a deletion, a move, a copy) is a line of text before them;
what has no texts (a binary file, a change without a patch) is a line of text alone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.protocol.base import Unknown
from duologue.protocol.changes.content import text_block
from duologue.protocol.markdown import fenced
from duologue.protocol.patches import FilePatch, make_patch, read_patch
from duologue.protocol.v1 import tools as v1
from duologue.protocol.v2 import diff as v2
from duologue.protocol.v2.tools import ToolDiff

GIT_PATCH = v2.DiffPatchFormat.GIT_PATCH

#: Operations that the two texts of a file do not tell.
UNTOLD = frozenset({"delete", "move", "copy"})


def diff_up(diff: v1.ToolDiff) -> ToolDiff:
    """A diff for v2, with a patch from which v1's texts can be read again."""
    old = diff.old_text if isinstance(diff.old_text, str) else None
    change = v2.AddChange(path=diff.path) if old is None else v2.ModifyChange(path=diff.path)
    patch = v2.DiffPatch(format=GIT_PATCH, text=make_patch(diff.path, old, diff.new_text))
    return ToolDiff(changes=[change], patch=patch, meta=diff.meta)


def diff_down(diff: ToolDiff) -> list[Any]:
    """Items for v1: those of each file, in order."""
    sections = _sections(diff)
    items = [item for change in diff.changes for item in _change_down(change, sections)]
    if not items and isinstance(diff.patch, v2.DiffPatch):
        items = [text_item(fenced(diff.patch.text, "diff"))]
    return [_with_meta(items[0], diff.meta), *items[1:]] if items else []


def _sections(diff: ToolDiff) -> dict[str, FilePatch]:
    if not isinstance(diff.patch, v2.DiffPatch) or diff.patch.format != GIT_PATCH:
        return {}
    return {section.path: section for section in read_patch(diff.patch.text)}


def _change_down(change: Any, sections: dict[str, FilePatch]) -> list[Any]:
    if isinstance(change, Unknown):
        return [text_item(f"{change.raw.get('operation')}: {change.raw.get('path', '')}".rstrip(": "))]
    operation = change.__struct_config__.tag
    words = [text_item(_told(change, operation))]
    section = sections.get(change.path)
    if section is None or section.binary:
        return words
    old = None if operation == "add" else section.old or ""
    new = "" if operation == "delete" else section.new or ""
    texts = v1.ToolDiff(path=change.path, old_text=old, new_text=new)
    if operation not in UNTOLD:
        return [texts]
    return words if old == new else [*words, texts]


def _told(change: Any, operation: str) -> str:
    # Not "Deleted": a question about it shows this line too, and so does a call that was refused.
    verb = operation.capitalize()
    return f"{verb} {change.old_path} to {change.path}" if operation in ("move", "copy") else f"{verb} {change.path}"


def text_item(text: str) -> v1.ToolContent:
    """A line of text as an item of a tool call."""
    return v1.ToolContent(content=text_block(text))


def _with_meta(item: Any, meta: Any) -> Any:
    return msgspec.structs.replace(item, meta={**(item.meta or {}), **meta}) if meta else item
