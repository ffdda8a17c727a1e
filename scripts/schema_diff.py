"""Compares a newer schema of the protocol with what this project has: methods, types, members, enum values.

    make schema-diff FILE=schema.unstable.json

FILE is a JSON schema of the protocol, or facts as tests/protocol/make_facts.py writes them. Our side is the facts below
tests/protocol/facts, to which the tests hold every type and both tables. Ends with status 0 when nothing differs, 1
when something does, 2 when FILE cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from duologue.protocol import v1, v2

ROOT = Path(__file__).parent.parent
FACTS = ROOT / "tests" / "protocol" / "facts"
HOMES = {"v1": v1.TYPES, "v2": v2.TYPES}
SECTIONS = ("methods", "types", "variants", "members", "enum values")
#: They carry what the methods tell already.
ENVELOPES = {f"{side}{kind}" for side in ("Agent", "Client") for kind in ("Request", "Response", "Notification")}

Json = dict[str, Any]
#: The section that a difference belongs to, and the line that tells it.
Difference = tuple[str, str]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--version", choices=HOMES, help="what FILE describes; guessed from its methods if not given")
    parser.add_argument("--stable", type=Path, metavar="FILE", help="the schema without its unstable parts")
    parser.add_argument("--part", action="store_true", help="FILE is such a part itself: tell nothing that it lacks")
    options = parser.parse_args(arguments)
    try:
        theirs = read(options.file, options.stable)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{options.file} cannot be read as a schema of the protocol: {error}", file=sys.stderr)
        return 2
    version = options.version or guess(theirs)
    ours = read(FACTS / f"{version}.json")
    found = sorted(differences(version, ours, theirs))
    if options.part:
        found = [(section, line) for section, line in found if not line.startswith("-")]
    print("\n".join(report(options.file.name, version, found)))
    return 1 if found else 0


def read(path: Path, stable: Path | None = None) -> Json:
    """The facts of a file. Raises `OSError` and `ValueError`, and `KeyError` or `TypeError` for what is no schema."""
    content = json.loads(path.read_text("utf-8"))
    if "methods" not in content:
        # The one reader of schemas is a tool of the tests.
        sys.path.insert(0, str(FACTS.parent))
        import make_facts

        content = make_facts.facts(content, json.loads(stable.read_text("utf-8")) if stable else content)
        if stable is None:
            # A schema alone does not tell what of it is stable.
            content["methods"] = [{**row, "stable": None} for row in content["methods"]]
    types = {name: each for name, each in content["types"].items() if name not in ENVELOPES}
    return {"types": types, "methods": {(row["name"], row["side"], row["answered"]): row for row in content["methods"]}}


def guess(theirs: Json) -> str:
    """The version that has most methods in common with a schema, their types included."""

    def common(version: str) -> int:
        ours = read(FACTS / f"{version}.json")
        same_types = [name for name, each in theirs["types"].items() if ours["types"].get(name) == each]
        return len(same_types) + sum(key in theirs["methods"] for key in ours["methods"])

    return max(HOMES, key=common)


# --- What differs -----------------------------------------------------------------------------------------------------


def differences(version: str, ours: Json, theirs: Json) -> Iterator[Difference]:
    for sign, key, mine, other in compared(ours["methods"], theirs["methods"]):
        name, side, answered = key
        receiver = {"agent": "the agent", "client": "the client"}.get(side, "both sides")
        kind = f"{name} ({'request' if answered else 'notification'} to {receiver})"
        if sign == "~":
            yield from (("methods", f"~ {kind}: {change}") for change in row_changes(mine, other))
        else:
            yield "methods", f"{sign} {kind}: {row_said(mine or other)}"
    for sign, name, mine, other in compared(ours["types"], theirs["types"]):
        if sign == "~":
            yield from type_changes(name, place(version, name), mine, other)
        else:
            yield "types", f"{sign} {name}{place(version, name) if mine else ''}: {type_said(mine or other)}"


def compared(ours: dict[Any, Any], theirs: dict[Any, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """What is new (+), gone (-) and not the same (~), each with our value and theirs."""
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key), theirs.get(key)
        if mine != other:
            yield "+" if key not in ours else "-" if key not in theirs else "~", key, mine, other


def place(version: str, name: str) -> str:
    """Where our type stands."""
    return f" [{HOMES[version].home(name)}]" if name in HOMES[version] else ""


def row_said(row: Json) -> str:
    result = f" -> {row['result']}" if "result" in row else ""
    return f"{row.get('params', 'nothing')}{result}{', unstable' if row['stable'] is False else ''}"


def row_changes(mine: Json, other: Json) -> Iterator[str]:
    for part in ("params", "result"):
        if mine.get(part) != other.get(part):
            yield f"{part} {mine.get(part)} -> {other.get(part)}"
    if other["stable"] not in (None, mine["stable"]):
        yield "is stable now" if other["stable"] else "is unstable now"


def type_said(each: Json) -> str:
    match each:
        case {"is": said}:
            return shape(said)
        case {"enum": values}:
            return " | ".join(map(str, values))
        case {"alternatives": several}:
            return "one of " + ", ".join(variants(several))
    return "{" + ", ".join(f"{name}: {member_said(one)}" for name, one in each["members"].items()) + "}"


def type_changes(name: str, where: str, mine: Json, other: Json) -> Iterator[Difference]:
    if form(mine) != form(other):
        yield "types", f"~ {name}{where}: {type_said(mine)} -> {type_said(other)}"
        return
    if "enum" in mine:
        yield from enum_changes(name, where, mine, other)
    elif "is" in mine:
        yield "types", f"~ {name}{where}: {shape(mine['is'])} -> {shape(other['is'])}"
    else:
        yield from object_changes(name, where, mine, other)


def form(each: Json) -> str:
    return next(kind for kind in ("is", "enum", "members") if kind in each)


def enum_changes(name: str, where: str, mine: Json, other: Json) -> Iterator[Difference]:
    for value in {*mine["enum"]} ^ {*other["enum"]}:
        sign = "+" if value in other["enum"] else "-"
        yield "enum values", f"{sign} {name}{where}: {value}"
    if mine["open"] != other["open"]:
        yield "enum values", f"~ {name}{where}: {'open to other values' if other['open'] else 'closed'} now"


def object_changes(name: str, where: str, mine: Json, other: Json) -> Iterator[Difference]:
    for sign, member, before, after in compared(mine["members"], other["members"]):
        said = " -> ".join(member_said(each) for each in (before, after) if each is not None)
        yield "members", f"{sign} {name}.{member}{where}: {said}"
    several = variants(mine.get("alternatives", [])), variants(other.get("alternatives", []))
    for sign, variant, before, after in compared(*several):
        whole = f"{name}<{variant}>"
        if sign != "~":
            yield "variants", f"{sign} {whole}{where}"
        elif before.get("of") != after.get("of"):
            yield "variants", f"~ {whole}{where}: has the members of {before['of']} -> {after['of']}"
        else:
            yield from object_changes(whole, where, before, after)


def variants(several: list[Json]) -> dict[str, Json]:
    """The alternatives by tag, else by what they consist of."""

    def name(each: Json) -> str:
        match each:
            case {"tag": [str(member), None]}:
                return f"{member}: other"
            case {"tag": [str(member), value]}:
                return f"{member}: {value}"
        return " & ".join(each["of"]) or ", ".join(each["members"]) or "nothing"

    return {name(each): each for each in several}


def member_said(member: Json) -> str:
    words: list[tuple[str, Callable[[Any], str]]] = [
        ("nullable", lambda _: "or null"),
        ("required", lambda _: "required"),
        ("lenient", lambda _: "lenient"),
        ("skip", lambda _: "bad items dropped"),
        ("default", lambda value: f"by default {json.dumps(value)}"),
        ("bounds", lambda value: json.dumps(value)),
    ]
    return " ".join([shape(member["type"]), *(say(member[word]) for word, say in words if word in member)])


def shape(said: Any) -> str:
    match said:
        case {"ref": name}:
            return str(name)
        case {"list": item}:
            return f"[{shape(item)}]"
        case {"map": item}:
            return f"{{{shape(item)}}}"
        case {"any_of": several}:
            return " | ".join(map(shape, several))
        case {"const": value}:
            return json.dumps(value)
    return str(said)


def report(file: str, version: str, found: list[Difference]) -> Iterator[str]:
    count = f"{len(found)} difference{'' if len(found) == 1 else 's'}" if found else "no difference"
    yield f"{file} against version {version[1:]} as it is here: {count}"
    for section in SECTIONS:
        lines = [line for kind, line in found if kind == section]
        if lines:
            yield f"\n{section}  (+ new, - gone, ~ changed)"
            yield from (f"  {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
