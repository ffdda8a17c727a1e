"""The rules of forms (`elicitation/create`): what an agent may ask for, and whether an answer fits what was asked.

Both ends use them: a client before an answer leaves, an agent when it comes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.common.elicitation_schema import (
    ArrayProperty,
    BooleanProperty,
    ElicitationPropertySchema,
    ElicitationSchema,
    IntegerProperty,
    NumberProperty,
    StringFormat,
    StringItems,
    StringProperty,
    TitledMultiSelectItems,
)
from duologue.session.formats import is_date, is_date_time, is_uri
from duologue.session.patterns import matches


def answer_problems(schema: ElicitationSchema, content: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with an answer to a form, in words; nothing when it fits. Names fields, never values.

    What the schema does not tell of is left alone: further fields, fields of an unknown type, unknown formats, and
    patterns that cannot be checked in bounded time.
    """
    given = content or {}
    missing = [f"{name}: is required" for name in schema.required or () if name not in given]
    wrong = [
        f"{name}: {problem}"
        for name, field in (schema.properties or {}).items()
        if name in given and (problem := value_problem(field, given[name]))
    ]
    return missing + wrong


def schema_problems(schema: ElicitationSchema) -> list[str]:
    """What is wrong with a form itself, in words, by the rules of version 2, which are the stricter ones."""
    fields = schema.properties or {}
    unknown = [f"{name}: is required, but no field" for name in schema.required or () if name not in fields]
    return unknown + [f"{name}: {problem}" for name, field in fields.items() for problem in _field_problems(field)]


def defaults(schema: ElicitationSchema) -> dict[str, Any]:
    """What a form is filled in with before the user does."""
    found = {name: getattr(field, "default", UNSET) for name, field in (schema.properties or {}).items()}
    return {name: value for name, value in found.items() if value is not UNSET and value is not None}


def choices(field: ElicitationPropertySchema) -> list[tuple[str, str]] | None:
    """The values of a selection, each with the label to show for it; None for a field that is none."""
    match field:
        case StringProperty(one_of=list(options)) | ArrayProperty(items=TitledMultiSelectItems(any_of=options)):
            return [(option.const, option.title) for option in options]
        case StringProperty(enum=list(values)) | ArrayProperty(items=StringItems(enum=values)):
            return [(value, value) for value in values]
    return None


def value_problem(field: ElicitationPropertySchema, value: Any) -> str | None:
    """What is wrong with the value of one field, in words."""
    match field:
        case StringProperty():
            return _string_problem(field, value) if isinstance(value, str) else "must be a text"
        case BooleanProperty():
            return None if isinstance(value, bool) else "must be true or false"
        case NumberProperty() | IntegerProperty():
            return _number_problem(field, value)
        case ArrayProperty():
            return _array_problem(field, value)
    return None


def _string_problem(field: StringProperty, value: str) -> str | None:
    offered = choices(field)
    if offered is not None and value not in dict(offered):
        return "must be one of the choices"
    if isinstance(field.min_length, int) and len(value) < field.min_length:
        return f"must have at least {field.min_length} characters"
    if isinstance(field.max_length, int) and len(value) > field.max_length:
        return f"must have at most {field.max_length} characters"
    if isinstance(field.pattern, str) and matches(field.pattern, value) is False:
        return "does not have the form that is asked for"
    if isinstance(field.format, StringFormat) and not _has_format(field.format, value):
        return f"is no {field.format.value}"
    return None


def _has_format(wanted: StringFormat, value: str) -> bool:
    match wanted:
        case StringFormat.EMAIL:
            name, at, host = value.rpartition("@")
            return bool(name and at and all(host.split("."))) and not any(char.isspace() for char in value)
        case StringFormat.URI:
            return is_uri(value)
        case StringFormat.DATE:
            return is_date(value)
        case StringFormat.DATE_TIME:
            return is_date_time(value)
    return True


def _number_problem(field: NumberProperty | IntegerProperty, value: Any) -> str | None:
    # A whole number may be too large for `isfinite`.
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not finite:
        return "must be a number"
    if isinstance(field, IntegerProperty) and value != int(value):
        return "must be a whole number"
    if isinstance(field.minimum, int | float) and value < field.minimum:
        return f"must be at least {field.minimum}"
    if isinstance(field.maximum, int | float) and value > field.maximum:
        return f"must be at most {field.maximum}"
    return None


def _array_problem(field: ArrayProperty, value: Any) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return "must be a list of texts"
    if isinstance(field.min_items, int) and len(value) < field.min_items:
        return f"needs at least {field.min_items} choices"
    if isinstance(field.max_items, int) and len(value) > field.max_items:
        return f"takes at most {field.max_items} choices"
    offered = choices(field)
    if offered is not None and not set(value) <= set(dict(offered)):
        return "must hold nothing but the choices"
    return None


def _field_problems(field: ElicitationPropertySchema) -> Iterator[str]:
    raw = field.items if isinstance(field, ArrayProperty) else field
    if isinstance(raw, Unknown):
        if not str(raw.raw.get("type")).startswith("_"):
            yield "a type of one's own begins with an underscore"
        return
    offered = choices(field)
    if offered is not None and not offered:
        yield "a selection needs a choice"
    if offered is not None and len(dict(offered)) < len(offered):
        yield "a choice is offered twice"
    for least, most in (("min_length", "max_length"), ("minimum", "maximum"), ("min_items", "max_items")):
        if _above(getattr(field, least, UNSET), getattr(field, most, UNSET)):
            yield f"{least} is above {most}"
    preset = getattr(field, "default", UNSET)
    if preset is not UNSET and preset is not None and value_problem(field, preset):
        yield f"the default {value_problem(field, preset)}"


def _above(least: Any, most: Any) -> bool:
    return isinstance(least, int | float) and isinstance(most, int | float) and least > most
