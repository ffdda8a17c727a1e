"""Every limit of the coder and on its MCP servers, by name. A host may change any of them, a model none."""

from __future__ import annotations

import msgspec

KIB = 1024
MIB = 1024 * KIB


class CoderLimits(msgspec.Struct, frozen=True):
    """Sizes are bytes unless the name says otherwise, times are seconds."""

    #: Requests to the model in one turn.
    steps: int = 100
    #: How often in a row the model may make the same calls that all fail; then the turn ends with an error.
    same_failures: int = 5
    #: Events that wait for a slow reader before the turn pauses.
    events: int = 64
    #: The largest file that is read, edited, searched or written.
    file: int = 8 * MIB
    #: Lines of one `read_file`.
    read_lines: int = 2000
    #: Characters of one `read_file`.
    read_characters: int = 64 * KIB
    listed_files: int = 1000
    matches: int = 200
    match_characters: int = 400
    search_seconds: float = 60

    #: The first bytes of a command's output that the model gets.
    output_head: int = 16 * KIB
    #: The last bytes of a command's output that the model gets.
    output_tail: int = 48 * KIB
    #: Bytes of a command's output that are shown live; the rest is read and dropped.
    output_stream: int = 64 * MIB
    #: Time a command has when the call does not say.
    command_seconds: float = 120
    #: The longest time a call can ask for.
    command_seconds_most: float = 3600
    #: Time between the polite signal and the last one.
    stop_grace: float = 2
    #: How long a cancelled turn waits for a write that has begun.
    settle: float = 5
    #: Bytes of earlier file contents that are kept for undo.
    journal: int = 64 * MIB


class McpLimits(msgspec.Struct, frozen=True):
    """Sizes are bytes unless the name says otherwise, times are seconds."""

    #: Servers of a session; what is named beyond is not started.
    servers: int = 32
    #: Tools of all servers of a session; further ones are left out.
    tools: int = 100
    #: Pages of one server's list of tools; what comes after them is left out.
    pages: int = 50
    #: The pause after the tools of a server were listed again, before they are once more.
    relist_seconds: float = 1
    #: Time a server has from its start to the list of its tools.
    start_seconds: float = 30
    #: How long the first prompt waits for servers that are still starting.
    wait_seconds: float = 10
    #: How much of that passes before the user is shown what is waited for.
    quiet_seconds: float = 0.5
    #: Time that one call may take.
    call_seconds: float = 300
    #: How often a server that has ended is started again before one of its calls succeeds.
    restarts: int = 1
    #: The pause before that.
    restart_seconds: float = 1
    #: Each stage of ending a server: after its input was closed, after SIGTERM.
    stop_seconds: float = 0.8
    #: One message of a server; a longer one ends the connection.
    message: int = 8 * MIB
    #: Values in arrays and objects of one message; an answer that holds more fails its call.
    values: int = 20_000
    #: Nesting of arrays and objects in one message; an answer that nests deeper fails its call. A client's limit
    #: (`duologue.jsonrpc.limits.Limits.depth`) has to hold it inside of an update.
    depth: int = 150
    #: Messages of a server that wait to be read, as long as they are no longer than one may be; then it is not read
    #: from.
    waiting: int = 256
    #: What a server on stdio may leave unread; one that leaves more is ended.
    unread: int = 4 * MIB
    #: Messages for a server that wait to be taken; with more of them it is ended.
    unsent: int = 256
    #: What one result may hold; further parts of it are left out.
    result: int = 4 * MIB
    #: Content blocks of one result; further ones are left out.
    blocks: int = 200
    #: Characters of a result that the model gets.
    result_characters: int = 64 * KIB
    #: The name of a tool and the schema of its arguments; a tool that has more is left out.
    schema: int = 64 * KIB
    #: A tool's description, in characters; the rest is cut off.
    description_characters: int = 4096
    #: The last of a server's stderr, and an error's text, that are told, in characters.
    told_characters: int = 2000
