"""Valid JSON of every type goes in and comes out unchanged, unknown variants and unknown enum values included."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from protocol_facts import all_types
from protocol_values import values

from duologue.codec import decode, encode
from duologue.protocol import find_type

QUICK = settings(max_examples=12, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("version", "name"), all_types())
def test_valid_json_survives(version: str, name: str) -> None:
    hint = find_type(version, name)

    @QUICK
    @given(values(version, name))
    def survives(value: Any) -> None:
        assert json.loads(encode(decode(hint, json.dumps(value).encode()))) == value

    survives()
