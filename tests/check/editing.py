"""Changes of a specimen: each breaks something at one place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from specimens import Entry, Json, Specimen

from duologue.check.record import Talk
from duologue.check.wire import as_line
from duologue.protocol.method import Side

Edit = Callable[[Specimen], Specimen]

#: In place of a value: the member goes.
GONE = object()


def talk(side: Side, version: int, specimen: Specimen) -> Talk:
    """The conversation as the checker on the other side of `side` records it."""
    made = Talk(side, version)
    for entry in specimen.values():
        data = entry.message if isinstance(entry.message, bytes) else as_line(entry.message)
        made.add(entry.client is (side is Side.AGENT), data)
    return made


def put(label: str, path: str, value: Any = GONE) -> Edit:
    """Set or remove the member at a dotted path."""

    def edit(specimen: Specimen) -> Specimen:
        entry = specimen[label]
        message = copy.deepcopy(entry.message)
        *way, last = path.split(".")
        place: Any = message
        for step in way:
            place = place[int(step)] if step.isdecimal() else place[step]
        key: Any = int(last) if last.isdecimal() else last
        if value is GONE:
            del place[key]
        else:
            place[key] = value
        return {**specimen, label: Entry(entry.client, message)}

    return edit


def update(label: str, path: str, value: Any = GONE) -> Edit:
    """Set or remove a member of a session update."""
    return put(label, f"params.update.{path}", value)


def raw(label: str, old: bytes, new: bytes) -> Edit:
    """Change the bytes of a message."""

    def edit(specimen: Specimen) -> Specimen:
        entry = specimen[label]
        return {**specimen, label: Entry(entry.client, as_line(entry.message).replace(old, new))}

    return edit


def drop(*labels: str) -> Edit:
    return lambda specimen: {label: entry for label, entry in specimen.items() if label not in labels}


def also(label: str, client: bool, *messages: Any) -> Edit:
    """More messages after one; after none, they come first."""

    def edit(specimen: Specimen) -> Specimen:
        made: Specimen = {}
        new = {f"{label} + {number}": Entry(client, _whole(each)) for number, each in enumerate(messages)}
        if not label:
            made |= new
        for each, entry in specimen.items():
            made[each] = entry
            if each == label:
                made |= new
        return made

    return edit


def _whole(message: Any) -> Any:
    return {"jsonrpc": "2.0", **message} if isinstance(message, dict) else message


def move(label: str, after: str) -> Edit:
    def edit(specimen: Specimen) -> Specimen:
        made: Specimen = {}
        for each, entry in specimen.items():
            if each != label:
                made[each] = entry
            if each == after:
                made[label] = specimen[label]
        return made

    return edit


def batched(label: str, *more: Any) -> Edit:
    """A message becomes a batch, with others."""

    def edit(specimen: Specimen) -> Specimen:
        entry = specimen[label]
        return {**specimen, label: Entry(entry.client, [entry.message, *map(_whole, more)])}

    return edit


def both(*edits: Edit) -> Edit:
    def edit(specimen: Specimen) -> Specimen:
        for each in edits:
            specimen = each(specimen)
        return specimen

    return edit


def again(label: str, into: str, **members: Any) -> Edit:
    """Say a message a second time after another one, with other members of the message."""

    def edit(specimen: Specimen) -> Specimen:
        entry = specimen[label]
        copied: Json = json.loads(json.dumps(entry.message))
        return also(into, entry.client, {**copied, **members})(specimen)

    return edit


def telling(after: str, **members: Any) -> Edit:
    """One more session update."""
    return also(after, False, {"method": "session/update", "params": {"sessionId": "s1", "update": members}})


def asking(after: str, method: str, **params: Any) -> Edit:
    """One more request of the client."""
    return also(after, True, {"id": 900, "method": method, "params": params})
