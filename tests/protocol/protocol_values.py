"""Hypothesis strategies that make valid JSON for each type from the facts of its schema, not from our types."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from protocol_facts import Json, facts

Values = st.SearchStrategy[Any]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
OTHER = TEXT.map("_{}".format)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | DOUBLES | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
PLAIN: dict[str, Values] = {
    "any": ANY,
    "boolean": st.booleans(),
    "double": DOUBLES,
    "null": st.none(),
    "string": TEXT,
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
}


@cache
def values(version: str, name: str) -> Values:
    """JSON of a named type. Variants and enum values that the schema does not know are among them."""
    match facts(version)["types"][name]:
        case {"is": said}:
            return of_shape(version, said)
        case {"enum": [int(), *_] as known}:
            return st.sampled_from(known) | PLAIN["int32"]
        case {"enum": known}:
            return st.sampled_from(known) | OTHER
        case said:
            return objects(version, said).map(dict)


def of_shape(version: str, said: Any, bounds: Json | None = None) -> Values:
    """JSON of a T."""
    match said:
        case {"ref": name}:
            return st.deferred(lambda: values(version, name))
        case {"list": item}:
            least = (bounds or {}).get("minItems", 0)
            return st.lists(of_shape(version, item), min_size=least, max_size=least + 2)
        case {"map": item}:
            return st.dictionaries(TEXT, of_shape(version, item), max_size=2)
        case {"any_of": several}:
            return st.one_of([of_shape(version, each) for each in several])
        case {"const": value}:
            return st.just(value)
        case "double" if bounds:
            return st.floats(bounds["minimum"], bounds["maximum"])
        case "string" if bounds:
            return st.from_regex(bounds["pattern"], fullmatch=True).map(lambda text: text.strip())
    return PLAIN[said]


def objects(version: str, said: Json) -> st.SearchStrategy[Json]:
    """JSON of a definition with members, alternatives or both."""
    own = _members(version, said["members"])
    for name in said.get("of", []):
        own = _joined(own, objects(version, facts(version)["types"][name]))
    if "alternatives" in said:
        own = _joined(own, st.one_of(_alternatives(version, said["alternatives"])))
    return own


def _members(version: str, members: Json) -> st.SearchStrategy[Json]:
    strategies = {name: _member(version, each) for name, each in members.items()}
    needed = {name for name, each in members.items() if each.get("required")}
    return st.fixed_dictionaries(
        {name: strategies[name] for name in strategies if name in needed},
        optional={name: strategies[name] for name in strategies if name not in needed},
    )


def _member(version: str, member: Json) -> Values:
    value = of_shape(version, member["type"], member.get("bounds"))
    return st.none() | value if member.get("nullable") else value


def _alternatives(version: str, several: list[Json]) -> list[st.SearchStrategy[Json]]:
    found = [_tagged(version, each) for each in several]
    fields = {each["tag"][0] for each in several if "tag" in each}
    opens = any(each.get("tag", [None, ""])[1] is None for each in several)
    one_struct = any("tag" not in each and not each["of"] for each in several)
    if len(fields) == 1 and not opens and not one_struct:
        # The schema is closed; we keep what it does not know all the same.
        found.append(_unknown(fields.pop(), st.just({})))
    return found


def _tagged(version: str, alternative: Json) -> st.SearchStrategy[Json]:
    rest = objects(version, alternative)
    match alternative.get("tag"):
        case [field, None]:
            return _unknown(field, rest)
        case [field, value]:
            return _joined(st.just({field: value}), rest)
    return rest


def _unknown(field: str, rest: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """An object with a tag that no schema has, and members that nobody has heard of."""
    more = st.dictionaries(OTHER, ANY, max_size=2)
    return _joined(more, _joined(rest, OTHER.map(lambda tag: {field: tag})))


def _joined(one: st.SearchStrategy[Json], other: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.tuples(one, other).map(lambda both: both[0] | both[1])
