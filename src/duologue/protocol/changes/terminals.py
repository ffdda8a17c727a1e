"""Display terminals: v2's live in the session by id, v1 has room for them only in tool calls.

Down there are two ways. A client that sent `_meta.terminal_output: true` gets the terminal of a tool call through
`_meta`: `terminal_info` when it appears, `terminal_output` for what is appended, `terminal_exit` when it has ended.
Others get the last part of the output as text in the tool call's content, at the pace of other growing content, and
all that is kept of it at the end. Up, the same convention becomes display terminals.
"""

from __future__ import annotations

import base64
import codecs
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from duologue.protocol.changes.diffs import text_item
from duologue.protocol.changes.memory import SessionMemory, TerminalMemory, keep
from duologue.protocol.changes.notes import note_up
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.markdown import fenced
from duologue.protocol.v2 import terminal as v2
from duologue.protocol.v2.updates import TerminalOutputChunkEvent, TerminalUpdateEvent

INFO = "terminal_info"
OUTPUT = "terminal_output"
DELTA = "terminal_output_delta"
EXIT = "terminal_exit"

#: Puts a terminal back to its first state, for output that replaces what was told.
RESET = "\x1bc"

_new_decoder = codecs.getincrementaldecoder("utf-8")


# --- Down ------------------------------------------------------------------------------------------------------------


def terminal_of(session: SessionMemory, terminal_id: str) -> TerminalMemory:
    """The memory of a terminal, made at first sight."""
    known = session.terminals.get(terminal_id)
    if known is not None:
        return known
    made = TerminalMemory(terminal_id, _new_decoder("replace"))
    return keep(session.terminals, terminal_id, made, session.connection.bounds.terminals)


def patch_terminal(session: SessionMemory, update: v2.TerminalUpdate) -> TerminalMemory:
    """Apply a terminal update to the memory."""
    terminal = terminal_of(session, update.terminal_id)
    if update.command is not UNSET:
        terminal.command = update.command
    if update.cwd is not UNSET:
        terminal.cwd = update.cwd
    if update.output is not UNSET:
        _replace_output(session, terminal, update.output.data if update.output else "")
    if update.exit_status is not UNSET:
        _end(terminal, update.exit_status)
    return terminal


def append_output(session: SessionMemory, chunk: v2.TerminalOutputChunk) -> TerminalMemory:
    """Apply a chunk of output to the memory."""
    terminal = terminal_of(session, chunk.terminal_id)
    _append(session, terminal, terminal.decoder.decode(v2.output_bytes(chunk.data)))
    return terminal


def _end(terminal: TerminalMemory, status: TerminalExitStatus | None) -> None:
    code = status.exit_code if status and isinstance(status.exit_code, int) else None
    signal = status.signal if status and isinstance(status.signal, str) else None
    same = (terminal.ended, terminal.exit_code, terminal.signal) == (status is not None, code, signal)
    terminal.told_end = terminal.told_end and same
    terminal.ended, terminal.exit_code, terminal.signal = status is not None, code, signal


def _replace_output(session: SessionMemory, terminal: TerminalMemory, data: str) -> None:
    told = "".join(terminal.parts) if not terminal.lost else None
    terminal.decoder.reset()
    text = terminal.decoder.decode(v2.output_bytes(data))
    if told is not None and text.startswith(told):
        _append(session, terminal, text[len(told) :])
        return
    terminal.parts.clear()
    terminal.size = terminal.lost = 0
    terminal.untold = [RESET] if terminal.announced else []
    _append(session, terminal, text)


def _append(session: SessionMemory, terminal: TerminalMemory, text: str) -> None:
    if not text:
        return
    terminal.parts.append(text)
    terminal.size += len(text)
    if session.connection.client.terminal_output:
        terminal.untold.append(text)
    bound = session.connection.bounds.terminal_output
    while terminal.size > bound:
        first = terminal.parts.popleft()
        over = min(len(first), terminal.size - bound)
        terminal.size -= over
        terminal.lost += over
        if over < len(first):
            terminal.parts.appendleft(first[over:])
    if not terminal.announced and terminal.lost:
        terminal.untold = list(terminal.parts)


