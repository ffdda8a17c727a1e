"""Every limit of the coder, by name. A host may change any of them; none can be changed by a model."""

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
