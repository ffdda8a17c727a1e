"""The table of differences is whole: what changed is computed from the versions, and each change has a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import pytest
from changes_shapes import same

from duologue.protocol.base import Unknown
from duologue.protocol.changes.meanings import MEANINGS
from duologue.protocol.changes.page import markdown
from duologue.protocol.changes.table import METHODS, PARTS, UPDATES, Kind
from duologue.protocol.method import Key, Notification, Request, Side
from duologue.protocol.v1.config import SessionConfigSelectGroup as SelectGroupV1
from duologue.protocol.v1.mcp import StdioMcpServer as StdioMcpServerV1
from duologue.protocol.v1.plan import ItemsPlan as ItemsPlanV1
from duologue.protocol.v1.plan import PlanEntry as PlanEntryV1
from duologue.protocol.v1.prompt import CancelNotification
from duologue.protocol.v1.tools import ToolContent as ToolContentV1
from duologue.protocol.v1.updates import AgentMessageChunk as AgentMessageChunkV1
from duologue.protocol.v1.updates import SessionUpdate as UpdateV1
from duologue.protocol.v2.config import SessionConfigSelectGroup as SelectGroupV2
from duologue.protocol.v2.mcp import StdioMcpServer as StdioMcpServerV2
from duologue.protocol.v2.plan import ItemsPlan as ItemsPlanV2
from duologue.protocol.v2.plan import PlanEntry as PlanEntryV2
from duologue.protocol.v2.prompt import CancelSessionNotification
from duologue.protocol.v2.tools import ToolContent as ToolContentV2
from duologue.protocol.v2.updates import AgentMessageChunk as AgentMessageChunkV2
from duologue.protocol.v2.updates import SessionUpdate as UpdateV2
from duologue.protocol.version import V1, V2, added, changed, removed

DOCS = Path(__file__).parent.parent.parent / "docs" / "versions.md"
UPDATE = Key(Side.CLIENT, "session/update", False)
ROWS = (*METHODS, *UPDATES, *PARTS)


def variants(union: Any) -> set[type]:
    inner = get_args(union)[0]
    return {one for one in get_args(inner) if one is not Unknown}


def tagged(union: Any) -> dict[str, Any]:
    found: set[Any] = variants(union)
    return {one.__struct_config__.tag: one for one in found}


def differs(old: Any, new: Any) -> bool:
    """Whether a method says something else, or stands behind another capability."""
    results = isinstance(old, Request) and not same(old.result, new.result)
    return results or not same(old.params, new.params) or old.needs != new.needs


def test_the_rows_of_methods_are_the_methods_that_changed() -> None:
    both = V1.methods.keys() & V2.methods.keys()
    computed = {key for key in both if differs(V1.methods[key], V2.methods[key])}
    assert computed == changed(V1, V2), "a method is written twice, though nothing of it changed"
    old = {V1.methods[key] for key in removed(V1, V2) | computed}
    new = {V2.methods[key] for key in added(V1, V2) | computed}
    by_meaning = {meaning.what for meaning in MEANINGS}
    updates = {V1.methods[UPDATE], V2.methods[UPDATE]}
    assert {row.v1 for row in METHODS} - by_meaning == old - updates - by_meaning
    assert {row.v2 for row in METHODS} - by_meaning - {None} == new - updates - by_meaning


def test_the_rows_of_updates_are_the_variants_that_changed() -> None:
    old, new = tagged(UpdateV1), tagged(UpdateV2)
    both = old.keys() & new.keys()
    computed = {tag for tag in both if not same(old[tag], new[tag])}
    assert all(old[tag] is new[tag] for tag in both - computed), "a variant is written twice, though nothing changed"
    by_meaning = {meaning.what for meaning in MEANINGS}
    assert {row.v1 for row in UPDATES} - {None} - by_meaning == {old[tag] for tag in old.keys() - new.keys() | computed}
    assert {row.v2 for row in UPDATES} - {None} - by_meaning == {new[tag] for tag in new.keys() - old.keys() | computed}


def test_what_is_the_same_has_a_row_only_for_its_meaning() -> None:
    rows = [row for row in (*METHODS, *UPDATES) if row.v1 is row.v2]
    assert {row.v1 for row in rows} <= {meaning.what for meaning in MEANINGS}
    assert all(meaning.reason.endswith(".") for meaning in MEANINGS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PlanEntryV1, PlanEntryV2),  # A value of an enum in it.
        (ToolContentV1, ToolContentV2),  # A member of a variant of a union in it.
        (ItemsPlanV1, ItemsPlanV2),  # The same, in a list.
        (SelectGroupV1, SelectGroupV2),  # The name of a member.
        (AgentMessageChunkV1, AgentMessageChunkV2),  # Whether a member is required.
        (StdioMcpServerV1, StdioMcpServerV2),  # The tag.
        (Literal["a"], Literal["b"]),
        (list[int], list[str]),
        (list[int], dict[int, int]),
        (int | None, int),
    ],
)
def test_a_difference_is_seen_however_deep(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert same(one, one)
    assert same(CancelNotification, CancelSessionNotification)


def test_each_type_that_changed_is_part_of_a_row() -> None:
    for version, column in ((V1, "v1"), (V2, "v2")):
        reached: set[Any] = set()
        for row in ROWS:
            reach(getattr(row, column), reached)
        own = f".{version.name}."
        structs = {version.types.find(name) for name in version.types if own in version.types.home(name)}
        roots = {one for one in structs if isinstance(one, type) and issubclass(one, msgspec.Struct)}
        # A struct counts as reached when it or a variant made of it is; the envelope of updates is left to the edge.
        missed = {
            one.__name__
            for one in roots
            if not any(isinstance(other, type) and issubclass(other, one) for other in reached)
        }
        assert missed <= {"SessionNotification", "UpdateSessionNotification", *STATES, *FACTS_ONLY}


#: Names of the specification for what is written as one struct.
STATES = {"RunningStateUpdate", "IdleStateUpdate", "RequiresActionStateUpdate", "SessionConfigSelect"}
FACTS_ONLY = {"ProtocolLevelNotification", "SetConfigOption"}


def reach(hint: Any, seen: set[Any]) -> None:
    """Collect every type that a hint, a method or a struct names, however deep."""
    if hint is None or (isinstance(hint, type) and hint in seen):
        return
    if isinstance(hint, type):
        seen.add(hint)
    for inner in (*inner_of(hint), *get_args(hint)):
        reach(inner, seen)


def inner_of(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return tuple(field.type for field in msgspec.structs.fields(hint))
    if isinstance(hint, Request):
        return (hint.params, hint.result)
    if isinstance(hint, Notification):
        return (hint.params,)
    return tuple(getattr(hint, "variants", ()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(getattr(row.v1 or row.v2, "name", row.v1 or row.v2)))
def test_each_row_says_what_happens(row: Any) -> None:
    assert row.reason.endswith(".")
    assert isinstance(row.kind, Kind)
    if row.down is None or row.up is None:
        assert row.v1 is None or row.v2 is None or row.v1 is row.v2


def test_a_method_has_one_function_each_way() -> None:
    for column, change in (("v1", "up"), ("v2", "down")):
        for rows in (METHODS, UPDATES):
            known: dict[Any, Any] = {}
            for row in rows:
                key = getattr(row, column)
                if key is not None:
                    assert known.setdefault(key, getattr(row, change)) is getattr(row, change)


def test_the_page_shows_the_table() -> None:
    assert markdown() in DOCS.read_text(encoding="utf-8"), "run python -m duologue.protocol.changes.page"