def metas(terminal: TerminalMemory) -> Iterator[dict[str, Any]]:
    """What v1 has not been told of a terminal, as `_meta` of updates of its tool call, in order."""
    if not terminal.announced:
        terminal.announced = True
        info = {"terminal_id": terminal.terminal_id}
        yield {INFO: {**info, "cwd": terminal.cwd} if terminal.cwd else info}
    if terminal.untold:
        data = "".join(terminal.untold)
        terminal.untold.clear()
        yield {OUTPUT: {"terminal_id": terminal.terminal_id, "data": data}}
    if terminal.ended and not terminal.told_end:
        terminal.told_end = True
        status = {"exit_code": terminal.exit_code, "signal": terminal.signal}
        yield {EXIT: {"terminal_id": terminal.terminal_id, **status}}


def terminal_text(session: SessionMemory, terminal_id: str) -> Any:
    """A terminal as an item of text: the end of its output while it runs, all that is kept when it has ended."""
    terminal = terminal_of(session, terminal_id)
    bounds = session.connection.bounds
    text = "".join(terminal.parts)
    shown = text if terminal.ended else text[-bounds.terminal_tail :]
    lost = terminal.lost + len(text) - len(shown)
    return text_item(fenced("\n".join(_lines(terminal, shown, lost))))


def _lines(terminal: TerminalMemory, shown: str, lost: int) -> Iterator[str]:
    if terminal.command:
        yield f"$ {terminal.command}"
    if lost:
        yield f"[{lost} characters left out]"
    if shown:
        yield shown.removesuffix("\n")
    if terminal.ended and terminal.signal:
        yield f"[ended by {terminal.signal}]"
    elif terminal.ended and terminal.exit_code:
        yield f"[exit code {terminal.exit_code}]"


# --- Up --------------------------------------------------------------------------------------------------------------


def split_meta(meta: Any) -> tuple[Any, dict[str, Any]]:
    """`_meta` without the convention's members, and these."""
    if not meta or not (meta.keys() & {INFO, OUTPUT, DELTA, EXIT}):
        return meta, {}
    ours = {name: meta[name] for name in (INFO, OUTPUT, DELTA, EXIT) if isinstance(meta.get(name), dict)}
    return {name: value for name, value in meta.items() if name not in ours} or UNSET, ours


def announced_up(session: SessionMemory, said: dict[str, Any], terminal_ids: list[str], command: Any) -> list[Any]:
    """The display terminals that a tool call brings, before the tool call shows them."""
    info = said.get(INFO, {})
    notes = []
    for terminal_id in dict.fromkeys([*_ids(info), *terminal_ids]):
        if terminal_id in session.terminals:
            continue
        terminal = terminal_of(session, terminal_id)
        cwd = info.get("cwd") if info.get("terminal_id") == terminal_id else None
        update = TerminalUpdateEvent(
            terminal_id=terminal.terminal_id,
            command=command if isinstance(command, str) else UNSET,
            cwd=cwd if isinstance(cwd, str) else UNSET,
        )
        notes.append(note_up(session.session_id, update))
    return notes


def output_up(session: SessionMemory, said: dict[str, Any]) -> list[Any]:
    """Output and the end of a terminal, behind the update that brought them."""
    notes: list[Any] = []
    for name in (OUTPUT, DELTA):
        part = said.get(name, {})
        if _ids(part) and isinstance(part.get("data"), str):
            data = base64.b64encode(part["data"].encode(errors="surrogatepass")).decode()
            notes.append(TerminalOutputChunkEvent(terminal_id=part["terminal_id"], data=data))
    end = said.get(EXIT, {})
    if _ids(end):
        notes.append(TerminalUpdateEvent(terminal_id=end["terminal_id"], exit_status=_status(end)))
    return [note_up(session.session_id, update) for update in notes]


def _ids(part: dict[str, Any]) -> list[str]:
    found = part.get("terminal_id")
    return [found] if isinstance(found, str) else []


def _status(end: dict[str, Any]) -> TerminalExitStatus:
    code, signal = end.get("exit_code"), end.get("signal")
    return TerminalExitStatus(
        exit_code=code if isinstance(code, int) and code >= 0 else UNSET,
        signal=signal if isinstance(signal, str) else UNSET,
    )
