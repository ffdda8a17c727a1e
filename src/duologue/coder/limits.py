"""Every limit of the coder and on its MCP servers, by name. A host may change any of them, a model none."""

from __future__ import annotations

import msgspec

KIB = 1024
MIB = 1024 * KIB


class CoderLimits(msgspec.Struct, frozen=True):
    """Sizes are bytes unless the name says otherwise, times are seconds."""

    steps: int = 100
    """Requests to the model in one turn."""

    same_failures: int = 5
    """How often in a row the model may make the same calls that all fail; then the turn ends with an error."""

    events: int = 64
    """Events that wait for a slow reader before the turn pauses."""

    file: int = 8 * MIB
    """The largest file that is read, edited, searched or written."""

    read_lines: int = 2000
    """Lines of one `read_file`."""

    read_characters: int = 64 * KIB
    """Characters of one `read_file`."""

    listed_files: int = 1000
    matches: int = 200
    match_characters: int = 400
    search_seconds: float = 60

    output_head: int = 16 * KIB
    """The first bytes of a command's output that the model gets."""

    output_tail: int = 48 * KIB
    """The last bytes of a command's output that the model gets."""

    output_stream: int = 64 * MIB
    """Bytes of a command's output that are shown live; the rest is read and dropped."""

    command_seconds: float = 120
    """Time a command has when the call does not say."""

    command_seconds_most: float = 3600
    """The longest time a call can ask for."""

    stop_grace: float = 2
    """Time between the polite signal and the last one."""

    settle: float = 5
    """How long a cancelled turn waits for a write that has begun."""

    journal: int = 64 * MIB
    """Bytes of earlier file contents that are kept for undo."""


class McpLimits(msgspec.Struct, frozen=True):
    """Sizes are bytes unless the name says otherwise, times are seconds."""

    servers: int = 32
    """Servers of a session; what is named beyond is not started."""

    tools: int = 100
    """Tools of all servers of a session; further ones are left out."""

    pages: int = 50
    """Pages of one server's list of tools; what comes after them is left out."""

    relist_seconds: float = 1
    """The pause after the tools of a server were listed again, before they are once more."""

    start_seconds: float = 30
    """Time a server has from its start to the list of its tools."""

    wait_seconds: float = 10
    """How long the first prompt waits for servers that are still starting."""

    quiet_seconds: float = 0.5
    """How much of that passes before the user is shown what is waited for."""

    call_seconds: float = 300
    """Time that one call may take."""

    restarts: int = 1
    """How often a server that has ended is started again before one of its calls succeeds."""

    restart_seconds: float = 1
    """The pause before that."""

    stop_seconds: float = 0.8
    """Each stage of ending a server: after its input was closed, after SIGTERM."""

    message: int = 8 * MIB
    """One message of a server; a longer one ends the connection."""

    values: int = 20_000
    """Values in arrays and objects of one message; an answer that holds more fails its call."""

    depth: int = 150
    """Nesting of arrays and objects in one message; an answer that nests deeper fails its call. A client's limit
    (`duologue.jsonrpc.limits.Limits.depth`) has to hold it inside of an update."""

    waiting: int = 256
    """Messages of a server that wait to be read, as long as they are no longer than one may be; then it is not read
    from."""

    unread: int = 4 * MIB
    """What a server on stdio may leave unread; one that leaves more is ended."""

    unsent: int = 256
    """Messages for a server that wait to be taken; with more of them it is ended."""

    result: int = 4 * MIB
    """What one result may hold; further parts of it are left out."""

    blocks: int = 200
    """Content blocks of one result; further ones are left out."""

    result_characters: int = 64 * KIB
    """Characters of a result that the model gets."""

    schema: int = 64 * KIB
    """The name of a tool and the schema of its arguments; a tool that has more is left out."""

    description_characters: int = 4096
    """A tool's description, in characters; the rest is cut off."""

    told_characters: int = 2000
    """The last of a server's stderr, and an error's text, that are told, in characters."""
