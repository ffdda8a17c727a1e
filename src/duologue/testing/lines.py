"""The lines of a script: a conversation, in the order in which it happens.

Each line is said by one side and expected by the other, so that one script serves a `ScriptedAgent` and a
`ScriptedClient`. A text to expect may be a pattern (``re.compile("...")``), which has to match the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.elicitation import ElicitationContentValue
from duologue.protocol.common.elicitation_schema import ElicitationSchema
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.updates import SessionUpdate

Text = str | re.Pattern[str]


class Line:
    """One of the lines below."""


@dataclass(frozen=True)
class Prompt(Line):
    """The user prompts; a text, or content blocks."""

    content: Text | Sequence[ContentBlock]

    def blocks(self) -> list[ContentBlock]:
        """What to send. Raises `TypeError` for a pattern."""
        if isinstance(self.content, str | re.Pattern):
            return [TextBlock(text=to_say(self.content))]
        return list(self.content)

    def fits(self, blocks: Sequence[ContentBlock]) -> bool:
        if isinstance(self.content, str | re.Pattern):
            texts = [block.text for block in blocks if isinstance(block, TextBlock)]
            return len(texts) == len(blocks) and matches(self.content, "\n".join(texts))
        return contains(list(self.content), list(blocks))


@dataclass(frozen=True)
class Reply(Line):
    """The agent says a text, in however many pieces."""

    text: Text


@dataclass(frozen=True)
class Thought(Line):
    """The agent thinks a text, in however many pieces."""

    text: Text


@dataclass(frozen=True)
class Call(Line):
    """The agent shows a tool call: begins it, or goes on with the unfinished one of that title.

    What is None is not compared; an agent shows a new call as `pending`.
    """

    title: str
    status: str | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Question(Line):
    """The agent asks for permission, and the client picks the option of the kind `answer`, or says ``cancelled``."""

    title: Text
    answer: str = "allow_once"


@dataclass(frozen=True)
class Form(Line):
    """The agent asks for a form to be filled in, and the client answers: the content, or ``decline`` or ``cancel``.

    An agent needs the `schema` to ask for; it is not compared.
    """

    message: Text
    answer: Mapping[str, ElicitationContentValue] | Literal["decline", "cancel"]
    schema: ElicitationSchema | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Update(Line):
    """The agent sends any session update. Members that are `UNSET` are not compared."""

    update: SessionUpdate


@dataclass(frozen=True)
class Cancel(Line):
    """The user cancels. What the agent still says is passed over unless the next line expects it."""


@dataclass(frozen=True)
class End(Line):
    """The turn ends. A turn whose end is not written ends so too."""

    reason: str = "end_turn"


@dataclass(frozen=True)
class Failure(Line):
    """The turn ends with an error. The message is not compared when it is empty."""

    code: int
    message: str = ""


def to_say(text: Text) -> str:
    """A text that a script says itself. Raises `TypeError` for a pattern."""
    if isinstance(text, re.Pattern):
        raise TypeError(f"a pattern can be expected but not said: write the text instead of {text.pattern!r}")
    return text


def matches(expected: Text, text: str) -> bool:
    return expected == text if isinstance(expected, str) else expected.fullmatch(text) is not None


def contains(expected: Any, value: Any) -> bool:
    """Whether a value has all that is set in the expected one."""
    match expected:
        case msgspec.Struct():
            return type(value) is type(expected) and all(
                contains(part, getattr(value, name))
                for name in expected.__struct_fields__
                if (part := getattr(expected, name)) is not UNSET
            )
        case list():
            same = isinstance(value, list) and len(value) == len(expected)
            return same and all(map(contains, expected, value))
    return bool(expected == value)
