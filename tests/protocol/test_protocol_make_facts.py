"""The reader of schemas, on a small schema of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_facts
import pytest
from protocol_facts import VERSIONS, facts

SCHEMA: dict[str, Any] = {
    "$defs": {
        "Id": {"type": "string", "description": "prose"},
        "Colour": {"anyOf": [{"const": "red", "type": "string"}, {"type": "string"}]},
        "Ask": {
            "type": "object",
            "x-side": "agent",
            "x-method": "ask",
            "required": ["id"],
            "properties": {
                "id": {"allOf": [{"$ref": "#/$defs/Id"}], "description": "prose"},
                "many": {"type": ["array", "null"], "items": {"type": "integer", "format": "uint32", "minimum": 0}},
                "dim": {"type": "boolean", "default": False, "x-deserialize-default-on-error": True},
            },
        },
        "Answer": {
            "oneOf": [
                {
                    "properties": {"type": {"const": "a", "type": "string"}},
                    "required": ["type"],
                    "allOf": [{"$ref": "#/$defs/Ask"}],
                },
                {
                    "properties": {"type": {"type": "string"}},
                    "required": ["type"],
                    "not": {"anyOf": [{"properties": {"type": {"const": "a"}}}]},
                },
            ]
        },
    }
}


def test_facts_are_names_shapes_and_rules() -> None:
    found = make_facts.facts(SCHEMA, {"$defs": {}})
    assert found["types"] == {
        "Id": {"is": "string"},
        "Colour": {"enum": ["red"], "open": True},
        "Ask": {
            "members": {
                "id": {"type": {"ref": "Id"}, "required": True},
                "many": {"type": {"list": "uint32"}, "nullable": True},
                "dim": {"type": "boolean", "lenient": True, "default": False},
            }
        },
        "Answer": {
            "members": {},
            "alternatives": [
                {"of": ["Ask"], "members": {}, "tag": ["type", "a"]},
                {"of": [], "members": {}, "tag": ["type", None]},
            ],
        },
    }
    assert found["methods"] == [{"name": "ask", "side": "agent", "answered": True, "params": "Ask", "stable": False}]
    assert json.loads(make_facts.written(found)) == found


def test_the_script_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA), "utf-8")
    done = subprocess.run([sys.executable, make_facts.__file__, path], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == make_facts.facts(SCHEMA, SCHEMA)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_facts_hold_no_prose(version: str) -> None:
    def texts(value: Any) -> list[str]:
        match value:
            case str():
                return [value]
            case dict():
                return [text for key, each in value.items() for text in (key, *texts(each))]
            case list():
                return [text for each in value for text in texts(each)]
        return []

    assert max(map(len, texts(facts(version)))) < 45
    assert not any(" " in text for text in texts(facts(version)))
