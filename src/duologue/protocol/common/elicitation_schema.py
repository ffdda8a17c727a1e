"""The restricted JSON schema that a form is built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import (
    OPEN,
    Extensible,
    Int64,
    Items,
    Maybe,
    OpenEnum,
    Opt,
    UInt32,
    UInt64,
    Unknown,
    Untagged,
    default,
    only_v2,
)


class StringFormat(OpenEnum):
    """How the text of a field is to be checked."""

    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"


class EnumOption(Extensible, kw_only=True):
    """A value to choose, with the label to show for it."""

    const: str
    title: str
    description: Maybe[str] = UNSET


class StringPropertySchema(Extensible, kw_only=True):
    """A field for text, or for one choice when it has `enum` or `one_of`."""

    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    min_length: UInt32 | UnsetType | None = UNSET
    max_length: UInt32 | UnsetType | None = UNSET
    pattern: str | UnsetType | None = UNSET
    format: StringFormat | UnsetType | None = UNSET
    default: Maybe[str] = UNSET
    enum: Annotated[list[str] | UnsetType | None, only_v2(minItems=1)] = UNSET
    one_of: Annotated[list[EnumOption] | UnsetType | None, only_v2(minItems=1)] = UNSET


class NumberPropertySchema(Extensible, kw_only=True):
    """A field for a number."""

    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    minimum: float | UnsetType | None = UNSET
    maximum: float | UnsetType | None = UNSET
    default: Maybe[float] = UNSET


class IntegerPropertySchema(Extensible, kw_only=True):
    """A field for a whole number."""

    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    minimum: Int64 | UnsetType | None = UNSET
    maximum: Int64 | UnsetType | None = UNSET
    default: Maybe[Int64] = UNSET


class BooleanPropertySchema(Extensible, kw_only=True):
    """A field for yes or no."""

    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    default: Maybe[bool] = UNSET


class StringMultiSelectItems(Extensible, kw_only=True):
    """The choices of a multiple selection, shown as they are."""

    enum: Annotated[list[str], only_v2(minItems=1)]


class StringItems(StringMultiSelectItems, tag_field="type", tag="string", kw_only=True):
    """Choices that are plain strings."""


class TitledMultiSelectItems(Extensible, kw_only=True):
    """The choices of a multiple selection, each with a label. Carries no tag."""

    any_of: Annotated[list[EnumOption], only_v2(minItems=1)]


if TYPE_CHECKING:
    MultiSelectItems = StringItems | TitledMultiSelectItems | Unknown
else:

    class MultiSelectItems(Untagged):
        """The choices of a multiple selection: labelled ones have no tag, other kinds are kept as they are."""

        variants = (StringItems, TitledMultiSelectItems)

        @classmethod
        def pick(cls, raw: Any) -> Any:
            kind = raw.get("type") if isinstance(raw, dict) else None
            if kind == "string" and "enum" in raw:
                return StringItems
            if isinstance(raw, dict) and "anyOf" in raw:
                return TitledMultiSelectItems
            return Unknown if isinstance(kind, str) and kind != "string" else StringItems


class MultiSelectPropertySchema(Extensible, kw_only=True):
    """A field for any number of choices."""

    items: MultiSelectItems
    title: Maybe[str] = UNSET
    description: Maybe[str] = UNSET
    min_items: UInt64 | UnsetType | None = UNSET
    max_items: UInt64 | UnsetType | None = UNSET
    default: Maybe[Items[str]] = UNSET


class StringProperty(StringPropertySchema, tag_field="type", tag="string", kw_only=True):
    """A text field of a form."""


class NumberProperty(NumberPropertySchema, tag_field="type", tag="number", kw_only=True):
    """A number field of a form."""


class IntegerProperty(IntegerPropertySchema, tag_field="type", tag="integer", kw_only=True):
    """A whole-number field of a form."""


class BooleanProperty(BooleanPropertySchema, tag_field="type", tag="boolean", kw_only=True):
    """A yes-or-no field of a form."""


class ArrayProperty(MultiSelectPropertySchema, tag_field="type", tag="array", kw_only=True):
    """A multiple-choice field of a form."""


_KNOWN = StringProperty | NumberProperty | IntegerProperty | BooleanProperty | ArrayProperty
#: One field of a form.
if TYPE_CHECKING:
    ElicitationPropertySchema = _KNOWN | Unknown
else:
    ElicitationPropertySchema = Annotated[_KNOWN, OPEN]


class ElicitationSchemaType(OpenEnum):
    """The type of a form, which is always an object."""

    OBJECT = "object"


class ElicitationSchema(Extensible, kw_only=True):
    """A form: its fields, and which of them must be filled in."""

    type: Annotated[Opt[ElicitationSchemaType], default("object")] = UNSET
    title: Maybe[str] = UNSET
    properties: Annotated[dict[str, ElicitationPropertySchema] | UnsetType, default({})] = UNSET
    required: list[str] | UnsetType | None = UNSET
    description: Maybe[str] = UNSET
