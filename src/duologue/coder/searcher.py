"""Searching files for a pattern, as a program of its own: `python -m duologue.coder.searcher JSON`.

Used where ripgrep is not installed. It is a process because a regular expression can take for ever, and Python's engine
holds everything else up meanwhile; a process can be stopped. Prints one JSON object a match, or `{"error": text}`.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from duologue.coder.errors import ToolError
from duologue.coder.walk import walk
from duologue.local.errors import LocalError
from duologue.local.files import open_parent, read_at
from duologue.local.globs import matches_anywhere
from duologue.local.workspace import Place


def search(query: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The matching lines. `query` has root, parts, file, pattern, regex, ignore_case, glob, and the largest size."""
    fits = _matcher(query["pattern"], query["regex"], query["ignore_case"])
    for path, data in _texts(query):
        for number, line in enumerate(data.split(b"\n"), 1):
            text = line.removesuffix(b"\r").decode("utf-8", "replace")
            if fits(text):
                yield {"path": path, "line": number, "text": text[: query["characters"]]}


def _matcher(pattern: str, regex: bool, ignore_case: bool) -> Callable[[str], object]:
    with warnings.catch_warnings():
        # What a later Python may read in another way is a warning for authors, and would be taken for a failure here.
        warnings.simplefilter("ignore")
        return re.compile(pattern if regex else re.escape(pattern), re.IGNORECASE if ignore_case else 0).search


def _texts(query: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Path below the folder and bytes of each file to search; binary, unreadable and large ones are left out."""
    root, parts = Path(query["root"]), query["parts"]
    if query["file"]:
        place = Place(root.joinpath(*parts), root.joinpath(*parts), root, "/".join(parts))
        with open_parent(place) as (folder, name):
            yield name, read_at(folder, name, place.name, query["limit"])
        return
    base = len("".join(f"{part}/" for part in parts))
    for found in walk(root, parts):
        path = found.path[base:]
        if found.is_link or (query["glob"] and not matches_anywhere(query["glob"], path)):
            continue
        try:
            data = read_at(found.folder, found.name, found.path, query["limit"])
        except (OSError, ToolError, LocalError):
            continue
        if b"\0" not in data[:8192]:
            yield path, data


def main() -> None:
    try:
        for match in search(json.loads(sys.argv[1])):
            print(json.dumps(match), flush=True)
    except (re.error, OverflowError, RecursionError) as error:
        print(json.dumps({"error": f"not a regular expression: {error}"}), flush=True)
    except (ToolError, LocalError, OSError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
