"""The MCP servers that a run names for its session: `--mcp`, `--mcp-env` and `--mcp-header`."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec.structs import replace

from duologue.cli.given import command_words
from duologue.local.masking import mask_text

if TYPE_CHECKING:
    from duologue.protocol.v2.mcp import HttpMcpServer, McpServer, StdioMcpServer

#: A name becomes a part of the names of tools (`NAME__TOOL`), and of rules.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mcp",
        metavar="NAME=CMD|URL",
        action="append",
        default=[],
        help="an MCP server for the agent to use: its command line, or its http address; may be repeated",
    )
    parser.add_argument(
        "--mcp-env",
        metavar="NAME=VARIABLE",
        action="append",
        default=[],
        help="give the server NAME a variable that is set here; may be repeated",
    )
    parser.add_argument(
        "--mcp-header",
        metavar="NAME=HEADER=VARIABLE",
        action="append",
        default=[],
        help="send the server NAME a header whose value is that of a variable; may be repeated",
    )


def check_library() -> None:
    """Raises ValueError when the built-in agent cannot start servers."""
    from duologue.coder.mcp.library import MISSING, has_library

    if not has_library():
        raise ValueError(f"--mcp: {MISSING}")


def servers_of(chosen: argparse.Namespace, environ: Mapping[str, str]) -> list[McpServer]:
    """The servers that were named, in their order. Raises ValueError that says what is wrong.

    Secrets are named by their variables: a command line can be read by others, and stays in the shell's history.
    """
    servers: dict[str, StdioMcpServer | HttpMcpServer] = {}
    for entry in chosen.mcp:
        name, equals, where = entry.partition("=")
        if not equals or not where.strip():
            example = "--mcp 'files=mcp-files --root .'"
            raise ValueError(f"--mcp {mask_text(entry)}: give NAME=COMMAND or NAME=URL, such as {example}")
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"--mcp {mask_text(entry)}: the name of a server is of letters, digits, '_', '-' and '.'")
        if name in servers:
            raise ValueError(f"--mcp {name}: there is a server {name} already")
        servers[name] = _server(name, where.strip())
    _give_variables(servers, chosen.mcp_env, environ)
    _give_headers(servers, chosen.mcp_header, environ)
    return list(servers.values())


def _server(name: str, where: str) -> StdioMcpServer | HttpMcpServer:
    from duologue.client.paths import sent_path
    from duologue.protocol.v2.mcp import HttpMcpServer, StdioMcpServer

    scheme = where.partition("://")[0].lower()
    if scheme in {"http", "https"}:
        return HttpMcpServer(name=name, url=_address(name, where))
    if re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme) and "://" in where and " " not in where:
        raise ValueError(f"--mcp {name}: an address begins with http:// or https://, not {scheme}://")
    words = command_words(f"--mcp {name}", where)
    # The agent may have another path, and another folder.
    found = shutil.which(str(Path(words[0]).expanduser()))
    if found is None:
        raise ValueError(f"--mcp {name}: there is no program {words[0]}")
    try:
        command = str(sent_path(found))
    except ValueError as error:
        raise ValueError(f"--mcp {name}: {error}") from None
    return StdioMcpServer(name=name, command=command, args=words[1:])


def _address(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known or not url.isprintable() or " " in url:
        raise ValueError(f"--mcp {name}: this is no address of a server, which looks like http://127.0.0.1:8000/mcp")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"--mcp {name}: leave the password out of the address: name its variable with --mcp-header")
    return url


def _give_variables(
    servers: dict[str, StdioMcpServer | HttpMcpServer], entries: Sequence[str], environ: Mapping[str, str]
) -> None:
    from duologue.protocol.common.terminal import EnvVariable
    from duologue.protocol.v2.mcp import StdioMcpServer

    for entry in entries:
        name, variable = _named("--mcp-env", entry, "NAME=VARIABLE")
        server = servers.get(name)
        if not isinstance(server, StdioMcpServer):
            raise ValueError(f"--mcp-env {name}: there is no --mcp {name}=COMMAND to give a variable to")
        value = EnvVariable(name=variable, value=_value(f"--mcp-env {name}", variable, environ))
        servers[name] = replace(server, env=[*(server.env or ()), value])


def _give_headers(
    servers: dict[str, StdioMcpServer | HttpMcpServer], entries: Sequence[str], environ: Mapping[str, str]
) -> None:
    from duologue.protocol.common.mcp import HttpHeader
    from duologue.protocol.v2.mcp import HttpMcpServer

    for entry in entries:
        name, rest = _named("--mcp-header", entry, "NAME=HEADER=VARIABLE")
        header, _, variable = rest.partition("=")
        server = servers.get(name)
        if not isinstance(server, HttpMcpServer):
            raise ValueError(f"--mcp-header {name}: there is no --mcp {name}=URL to send a header to")
        if re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", header) is None:
            raise ValueError(f"--mcp-header {name}: give {name}=HEADER=VARIABLE, such as {name}=Authorization=MY_TOKEN")
        value = HttpHeader(name=header, value=_value(f"--mcp-header {name}", variable, environ))
        servers[name] = replace(server, headers=[*(server.headers or ()), value])


def _named(option: str, entry: str, form: str) -> tuple[str, str]:
    """The name of a server, and what it gets. An entry without a name is not repeated either: it may be a secret."""
    name, _, rest = entry.partition("=")
    if not rest or _NAME.fullmatch(name) is None:
        raise ValueError(f"{option}: give {form}, where NAME is that of a server of --mcp")
    return name, rest


def _value(option: str, variable: str, environ: Mapping[str, str]) -> str:
    """The value of a variable. What stands in place of its name is not repeated: it may be the secret itself."""
    if re.fullmatch(r"\w+", variable) is None:
        raise ValueError(f"{option}: give the name of a variable that is set here, not a value")
    if variable not in environ:
        raise ValueError(f"{option}: there is no variable of that name here: export it first")
    return environ[variable]
