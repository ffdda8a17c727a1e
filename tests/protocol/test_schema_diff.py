"""What `make schema-diff` tells of a schema that is not ours: the facts of ours, with one thing changed at a time."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from protocol_facts import VERSIONS, facts

Json = dict[str, Any]
Change = Callable[[Json], Any]
Told = Callable[..., tuple[int, list[str]]]
SCRIPT = Path(__file__).parents[2] / "scripts" / "schema_diff.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schema_diff", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def told(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """The status and the lines for a JSON value as a file."""

    def run(content: Json, *options: str) -> tuple[int, list[str]]:
        path = tmp_path / "schema.json"
        path.write_text(json.dumps(content), "utf-8")
        status = script.main([str(path), *options])
        return status, capsys.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize("version", VERSIONS)
def test_our_own_facts_do_not_differ(told: Told, version: str) -> None:
    assert told(facts(version)) == (0, [f"schema.json against version {version[1:]} as it is here: no difference"])


def new_method(schema: Json) -> None:
    row = {"name": "session/pause", "side": "agent", "answered": True, "params": "P", "result": "R", "stable": False}
    schema["methods"].append(row)


def row_of(schema: Json, name: str) -> Json:
    found: Json = next(row for row in schema["methods"] if row["name"] == name)
    return found


def members(schema: Json, name: str) -> Json:
    found: Json = schema["types"][name]["members"]
    return found


def variant(schema: Json, name: str, value: str) -> Json:
    found: Json = next(each for each in schema["types"][name]["alternatives"] if each.get("tag", [0, 0])[1] == value)
    return found


CHANGES: list[tuple[str, Change, str, str]] = [
    ("a method", new_method, "methods", "+ session/pause (request to the agent): P -> R, unstable"),
    (
        "no method",
        lambda schema: schema["methods"].remove(row_of(schema, "session/cancel")),
        "methods",
        "- session/cancel (notification to the agent): CancelSessionNotification",
    ),
    (
        "another result",
        lambda schema: row_of(schema, "session/new").update(result="Other"),
        "methods",
        "~ session/new (request to the agent): result NewSessionResponse -> Other",
    ),
    (
        "a stable method",
        lambda schema: row_of(schema, "session/fork").update(stable=True),
        "methods",
        "~ session/fork (request to the agent): is stable now",
    ),
    (
        "a type",
        lambda schema: schema["types"].update(Pause={"members": {"why": {"type": "string", "required": True}}}),
        "types",
        "+ Pause: {why: string required}",
    ),
    (
        "no type",
        lambda schema: schema["types"].pop("Cost"),
        "types",
        "- Cost [duologue.protocol.common.updates]: {",
    ),
    (
        "another form",
        lambda schema: schema["types"].update(SessionId={"enum": ["a"], "open": False}),
        "types",
        "~ SessionId [duologue.protocol.common.ids]: string -> a",
    ),
    (
        "another plain type",
        lambda schema: schema["types"].update(SessionId={"is": "int64"}),
        "types",
        "~ SessionId [duologue.protocol.common.ids]: string -> int64",
    ),
    (
        "a member",
        lambda schema: members(schema, "NewSessionRequest").update(model={"type": {"list": {"ref": "M"}}}),
        "members",
        "+ NewSessionRequest.model [duologue.protocol.v2.session]: [M]",
    ),
    (
        "no member",
        lambda schema: members(schema, "NewSessionRequest").pop("cwd"),
        "members",
        "- NewSessionRequest.cwd [duologue.protocol.v2.session]: AbsolutePath required",
    ),
    (
        "not required",
        lambda schema: members(schema, "NewSessionRequest")["cwd"].pop("required"),
        "members",
        "~ NewSessionRequest.cwd [duologue.protocol.v2.session]: AbsolutePath required -> AbsolutePath",
    ),
    (
        "a variant",
        lambda schema: schema["types"]["ContentBlock"]["alternatives"].append(
            {"of": [], "members": {}, "tag": ["type", "video"]}
        ),
        "variants",
        "+ ContentBlock<type: video> [duologue.protocol.v2.content]",
    ),
    (
        "no variant",
        lambda schema: schema["types"]["ContentBlock"]["alternatives"].remove(variant(schema, "ContentBlock", "audio")),
        "variants",
        "- ContentBlock<type: audio> [duologue.protocol.v2.content]",
    ),
    (
        "another variant",
        lambda schema: variant(schema, "ContentBlock", "audio").update(of=["Sound"]),
        "variants",
        "~ ContentBlock<type: audio> [duologue.protocol.v2.content]: has the members of ['AudioContent'] -> ['Sound']",
    ),
    (
        "a member of a variant",
        lambda schema: variant(schema, "ContentBlock", "audio")["members"].update(loud={"type": "boolean"}),
        "members",
        "+ ContentBlock<type: audio>.loud [duologue.protocol.v2.content]: boolean",
    ),
    (
        "a value",
        lambda schema: schema["types"]["StopReason"]["enum"].append("paused"),
        "enum values",
        "+ StopReason [duologue.protocol.common.prompt]: paused",
    ),
    (
        "no value",
        lambda schema: schema["types"]["StopReason"]["enum"].remove("refusal"),
        "enum values",
        "- StopReason [duologue.protocol.common.prompt]: refusal",
    ),
    (
        "closed",
        lambda schema: schema["types"]["StopReason"].update(open=False),
        "enum values",
        "~ StopReason [duologue.protocol.common.prompt]: closed now",
    ),
]


@pytest.mark.parametrize(("change", "section", "line"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_one_change_is_one_line(told: Told, change: Change, section: str, line: str) -> None:
    changed = copy.deepcopy(facts("v2"))
    change(changed)
    status, (first, empty, heading, only) = told(changed)
    assert status == 1
    assert (first, empty) == ("schema.json against version 2 as it is here: 1 difference", "")
    assert heading.startswith(section)
    assert only.startswith(f"  {line}")


def test_a_part_does_not_lack_what_it_leaves_out(told: Told) -> None:
    part = copy.deepcopy(facts("v2"))
    part["methods"] = [row for row in part["methods"] if row["stable"]]
    del part["types"]["StartNesRequest"]
    assert told(part)[0] == 1
    assert told(part, "--part")[0] == 0
    part["types"]["StopReason"]["enum"].append("paused")
    assert told(part, "--part")[1][-1].startswith("  + StopReason")


SCHEMA: Json = {
    "$defs": {
        "PauseRequest": {"type": "object", "properties": {}, "x-side": "agent", "x-method": "session/pause"},
        "CancelSessionNotification": {"type": "object", "x-side": "agent", "x-method": "session/cancel"},
    }
}


def test_a_json_schema_is_read(told: Told, tmp_path: Path) -> None:
    status, lines = told(SCHEMA, "--version", "v2", "--part")
    assert status == 1
    assert "  + session/pause (request to the agent): PauseRequest" in lines
    stable = tmp_path / "stable.json"
    stable.write_text(json.dumps({"$defs": {}}), "utf-8")
    status, lines = told(SCHEMA, "--version", "v2", "--part", "--stable", str(stable))
    assert "  + session/pause (request to the agent): PauseRequest, unstable" in lines
    assert "  ~ session/cancel (notification to the agent): is unstable now" in lines


@pytest.mark.parametrize("text", ["no json", "[]", "{}", '{"methods": [{}], "types": {}}'])
def test_what_is_no_schema_is_told(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    path = tmp_path / "schema.json"
    path.write_text(text, "utf-8")
    assert script.main([str(path)]) == 2
    assert "cannot be read as a schema of the protocol" in capsys.readouterr().err
    assert script.main([str(tmp_path / "none.json")]) == 2
