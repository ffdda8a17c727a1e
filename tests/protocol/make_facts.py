"""Reads a schema of the protocol and writes down its facts: names, shapes, rules; no prose.

    python make_facts.py SCHEMA [--stable SCHEMA] > facts/v1.json

SCHEMA is the schema with the unstable parts; methods that ``--stable`` lacks are marked as unstable. The facts in this
directory were made so, and comparing them with those of a newer schema shows what has changed.

A type is one of

- ``{"is": T}``: another name for T;
- ``{"enum": [...], "open": bool}``;
- ``{"members": {...}}``: an object;
- ``{"members": {...}, "alternatives": [...]}``: a union. An alternative has a ``tag`` (member and value; value null:
  any other), members of its own, and the types in ``of`` whose members it has as well.

T is a string (``string``, ``boolean``, ``double``, ``int64``, ``null``, ``any``, ...) or an object: ``{"ref": name}``,
``{"list": T}``, ``{"map": T}``, ``{"any_of": [T, ...]}``, ``{"const": value}``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

MARKS = {"x-deserialize-default-on-error": "lenient", "x-deserialize-skip-invalid-items": "skip"}
BOUNDS = ("minItems", "minimum", "maximum", "pattern")


def type_facts(schema: Json) -> Json:
    """The facts of one definition."""
    alternatives = schema.get("oneOf") or schema.get("anyOf") or []
    if alternatives and all(_is_constant(each) for each in alternatives[:1]):
        return _enum(alternatives)
    if "properties" in schema or any(_is_object(each) for each in alternatives):
        return _object(schema, alternatives)
    return {"is": shape(schema)}


def _is_constant(schema: Json) -> bool:
    return "const" in schema


def _is_object(schema: Json) -> bool:
    return "properties" in schema or "allOf" in schema


def _enum(alternatives: list[Json]) -> Json:
    values = [each["const"] for each in alternatives if "const" in each]
    return {"enum": values, "open": len(values) < len(alternatives)}


def _object(schema: Json, alternatives: list[Json]) -> Json:
    members = _members(schema)
    if not alternatives:
        return {"members": members}
    return {"members": members, "alternatives": [_alternative(each) for each in alternatives]}


def _alternative(schema: Json) -> Json:
    members = _members(schema)
    facts: Json = {"of": [_name(each) for each in schema.get("allOf", [])], "members": members}
    if "anyOf" in schema:
        facts["alternatives"] = [_alternative(each) for each in schema["anyOf"]]
    tags = [(name, each["type"]["const"]) for name, each in members.items() if "const" in _dict(each["type"])]
    if tags:
        facts["tag"] = list(tags[0])
    elif "not" in schema:
        facts["tag"] = [_excluded(schema["not"]), None]
    if "tag" in facts:
        del members[facts["tag"][0]]
    return facts


def _excluded(schema: Json) -> str:
    """The member that an open variant must not have a known value in."""
    excluded: str = next(iter(schema["anyOf"][0]["properties"]))
    return excluded


def _members(schema: Json) -> Json:
    required = schema.get("required", [])
    return {name: member(each, name in required) for name, each in schema.get("properties", {}).items()}


def member(schema: Json, required: bool) -> Json:
    """The facts of one member; what is not there is false."""
    facts: Json = {"type": shape(schema)}
    nullable = facts["type"]
    if isinstance(nullable, dict) and "any_of" in nullable and "null" in nullable["any_of"]:
        rest = [each for each in nullable["any_of"] if each != "null"]
        facts = {"type": rest[0] if len(rest) == 1 else {"any_of": rest}, "nullable": True}
    facts |= {"required": True} if required else {}
    facts |= {mark: True for key, mark in MARKS.items() if schema.get(key)}
    facts |= {"default": schema["default"]} if "default" in schema else {}
    bounds = {key: schema[key] for key in BOUNDS if key in schema and not _is_integer(schema)}
    return facts | ({"bounds": bounds} if bounds else {})


def shape(schema: Json) -> Any:
    """The T of a schema."""
    match schema:
        case {"$ref": _} | {"allOf": [_]}:
            return {"ref": _name(schema)}
        case {"anyOf": several} | {"oneOf": several}:
            return {"any_of": [shape(each) for each in several]}
        case {"const": value}:
            return {"const": value}
        case {"type": [*types]}:
            return {"any_of": [shape({**schema, "type": each}) for each in types]}
        case {"type": "array"}:
            return {"list": shape(schema.get("items", {}))}
        case {"type": "object"}:
            values = schema.get("additionalProperties", True)
            return {"map": "any" if values is True else shape(values)}
        case {"type": "integer" | "number", "format": name}:
            return name
        case {"type": name}:
            return name
    return "any"


def _name(schema: Json) -> str:
    if "allOf" in schema:
        return _name(schema["allOf"][0])
    name: str = schema["$ref"].rpartition("/")[2]
    return name


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _is_integer(schema: Json) -> bool:
    return "integer" in schema.get("type", ())


def method_facts(definitions: Json, stable: Json) -> list[Json]:
    """One row a method and kind: name, side that receives it, types."""
    rows: dict[tuple[str, str, bool], Json] = {}
    known = {(each.get("x-method"), each.get("x-side")) for each in stable.values()}
    for name, each in definitions.items():
        if "x-method" not in each:
            continue
        side, wire, answered = each["x-side"], each["x-method"], not name.endswith("Notification")
        row = rows.setdefault((wire, side, answered), {"name": wire, "side": side, "answered": answered})
        row["result" if name.endswith("Response") else "params"] = name
        row["stable"] = (wire, side) in known
    return [rows[key] for key in sorted(rows)]


def facts(schema: Json, stable: Json) -> Json:
    """All facts of a schema."""
    definitions = schema["$defs"]
    return {
        "types": {name: type_facts(each) for name, each in sorted(definitions.items())},
        "methods": method_facts(definitions, stable["$defs"]),
    }


def written(found: Json) -> str:
    """JSON with one type or method a line, so that a difference between two revisions is easy to read."""
    types = ",\n".join(f"{json.dumps(name)}: {_compact(each)}" for name, each in found["types"].items())
    methods = ",\n".join(_compact(each) for each in found["methods"])
    return f'{{"types": {{\n{types}\n}}, "methods": [\n{methods}\n]}}\n'


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(", ", ": "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schema", type=Path)
    parser.add_argument("--stable", type=Path)
    options = parser.parse_args()
    schema, stable = (
        json.loads(path.read_text("utf-8")) for path in (options.schema, options.stable or options.schema)
    )
    sys.stdout.write(written(facts(schema, stable)))


if __name__ == "__main__":
    main()
