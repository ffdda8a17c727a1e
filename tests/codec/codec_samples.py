"""Small wire types with one of each thing that the codec treats in its own way."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from duologue.protocol.base import (
    OPEN,
    SECOND_TAG,
    AtLeastOne,
    Extensible,
    Flag,
    Int64,
    Items,
    Lenient,
    Maybe,
    OpenEnum,
    Opt,
    UInt16,
    UInt64,
    Unknown,
    Untagged,
    Wire,
    open_with,
)


class Colour(OpenEnum):
    RED = "red"


class Phase(StrEnum):
    """Closed, as second tags are."""

    ON = "on"
    OFF = "off"


class Hints(Wire, kw_only=True):
    audience: Maybe[Items[Literal["user", "assistant"]]] = UNSET
    weight: Opt[float] = UNSET


class Text(Extensible, tag_field="type", tag="text", kw_only=True):
    text: str
    hints: Maybe[Hints] = UNSET


class Image(Extensible, tag_field="type", tag="image", kw_only=True):
    data: str
    width: Maybe[UInt16] = UNSET


class State(Extensible, tag_field="type", tag="state", kw_only=True):
    phase: Annotated[Phase, SECOND_TAG]
    reason: Maybe[str] = UNSET


Block = Annotated[Text | Image | State, OPEN]
Closed = Text | Image
Named = Annotated[Text | Image, open_with(itemId=str)]
Single = Annotated[Text, OPEN]


class Plain(Wire, kw_only=True):
    command: str
    args: list[str]


class Remote(Wire, tag_field="type", tag="http", kw_only=True):
    url: str


class Server(Untagged):
    variants = (Plain, Remote)  # type: ignore[assignment]

    @classmethod
    def pick(cls, raw: Any) -> Any:
        match raw.get("type") if isinstance(raw, dict) else None:
            case None:
                return Plain
            case "http":
                return Remote
            case _:
                return Unknown


class Options(Untagged):
    variants = (list[Text], list[str])  # type: ignore[assignment]

    @classmethod
    def pick(cls, raw: Any) -> Any:
        return list[Text] if isinstance(raw, list) and raw and isinstance(raw[0], dict) else list[str]


class Node(Wire, kw_only=True):
    """A type that holds itself."""

    name: str
    children: Opt[Items["Node"]] = UNSET


class Inner(Extensible, kw_only=True):
    label: Maybe[str] = UNSET


class Everything(Extensible, kw_only=True):
    id: str
    count: Int64 = 0
    big: Opt[UInt64] = UNSET
    both: Annotated[int, Meta(ge=0, extra={"on_error": "default"})] | UnsetType = UNSET
    price: float | UnsetType = UNSET
    on: Flag = UNSET
    note: Maybe[str] = UNSET
    strict: str | UnsetType | None = UNSET
    plain: str | UnsetType = UNSET
    colour: Maybe[Colour] = UNSET
    blocks: Maybe[Items[Block]] = UNSET
    block: Block | UnsetType | None = UNSET
    lenient_block: Maybe[Block] = UNSET
    closed: Closed | UnsetType = UNSET
    named: Named | UnsetType = UNSET
    single: Single | UnsetType = UNSET
    server: Server | UnsetType = UNSET
    no_server: Server | UnsetType | None = UNSET
    text_only: Text | UnsetType = UNSET
    servers: Opt[Items[Server]] = UNSET
    options: Options | UnsetType = UNSET
    table: dict[str, Block] = msgspec.field(default_factory=dict)
    some: AtLeastOne[Block] | UnsetType = UNSET
    node: Node | UnsetType = UNSET
    anything: Any = UNSET


class Needs(Wire, kw_only=True):
    """Members that senders must write and readers may miss."""

    things: Lenient[Items[Block]]
    inner: Lenient[Inner]
