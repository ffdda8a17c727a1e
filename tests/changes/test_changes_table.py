"""The table of differences is whole: what changed is computed from the versions, and each change has a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from duologue.protocol.base import Unknown
from duologue.protocol.changes.page import markdown
from duologue.protocol.changes.table import METHODS, PARTS, UPDATES, Kind
from duologue.protocol.method import Notification, Request
from duologue.protocol.v1.updates import SessionUpdate as UpdateV1
from duologue.protocol.v2.updates import SessionUpdate as UpdateV2
from duologue.protocol.version import V1, V2, added, changed, removed

DOCS = Path(__file__).parent.parent.parent / "docs" / "versions.md"
ROWS = (*METHODS, *UPDATES, *PARTS)


def variants(union: Any) -> set[type]:
    inner = get_args(union)[0]
    return {one for one in get_args(inner) if one is not Unknown}


def test_each_method_that_changed_has_a_row() -> None:
    old = {V1.methods[key] for key in removed(V1, V2) | changed(V1, V2)}
    new = {V2.methods[key] for key in added(V1, V2) | changed(V1, V2)}
    updates = {"session/update"}
    assert {method.name for method in old - {row.v1 for row in METHODS}} == updates
    assert {method.name for method in new - {row.v2 for row in METHODS}} == updates


def test_each_variant_that_changed_has_a_row() -> None:
    old, new = variants(UpdateV1), variants(UpdateV2)
    assert old - new <= {row.v1 for row in UPDATES}
    assert new - old <= {row.v2 for row in UPDATES}


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
