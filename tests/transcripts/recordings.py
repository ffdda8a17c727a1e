"""Reads recordings of real connections and tells what our types keep of their messages.

    python tests/transcripts/recordings.py DIR

prints for each recording below DIR how many of its messages came through decoding and encoding with all members that
the protocol defines, and then what was lost. A line of a recording is an object with `dir` (who sent it, ``client`` or
``agent``) and `msg`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.codec import CodecError, Dropped, decode, encode
from duologue.protocol.common.errors import Error
from duologue.protocol.method import Method, Side
from duologue.protocol.version import SUPPORTED, V1, Version

Json = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """One part of a recorded message that has a type of its own; `wanted` is None for a method of nobody's table."""

    version: Version
    receiver: Side
    name: str
    part: str
    wire: Any
    wanted: Any = None

    @property
    def place(self) -> str:
        return f"v{self.version.number} {self.name} {self.part}"


@dataclass(frozen=True)
class Kept:
    """What became of a message: members that are missing or different after a round trip, and why it was salvaged."""

    lost: frozenset[str]
    dropped: tuple[Dropped, ...] = ()


def read(file: Path) -> list[tuple[Side, Json]]:
    """Who sent what; the members of a batch one by one, and nothing that is no message."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(Side(line["dir"]), message) for line in lines for message in messages(line["msg"])]


def messages(sent: Any) -> Iterator[Json]:
    match sent:
        case dict():
            yield sent
        case list():
            for one in sent:
                yield from messages(one)


def version_of(said: list[tuple[Side, Json]]) -> Version:
    """What the agent answered to `initialize`, when that is one of ours."""
    for _, message in said:
        match message:
            case {"result": {"protocolVersion": int(number)}}:
                return next((version for version in SUPPORTED if version.number == number), V1)
    return V1


def recorded(said: list[tuple[Side, Json]]) -> Iterator[Recorded]:
    """The typed parts of a conversation: params, results and errors."""
    version = version_of(said)
    asked: dict[tuple[Side, Any], str] = {}
    for sender, message in said:
        match message:
            case {"method": str(name)}:
                if "id" in message:
                    asked[sender, json.dumps(message["id"])] = name
                if "params" in message:
                    yield typed(version, sender.other, name, "params", message["params"], answered="id" in message)
            case {"result": result, "id": id} if (key := (sender.other, json.dumps(id))) in asked:
                yield typed(version, sender, asked[key], "result", result, answered=True)
            case {"error": error}:
                name = asked.get((sender.other, json.dumps(message.get("id"))), "-")
                yield Recorded(version, sender.other, name, "error", error, Error)


def typed(version: Version, receiver: Side, name: str, part: str, wire: Any, *, answered: bool) -> Recorded:
    find = version.request if answered else version.notification
    method: Method | None = find(receiver, name)
    wanted = None if method is None else getattr(method, part)
    return Recorded(version, receiver, name, part, wire, wanted)


def kept(record: Recorded) -> Kept:
    """Decode, encode, compare. Raises `CodecError` for a message that does not fit at all."""
    dropped: list[Dropped] = []
    value = decode(record.wanted, json.dumps(record.wire).encode(), dropped.append)
    return Kept(frozenset(differences(record.wire, json.loads(encode(value)))), tuple(dropped))


def differences(before: Any, after: Any, path: str = "$") -> set[str]:
    """Paths at which two JSON values differ, list indexes left out."""
    match before, after:
        case dict(), dict():
            common = before.keys() & after.keys()
            inner = [differences(before[key], after[key], f"{path}.{key}") for key in common]
            return set().union({f"{path}.{key}" for key in before.keys() ^ after.keys()}, *inner)
        case list(), list() if len(before) == len(after):
            return set().union(*(differences(*pair, f"{path}[]") for pair in zip(before, after, strict=True)))
        case _:
            return set() if before == after and isinstance(before, bool) == isinstance(after, bool) else {path}


def survey(record: Recorded) -> set[str]:
    """What there is to say of a message: nothing when it comes back as it was."""
    if record.wanted is None:
        return {f"{record.place}: no such method"}
    try:
        result = kept(record)
    except CodecError as error:
        return {f"{record.place}: refused: {error}"}
    salvaged = {f"{record.place}: salvaged at {loss.path}" for loss in result.dropped}
    return salvaged or {f"{record.place}: {path}" for path in result.lost}


def main(folder: Path) -> int:
    news: Counter[str] = Counter()
    for file in sorted(folder.glob("*.jsonl")):
        found = [survey(record) for record in recorded(read(file))]
        news.update(line for lines in found for line in lines)
        print(f"{file.name}: {len(found)} parts, {sum(not lines for lines in found)} unchanged")
    for line, count in sorted(news.items()):
        print(f"{count:6} {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
