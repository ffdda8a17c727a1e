"""The rules of forms: every word of their schema, judged for a whole form and for each answer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue import codec
from duologue.protocol.common.elicitation_schema import ElicitationSchema
from duologue.session.forms import answer_problems, choices, defaults, schema_problems
from duologue.session.patterns import matches


def form(required: list[str] | None = None, **fields: dict[str, Any]) -> ElicitationSchema:
    return codec.convert(ElicitationSchema, {"type": "object", "properties": fields, "required": required or []})


def fits(field: dict[str, Any], value: Any) -> bool:
    return answer_problems(form(f=field), {"f": value}) == []


STRING = {"type": "string"}
TITLED = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]

GOOD: list[tuple[dict[str, Any], Any]] = [
    (STRING, ""),
    (STRING | {"minLength": 2, "maxLength": 3}, "äö"),
    (STRING | {"pattern": "^[a-z]+$"}, "abc"),
    (STRING | {"pattern": "b"}, "abc"),
    (STRING | {"format": "email"}, "who@example.org"),
    (STRING | {"format": "uri"}, "https://example.org/a?b=c"),
    (STRING | {"format": "uri"}, "urn:isbn:0451450523"),
    (STRING | {"format": "date"}, "2024-02-29"),
    (STRING | {"format": "date-time"}, "2024-02-29T12:30:00Z"),
    (STRING | {"format": "date-time"}, "2016-12-31t23:59:60.5+00:00"),
    (STRING | {"format": "postcode"}, "anything"),
    (STRING | {"enum": ["a", "b"]}, "a"),
    (STRING | {"oneOf": TITLED}, "b"),
    ({"type": "number"}, 1),
    ({"type": "number"}, 10**400),
    ({"type": "number", "minimum": 0.5, "maximum": 1}, 0.5),
    ({"type": "integer", "minimum": 1, "maximum": 3}, 3),
    ({"type": "integer"}, 3.0),
    ({"type": "boolean"}, False),
    ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, []),
    ({"type": "array", "items": {"anyOf": TITLED}, "minItems": 1, "maxItems": 2}, ["a", "b"]),
    ({"type": "array", "items": {"type": "_colour"}}, ["red"]),
    ({"type": "_colour"}, "red"),
]

BAD: list[tuple[dict[str, Any], Any]] = [
    (STRING, 5),
    (STRING, True),
    (STRING, None),
    (STRING | {"minLength": 3}, "äö"),
    (STRING | {"maxLength": 1}, "äö"),
    (STRING | {"pattern": "^[a-z]+$"}, "abc1"),
    (STRING | {"pattern": "^[a-z]+$"}, "abc\n"),
    (STRING | {"pattern": r"^\d+$"}, "٣"),
    (STRING | {"format": "email"}, "who"),
    (STRING | {"format": "email"}, "@example.org"),
    (STRING | {"format": "email"}, "who@example..org"),
    (STRING | {"format": "email"}, "a b@example.org"),
    (STRING | {"format": "uri"}, "example.org"),
    (STRING | {"format": "uri"}, "https://exa mple.org"),
    (STRING | {"format": "uri"}, "https://[oops"),
    (STRING | {"format": "uri"}, "mailto:"),
    (STRING | {"format": "date"}, "2023-02-29"),
    (STRING | {"format": "date"}, "20240229"),
    (STRING | {"format": "date-time"}, "2024-02-29"),
    (STRING | {"format": "date-time"}, "2024-02-29T12:30:00"),
    (STRING | {"format": "date-time"}, "2024-02-29T25:30:00Z"),
    (STRING | {"enum": ["a", "b"]}, "c"),
    (STRING | {"oneOf": TITLED}, "A"),
    ({"type": "number"}, "1"),
    ({"type": "number"}, True),
    ({"type": "number"}, float("nan")),
    ({"type": "number"}, float("inf")),
    ({"type": "number", "minimum": 0.5}, 0),
    ({"type": "number", "maximum": 1}, 1.1),
    ({"type": "integer"}, 1.5),
    ({"type": "integer"}, False),
    ({"type": "integer", "minimum": 1}, 0),
    ({"type": "integer", "maximum": 3}, 4),
    ({"type": "boolean"}, 0),
    ({"type": "boolean"}, "true"),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, "a"),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ["b"]),
    ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, [1]),
    ({"type": "array", "items": {"anyOf": TITLED}, "minItems": 1}, []),
    ({"type": "array", "items": {"anyOf": TITLED}, "maxItems": 1}, ["a", "b"]),
]


@pytest.mark.parametrize(("field", "value"), GOOD)
def test_a_value_that_fits(field: dict[str, Any], value: Any) -> None:
    assert fits(field, value)


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_value_that_does_not_fit(field: dict[str, Any], value: Any) -> None:
    assert not fits(field, value)


def test_what_is_required_must_be_there_and_nothing_else_need_be() -> None:
    asked = form(["a"], a=STRING, b=STRING)
    assert answer_problems(asked, {"a": ""}) == []
    assert answer_problems(asked, {"a": "x", "further": 5}) == []
    assert answer_problems(asked, {"b": "x"}) == ["a: is required"]
    assert answer_problems(asked, None) == ["a: is required"]
    assert answer_problems(form(a=STRING), None) == []


def test_a_problem_does_not_show_the_value() -> None:
    asked = form(a=STRING | {"format": "email", "maxLength": 5}, n={"type": "integer", "maximum": 5})
    assert "sesame" not in str(answer_problems(asked, {"a": "sesame", "n": "sesame"}))


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (STRING | {"enum": []}, "a selection needs a choice"),
        (STRING | {"oneOf": []}, "a selection needs a choice"),
        ({"type": "array", "items": {"anyOf": []}}, "a selection needs a choice"),
        (STRING | {"enum": ["a", "a"]}, "a choice is offered twice"),
        (STRING | {"minLength": 3, "maxLength": 2}, "min_length is above max_length"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "minimum is above maximum"),
        (STRING | {"enum": ["a"], "default": "b"}, "the default must be one of the choices"),
        ({"type": "colour"}, "a type of one's own begins with an underscore"),
        ({"type": "array", "items": {"type": "colour"}}, "a type of one's own begins with an underscore"),
    ],
)
def test_a_form_that_may_not_be_asked(field: dict[str, Any], problem: str) -> None:
    assert schema_problems(form(f=field)) == [f"f: {problem}"]


def test_a_form_that_may_be_asked() -> None:
    fields = {f"f{number}": field for number, (field, _) in enumerate(GOOD)}
    assert schema_problems(form(list(fields), **fields)) == []
    assert schema_problems(ElicitationSchema()) == []
    assert schema_problems(form(["b"], a=STRING)) == ["b: is required, but no field"]


def test_choices_and_defaults() -> None:
    asked = form(a=STRING | {"oneOf": TITLED, "default": "b"}, b=STRING | {"enum": ["x"]}, c={"type": "boolean"})
    fields = asked.properties or {}
    assert choices(fields["a"]) == [("a", "A"), ("b", "B")]
    assert choices(fields["b"]) == [("x", "x")]
    assert choices(fields["c"]) is None
    assert defaults(asked) == {"a": "b"}


# --- patterns ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-elicitation-45")
@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a?){60}a{60}$", "(x+x+)+y", r"^(\w+\s?)*$"])
def test_no_pattern_takes_long(pattern: str) -> None:
    # By backtracking each of these takes longer than the world has existed.
    assert matches(pattern, "a" * 5_000 + "!") is False


@pytest.mark.parametrize("pattern", ["^(?:){4000000000}a", "^(){4000000000}a", "^(?:(?:){4000000000}){4000000000}a"])
def test_nothing_may_be_repeated_any_number_of_times(pattern: str) -> None:
    assert matches(pattern, "a") is True
    assert matches(pattern, "b") is False


@pytest.mark.parametrize("pattern", ["(?:a?){900}b", "[" + "".join(map(chr, range(0x4000, 0x5000))) + "]x"])
def test_a_text_that_takes_too_long_does_not_match(pattern: str) -> None:
    assert matches(pattern, "a" * 100_000 + chr(0x4001)) is False


RANGES = "".join(f"{chr(first)}-{chr(first + 1)}" for first in range(0x4000, 0x4200, 4))


@pytest.mark.parametrize(
    "pattern", ["(", r"(a)\1", "(?=a)a", "(?<!a)b", "a{100000}", "(?i)a", r"\p{L}", "[b-a]", f"[{RANGES}]"]
)
def test_what_cannot_be_checked_is_not(pattern: str) -> None:
    assert matches(pattern, "a") is None


PIECES = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\W", r"\s", "(ab|c)", "(?:a)", "^", "$", r"\b"]
)
ENDS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"])


@given(
    st.lists(st.tuples(PIECES, ENDS), max_size=5), st.text("abc1 \n", max_size=8), st.sampled_from(["", "|b", "|^$"])
)
def test_patterns_mean_what_they_mean_to_python(pieces: list[tuple[str, str]], text: str, other: str) -> None:
    pattern = "".join(piece + ("" if piece in ("^", "$", r"\b") else end) for piece, end in pieces) + other
    wanted = re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None
    assert matches(pattern, text) is wanted
