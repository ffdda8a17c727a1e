"""What a peer can do wrong on purpose, by name.

A fault stands between a sound peer and its transport: it is given each line that the peer has to send, and says what
leaves in its place. `FAULTS` has them by name; a survivable one leaves a sound peer on the other side a way to go on as
if nothing had happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

Json = Any

#: What a fault gives in place of bytes to end the connection.
END = None


class Fault:
    """Changes nothing; the parent of what does."""

    survivable: ClassVar[bool] = True
    #: Whether the peer reads nothing.
    deaf: ClassVar[bool] = False

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        """What leaves in place of a line (its line feed included), a write each; `END` ends the connection."""
        return (line,)

    def received(self, message: Json) -> None:
        """A message has come in."""


class _Before(Fault):
    """Sends something before each message."""

    lines: ClassVar[tuple[bytes, ...]]

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return (*self.lines, line)


class Noise(_Before):
    """Lines of plain text, as from a log, stand before each message; one has terminal escapes."""

    lines = (b"npm warn deprecated\n", b"\x1b[33m[warn]\x1b[0m {config} not found\n")


class BrokenJson(_Before):
    """A line that breaks off in the midst of its JSON stands before each message."""

    lines = (b'{"jsonrpc":"2.0","method":"session/upd\n',)


class NotObjects(_Before):
    """JSON that is no message (null, a number, a string, an empty array) stands before each message."""

    lines = (b"null\n", b"42\n", b'"text"\n', b"[]\n")


class BadUtf8(_Before):
    """A line with bytes that are no UTF-8 stands before each message."""

    lines = (b'{"jsonrpc":"2.0","method":"_\xff\xfe"}\n',)


class NullIds(_Before):
    """An error for the id null stands before each message."""

    lines = (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n',)


class UnknownMethods(_Before):
    """A notification and a request that nobody knows stand before each message."""

    lines = (
        b'{"jsonrpc":"2.0","method":"_nobody/knows","params":{}}\n',
        b'{"jsonrpc":"2.0","id":"unknown-1","method":"_nobody/asks","params":{}}\n',
    )


class StrayUpdates(_Before):
    """Updates of a session that nobody opened, one of them of an unknown kind, stand before each message."""

    lines = tuple(
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"stray","update":%s}}\n' % update
        for update in (
            b'{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"stray"}}',
            b'{"sessionUpdate":"_of_no_kind","size":3}',
        )
    )


class BlankLines(Fault):
    """Blank lines stand around each message, and lines end with CR LF."""

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return (b"\r\n\n", line.rstrip(b"\n") + b"\r\n")


class HugeLine(Fault):
    """A notification of `size` bytes stands before the first message: set `Limits.message_bytes` below that."""

    def __init__(self, size: int = 1024 * 1024) -> None:
        self._size = size

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        if self._size:
            head, tail = b'{"jsonrpc":"2.0","method":"_huge","params":{"text":"', b'"}}\n'
            yield head + b"x" * (self._size - len(head) - len(tail) + 1) + tail
            self._size = 0
        yield line


class Flood(Fault):
    """`count` notifications that nobody knows stand before each message, in one write."""

    def __init__(self, count: int = 1000) -> None:
        self._flood = b'{"jsonrpc":"2.0","method":"_flood","params":{"text":"more"}}\n' * count

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return (self._flood + line,)


class PartialWrites(Fault):
    """Each message leaves in writes of `size` bytes, and so cuts characters and lines anywhere."""

    def __init__(self, size: int = 1) -> None:
        self._size = size

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return (line[start : start + self._size] for start in range(0, len(line), self._size))


class UnknownMembers(Fault):
    """Each message has members that nobody knows, on its top and in its params or result."""

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        if not isinstance(message, dict):
            return (line,)
        changed = {**message, "_unknown": {"deep": [1, None]}}
        for part in ("params", "result"):
            if isinstance(message.get(part), dict):
                changed[part] = {**message[part], "_unknown": True}
        return (as_line(changed),)


class _Answers(Fault):
    """Does something to answers alone."""

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return self.answer(line, message) if is_answer(message) else (line,)

    def answer(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        raise NotImplementedError


class WrongIds(_Answers):
    """Each answer comes under ids that nobody asked with (a number, a text), then under its own."""

    def answer(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        own = message["id"]
        wrong = (999_999, str(own) if isinstance(own, int) else f"{own} ")
        return (*(as_line({**message, "id": id}) for id in wrong), line)


class DuplicateAnswers(_Answers):
    """Each answer comes twice."""

    def answer(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        return (line, line)


class ContradictingAnswers(_Answers):
    """Each answer is followed by an error for the same request."""

    def answer(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        error = {"code": -32603, "message": "on second thoughts, no"}
        return (line, as_line({"jsonrpc": "2.0", "id": message["id"], "error": error}))


class AnswersOutOfOrder(_Answers):
    """Answers wait until every open request has one, and then come in reverse."""

    def __init__(self) -> None:
        self._open = 0
        self._held: list[bytes] = []

    def received(self, message: Json) -> None:
        self._open += isinstance(message, dict) and "method" in message and "id" in message

    def answer(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        self._held.append(line)
        if len(self._held) < self._open:
            return ()
        held, self._held, self._open = self._held[::-1], [], 0
        return held


class _After(Fault):
    """Is sound for the first `after` messages."""

    survivable = False

    def __init__(self, after: int = 1) -> None:
        self._left = after

    def sent(self, line: bytes, message: Json) -> Iterable[bytes | None]:
        self._left -= 1
        return (line,) if self._left >= 0 else self.then(line)

    def then(self, line: bytes) -> Iterable[bytes | None]:
        raise NotImplementedError


class Silence(_After):
    """Nothing leaves after the first `after` messages; the connection stays open."""

    def then(self, line: bytes) -> Iterable[bytes | None]:
        return ()


class EarlyClose(_After):
    """The connection ends in place of the message after the first `after`."""

    def then(self, line: bytes) -> Iterable[bytes | None]:
        return (END,)


class HalfMessage(_After):
    """The connection ends in the midst of the message after the first `after`."""

    def then(self, line: bytes) -> Iterable[bytes | None]:
        return (line[: len(line) // 2], END)


class Deaf(Fault):
    """Nothing is read, so that what the other side sends piles up."""

    survivable = False
    deaf = True


def is_answer(message: Json) -> bool:
    return isinstance(message, dict) and "method" not in message and message.get("id") is not None


def as_line(message: Json) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def _named(parent: type[Fault]) -> Iterator[tuple[str, type[Fault]]]:
    for each in parent.__subclasses__():
        if each.__name__.startswith("_"):
            yield from _named(each)
        else:
            yield "".join(f"_{c.lower()}" if c.isupper() else c for c in each.__name__).lstrip("_"), each


#: Every fault by its name, such as ``broken_json``.
FAULTS: dict[str, type[Fault]] = dict(_named(Fault))


def fault(name: str, **settings: int) -> Fault:
    """A fault by its name; some take a setting: ``fault("partial_writes", size=3)``. Raises `LookupError`."""
    if name not in FAULTS:
        raise LookupError(f"there is no fault {name!r}; there are {', '.join(FAULTS)}")
    return FAULTS[name](**settings)
