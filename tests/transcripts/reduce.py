"""Makes recordings small and free of what people said: shapes, member names and the protocol's own words stay.

    python tests/transcripts/reduce.py DIR tests/transcripts/data

DIR holds recordings, or folders of logs of ours (`trace` of a connection, `duologue agent --log`), which become one
recording each; so `.peers/released/recordings` does.
Of messages that look alike the first ones stay, with their answers. Every text becomes a word of its own, the same
wherever it stands in a recording, so that ids still point at what they named.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

#: Members whose texts are words of the protocol.
WORDS = {"jsonrpc", "method", "sessionUpdate", "type", "kind", "status", "state", "stopReason", "outcome", "mode"}
WORDS |= {"role", "category", "currency", "mimeType", "priority", "required"}
#: Members whose texts have a form.
FORMED = {"updatedAt": "2026-01-01T00:00:00Z", "data": "AAAA"}

#: How many messages, and items of a list, that look alike are kept.
ALIKE = 2


class Reducer:
    """The words of one recording."""

    def __init__(self) -> None:
        self._made: dict[str, str] = {}

    def value(self, value: Any, member: str = "") -> Any:
        match value:
            case dict():
                return {self.member(name): self.value(each, name) for name, each in value.items()}
            case list():
                return few([self.value(each, member) for each in value])
            case str() if member not in WORDS:
                return FORMED.get(member) or self.word(value)
        return value

    def member(self, name: str) -> str:
        """Names stay, but some programs use paths and sentences as names."""
        return name if all(letter.isalnum() or letter in "_-.$" for letter in name) else self.word(name)

    def word(self, text: str) -> str:
        """A short text of the same sort."""
        if not text:
            return text
        number = len(self._made)
        scheme, colon, _ = text.partition("://")
        made = f"{scheme}://" if colon and scheme.isalpha() else "/" if text.startswith("/") else ""
        return self._made.setdefault(text, f"{made}{'home/' if made else 'w'}{number}")


def few(items: list[Any]) -> list[Any]:
    """The first items of each look."""
    seen: dict[str, int] = {}
    kept = []
    for item in items:
        look = looks(item)
        seen[look] = seen.get(look, 0) + 1
        if seen[look] <= ALIKE:
            kept.append(item)
    return kept


def looks(value: Any) -> str:
    """What two values that look alike have in common: names, kinds and words of the protocol."""
    return json.dumps(_look(value, ""), sort_keys=True)


def _look(value: Any, member: str) -> Any:
    match value:
        case dict():
            return {name: _look(each, name) for name, each in value.items() if name != "id"}
        case list():
            return sorted({looks(each) for each in value})
        case str() if member in WORDS:
            return value
    return type(value).__name__


def reduced(lines: list[Json]) -> list[Json]:
    """The lines of a recording that show something new, with the requests and answers that belong to them."""
    reducer = Reducer()
    small = [{"dir": line["dir"], "msg": reducer.value(line["msg"])} for line in lines]
    asked = requests(small)
    seen: dict[str, int] = {}
    wanted: set[int] = set()
    for index, line in enumerate(small):
        # Two empty answers look alike, but their types differ.
        look = looks([line, small[asked[index]]["msg"]["method"] if index in asked else ""])
        seen[look] = seen.get(look, 0) + 1
        if seen[look] <= ALIKE:
            wanted.add(index)
    answered = {request: answer for answer, request in asked.items()}
    wanted |= {other[index] for other in (asked, answered) for index in wanted if index in other}
    return [line for index, line in enumerate(small) if index in wanted]


def requests(lines: list[Json]) -> dict[int, int]:
    """Where the request stands that a line answers."""
    opened: dict[str, int] = {}
    found: dict[int, int] = {}
    for index, line in enumerate(lines):
        match line["msg"]:
            case {"method": str(), "id": id}:
                opened[json.dumps([line["dir"], id])] = index
            case {"id": id}:
                sender = "client" if line["dir"] == "agent" else "agent"
                if (key := json.dumps([sender, id])) in opened:
                    found[index] = opened[key]
    return found


def read(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def logged(file: Path) -> list[Json]:
    """The lines of a log of ours as those of a recording; the client is who says `initialize`."""
    lines = [line for line in read(file) if isinstance(line.get("message"), dict)]
    client = next((line["direction"] for line in lines if line["message"].get("method") == "initialize"), None)
    return [{"dir": "client" if line["direction"] == client else "agent", "msg": line["message"]} for line in lines]


def sources(folder: Path) -> Iterator[tuple[str, list[Json]]]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield path.name, [line for file in sorted(path.glob("*.jsonl")) for line in logged(file)]
        elif path.suffix == ".jsonl":
            yield path.stem, read(path)


def main(source: Path, target: Path) -> int:
    for name, lines in sources(source):
        kept = reduced(lines)
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in kept)
        (target / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{name}: {len(kept)} of {len(lines)} lines, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
