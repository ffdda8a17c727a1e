"""Names of the tools of MCP servers: unique in a session, and such that every model's wire format takes them.

A name is `server__tool`. It begins with a letter, has letters, digits, `_` and `-`, and at most 64 characters. What
does not fit is replaced, and then the name ends with a mark of the real one, so that two tools never share a name. No
server's part holds `__` or ends with `_`: the first `__` always stands between server and tool.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

SEPARATOR = "__"
NAME_CHARACTERS = 64
SERVER_CHARACTERS = 24
MARK_CHARACTERS = 6

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_RUNS = re.compile(r"_{2,}")


def is_of_server(tool: str) -> bool:
    """Whether a tool's name is that of an MCP server's tool; none of ours has the separator."""
    return SEPARATOR in tool


def server_part(name: str) -> str:
    """What the names of a server's tools begin with."""
    plain = _RUNS.sub("_", _FOREIGN.sub("_", name)).strip("_-")
    if not plain or not plain[0].isalpha():
        plain = f"mcp-{plain}".rstrip("-")
    return plain if len(plain) <= SERVER_CHARACTERS else _marked(plain, name, SERVER_CHARACTERS)


def server_parts(servers: Sequence[tuple[str, str]]) -> list[str]:
    """The parts of a session's servers, each given by name and identity: where two names would give the same part, the
    identity decides, whatever their order."""
    parts = [server_part(name) for name, _ in servers]
    return [
        part if parts.count(part) == 1 else _marked(part, f"{name}\0{identity}", SERVER_CHARACTERS)
        for part, (name, identity) in zip(parts, servers, strict=True)
    ]


def tool_name(server: str, tool: str) -> str:
    """The name of a tool of the server with this part."""
    room = NAME_CHARACTERS - len(server) - len(SEPARATOR)
    plain = _FOREIGN.sub("_", tool)
    if plain != tool or len(plain) > room or not plain:
        plain = _marked(plain, tool, room)
    return f"{server}{SEPARATOR}{plain}"


def may_be(name: str, tool: str, server: str | None) -> bool:
    """Whether a tool's name can be that of this tool of this server (None: of any), marks left aside."""
    of, _, its = name.partition(SEPARATOR)
    return _may_be(its, _FOREIGN.sub("_", tool)) and (server is None or _may_be(of, server_part(server)))


def _may_be(part: str, plain: str) -> bool:
    return part == plain or (part.startswith(f"{plain}_") and len(part) == len(plain) + 1 + MARK_CHARACTERS)


def _marked(plain: str, real: str, most: int) -> str:
    mark = hashlib.sha256(real.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_CHARACTERS]
    return f"{plain[: most - MARK_CHARACTERS - 1].rstrip('_-')}_{mark}"
