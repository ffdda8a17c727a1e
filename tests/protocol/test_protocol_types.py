"""The types against the facts of the schemas, both ways: nothing is missing, nothing is invented."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import msgspec
import pytest
from protocol_facts import (
    VERSIONS,
    Json,
    all_types,
    facts,
    is_untagged,
    members,
    ordered,
    our_members,
    our_shape,
    plain,
    unmarked,
    variants,
    with_tag,
)

import duologue.protocol
from duologue.protocol import find_type
from duologue.protocol.base import OpenEnum, Unknown, Wire
from duologue.protocol.version import V1, V2

# Where we differ from the schema on purpose.
DELIBERATE: dict[tuple[str, str, str], Json] = {
    # Clients leave it out, as the documentation allows.
    ("v1", "McpServerStdio", "env"): {"lenient": True},
    # Any type may stand beside a string value: only "boolean" says something.
    ("v1", "SetSessionConfigOptionRequest", "type"): {"type": "string"},
}

# What the envelopes carry is the method's business (see test_protocol_tables.py).
CARRIED = {"params", "result"}
ENVELOPES = {
    *("AgentRequest", "AgentResponse", "AgentNotification", "ClientRequest", "ClientResponse", "ClientNotification"),
    "ProtocolLevelNotification",
}

# Structs that no schema names: what the variants of a union have in common, or the scopes of an elicitation.
SHARED = {
    *("ConfigOption", "SetConfigOption", "PathChange", "PathPairChange", "ElicitationScope"),
    *("RequestMessage", "ResponseMessage", "NotificationMessage"),
}


def kinds(*wanted: str) -> list[tuple[str, str]]:
    return [(version, name) for version, name in all_types() if set(wanted) & facts(version)["types"][name].keys()]


def unions() -> list[tuple[str, str]]:
    """Unions that are unions here too, and not one struct with the members of all."""
    named = [(version, name, find_type(version, name)) for version, name in kinds("alternatives")]
    return [(version, name) for version, name, found in named if not _is_struct(found)]


def _is_struct(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, msgspec.Struct)


@pytest.mark.parametrize(("version", "name"), kinds("is"))
def test_another_name_stands_for_the_same(version: str, name: str) -> None:
    found, said = find_type(version, name), facts(version)["types"][name]["is"]
    if is_untagged(found):
        assert {"any_of": ordered(our_shape(version, each) for each in found.variants)} == plain(version, said)
    else:
        assert our_shape(version, found) == plain(version, said)


@pytest.mark.parametrize(("version", "name"), kinds("enum"))
def test_an_enum_has_the_values_of_the_schema_and_takes_others(version: str, name: str) -> None:
    found, said = find_type(version, name), facts(version)["types"][name]["enum"]
    assert [member.value for member in found] == said
    other: Any = "_other" if issubclass(found, OpenEnum) else 4711
    assert found(other).value == other
    assert other not in [member.value for member in found]


def structs() -> list[tuple[str, str]]:
    return [(version, name) for version, name in kinds("members") if _is_struct(find_type(version, name))]


@pytest.mark.parametrize(("version", "name"), structs())
def test_a_struct_has_the_members_of_the_schema(version: str, name: str) -> None:
    found, said = find_type(version, name), facts(version)["types"][name]
    expected = _deliberate(version, name, members(version, said))
    assert _comparable(name, our_members(version, found)) == _comparable(name, expected)
    if found.__name__ == name:
        assert found.__struct_config__.tag is None


def _deliberate(version: str, name: str, expected: Json) -> Json:
    return {key: {**each, **DELIBERATE.get((version, name, key), {})} for key, each in expected.items()}


def _comparable(name: str, found: Json) -> Json:
    if name not in ENVELOPES:
        return found
    return {key: {"required": each.get("required", False)} if key in CARRIED else each for key, each in found.items()}


@pytest.mark.parametrize(("version", "name"), unions())
def test_a_union_has_the_variants_of_the_schema(version: str, name: str) -> None:
    said = facts(version)["types"][name]
    known = [each for each in said["alternatives"] if each.get("tag", [None, ""])[1] is not None]
    common = members(version, {"members": said["members"]})
    expected = {_key(each.get("tag"), each["of"]): common | members(version, each) for each in known}
    expected = {key: _deliberate(version, key.split(" ")[-1], each) for key, each in expected.items()}
    assert expected == {
        _key(_tag(each), _named_bases(version, each)): our_members(version, each)
        for each in variants(find_type(version, name))
    }


def _key(tag: list[str] | None, of: list[str]) -> str:
    """The tag of a variant and the struct it is made of; one that has no tag is known by its struct alone."""
    return " ".join([*(tag or []), *of])


def _tag(struct: type[msgspec.Struct]) -> list[str] | None:
    config = struct.__struct_config__
    return [config.tag_field, str(config.tag)] if config.tag_field else None


#: Variants whose struct cannot be a base: the members that all variants share are one already.
FLAT = {
    "SelectConfigOption": ["SessionConfigSelect"],
    "BooleanConfigOption": ["SessionConfigBoolean"],
}


def _named_bases(version: str, struct: type[msgspec.Struct]) -> list[str]:
    names = facts(version)["types"]
    found = [base.__name__ for base in struct.__mro__ if base.__name__ in names][:1]
    return FLAT.get(struct.__name__, found)


@pytest.mark.parametrize(("version", "name"), unions())
def test_an_open_union_keeps_what_it_does_not_know(version: str, name: str) -> None:
    said = facts(version)["types"][name]
    opens = [each for each in said["alternatives"] if each.get("tag", [None, ""])[1] is None]
    needed = {
        key: each["type"]
        for each in opens
        for key, each in members(version, {**each, "members": said["members"] | each["members"]}).items()
        if each.get("required")
    }
    found = find_type(version, name)
    if is_untagged(found):
        raw = {"type": "_other"}
        assert (found.pick(raw) is Unknown) == any("tag" in each for each in said["alternatives"])
        return
    (mark,) = (each.extra or {} for each in unmarked(found)[1])
    assert {key: our_shape(version, hint) for key, hint in mark["open"].items()} == needed


@pytest.mark.parametrize("version", VERSIONS)
def test_no_type_is_invented(version: str) -> None:
    """A name that no schema has is a variant of a union, or what variants share."""
    spoken = facts(version)["types"]
    types = {"v1": V1, "v2": V2}[version].types
    named = {each for name in spoken for each in variants(find_type(version, name))}
    for name in set(types) - spoken.keys():
        found = types.find(name)
        if name in SHARED:
            assert any(issubclass(each, found) and each is not found for each in named)
        elif issubclass(found, Enum):
            assert any(found is unmarked(field.type)[0] for each in named for field in msgspec.structs.fields(each))
        else:
            assert found in named


@pytest.mark.parametrize("version", VERSIONS)
def test_a_variant_is_named_after_its_tag(version: str) -> None:
    for _, union in (each for each in unions() if each[0] == version):
        for struct in variants(find_type(version, union)):
            tag = _tag(struct)
            if tag:
                word = "".join(part[0].upper() + part[1:] for part in tag[1].split("_"))
                assert word.lower() in struct.__name__.lower()
                assert union != "SessionUpdate" or struct.__name__ in (word, f"{word}Event")


ROOMS = ("common", "v1", "v2")
HOME = Path(duologue.protocol.__file__).parent


@pytest.mark.parametrize("room", ROOMS)
def test_the_listing_of_a_room_is_what_its_modules_define(room: str) -> None:
    listing = import_module(f"duologue.protocol.{room}").LISTING
    modules = {path.stem: path for path in (HOME / room).glob("*.py") if path.stem not in ("__init__", "table")}
    assert {topic: set(names.split()) for topic, names in listing.items()} == {
        topic: set(_defined(ast.parse(path.read_text("utf-8")).body)) for topic, path in modules.items()
    }


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
                yield name
            case ast.If(body=inner):
                yield from _defined(inner)


@pytest.mark.parametrize("version", VERSIONS)
def test_type_checkers_see_each_topic(version: str) -> None:
    """The star imports of the package, which stand for its late look-up, name all topics."""
    source = (HOME / version / "__init__.py").read_text("utf-8")
    for room in ("common", version):
        for topic in import_module(f"duologue.protocol.{room}").LISTING:
            assert f"from duologue.protocol.{room}.{topic} import *" in source


def test_a_type_is_found_by_version_and_name() -> None:
    assert find_type("v2", "ToolCallUpdate") is not find_type("v1", "ToolCallUpdate")
    assert find_type("v2", "TextContent") is find_type("v1", "TextContent")
    assert find_type("v1", "SessionId") is str
    with pytest.raises(LookupError, match="no version 'v3'"):
        find_type("v3", "ToolCallUpdate")
    with pytest.raises(LookupError, match="v2 has no type 'ToolCall'"):
        find_type("v2", "ToolCall")


def test_a_package_gives_its_types_by_name() -> None:
    from duologue.protocol import v1, v2

    assert v1.ToolCall is find_type("v1", "ToolCall")
    assert "ToolCall" in dir(v1)
    assert not hasattr(v2, "ToolCall")


def test_an_unsaid_difference_is_noticed() -> None:
    """The comparison itself: a member too many, one too few, and one that is not what the schema says."""
    said = members("v2", facts("v2")["types"]["ToolCallUpdate"])
    found = our_members("v2", find_type("v2", "ToolCallUpdate"))
    assert found == said
    assert found != said | {"more": {"type": "string"}}
    assert found != {key: each for key, each in said.items() if key != "title"}
    assert found != said | {"title": {"type": "string", "nullable": True}}
    assert with_tag("v2", {"members": {}, "tag": ["type", "a"]}) != {}


def wire_types(root: type[Wire] = Wire) -> Iterator[type[Wire]]:
    for found in root.__subclasses__():
        yield found
        yield from wire_types(found)


def test_members_are_given_by_name_alone() -> None:
    """No struct hands `kw_only` down to its subclasses, so that one may forget to state it."""
    for version, name in all_types():
        find_type(version, name)
    found = set(wire_types())
    assert len(found) > 350
    assert not [
        each for each in found if {p.kind for p in signature(each).parameters.values()} - {Parameter.KEYWORD_ONLY}
    ]
