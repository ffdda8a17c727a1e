"""For each requirement on clients that a probe judges, a client that breaks it and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from check_kit import PATIENCE, Wrap
from live_mutants import NO_ANSWER, SHORT, deaf_after, fewer_entries, in_an_array, more_entries, split
from mutating import Hearing, Json, Past, also, code, error_code, hear, result, rewrite, silent
from unstable_mutants import inner

from duologue.check.clients.oddities import _OF_THE_OTHER, INTRODUCTIONS, OPENINGS, UPDATES
from duologue.check.rows import ROWS
from duologue.check.wire import as_line
from duologue.transports.base import Transport

ASKED = "session/request_permission"
CHECK = "_duologue/check"


@dataclass(frozen=True)
class ClientMutant:
    """As `live_mutants.Mutant`; `able`: whether the client offers files and terminals."""

    wrap: Callable[[], Wrap]
    versions: tuple[int, ...] = (1, 2)
    patience: float = PATIENCE
    able: bool = True


def heard_of(method: str) -> Callable[[Past], bool]:
    return lambda past: past.knows(method)


def tells_back(method: str) -> ClientMutant:
    return ClientMutant(lambda: also(NO_ANSWER, heard_of(method)))


def lasting(transport: Transport) -> Transport:
    """A transport that its owner cannot close."""

    async def stay() -> None: ...

    made = Hearing(transport, lambda data: data)
    made.close = stay
    return made


def twice(message: Any, past: Past) -> Any:
    return (message, message) if past.method == CHECK and past.knows("$/cancel_request") else message


def bad_options(past: Past) -> bool:
    return past.params.get("options") == [{"name": 5}]


def spoiling(method: str, spoil: Callable[[Path], object], when: Callable[[Past], bool] = lambda past: True) -> Wrap:
    """The file of a request is spoilt before the answer leaves."""

    def change(message: Any, past: Past) -> Any:
        if past.method == method and when(past):
            spoil(Path(past.params["path"]))
        return message

    return rewrite(change)


def with_content(content: str) -> Callable[[Json], Json]:
    return lambda old: {"content": content}


def shown(output: str, truncated: bool) -> Callable[[Json], Json]:
    return lambda old: {"output": output, "truncated": truncated}


CONNECTIONS: dict[str, ClientMutant] = {
    "all-framing-06": ClientMutant(lambda: hear(lambda data: data if len(data) > 1 else b""), patience=SHORT),
    "all-framing-07": ClientMutant(lambda: hear(lambda data: data[: data.find(b"\n") + 1]), patience=SHORT),
    "v2-framing-01": ClientMutant(lambda: deaf_after(b"[{"), (2,), SHORT),
    "all-jsonrpc-05": ClientMutant(lambda: error_code(-32600, -32603)),
    "all-jsonrpc-06": tells_back("unknown/duologue"),
    "all-jsonrpc-07": ClientMutant(lambda: code("unknown/duologue", -32603)),
    "all-jsonrpc-08": ClientMutant(lambda: code(ASKED, -32603, lambda past: past.params.get("sessionId") == 5)),
    "all-jsonrpc-12": ClientMutant(lambda: silent(lambda message, past: message.get("id", 0) is None)),
    "all-jsonrpc-13": ClientMutant(lambda: silent(lambda message, past: past.method == CHECK), patience=SHORT),
    "all-jsonrpc-18": ClientMutant(lambda: deaf_after(b"no json"), patience=SHORT),
    "all-jsonrpc-19": ClientMutant(
        lambda: also(NO_ANSWER, lambda past: any(m.get("id") == "duologue-nobody-asked" for m in past.heard))
    ),
    "all-jsonrpc-21": ClientMutant(lambda: result("session/release", lambda old: {})),
    "v1-jsonrpc-01": ClientMutant(lambda: deaf_after(b"[{"), (1,), SHORT),
    "v2-jsonrpc-03": ClientMutant(lambda: rewrite(in_an_array), (2,)),
    "v2-jsonrpc-04": ClientMutant(lambda: rewrite(split), (2,)),
    "v2-jsonrpc-05": ClientMutant(lambda: rewrite(more_entries), (2,)),
    "v2-jsonrpc-06": ClientMutant(lambda: also([], heard_of("_duologue/notice")), (2,)),
    "v2-jsonrpc-07": ClientMutant(lambda: rewrite(fewer_entries), (2,)),
    "all-versioning-04": ClientMutant(lambda: lasting, patience=SHORT),
    "v2-versioning-02": ClientMutant(lambda: lasting, (2,), SHORT),
    "v2-versioning-04": ClientMutant(lambda: code("fs/read_text_file", -32602), (2,)),
    "all-extensibility-07": ClientMutant(lambda: code("_duologue/unknown", -32600)),
    "all-extensibility-08": tells_back("_duologue/notice"),
    "all-cancellation-09": ClientMutant(lambda: rewrite(twice)),
    "all-cancellation-10": tells_back("$/duologue"),
    "all-cancellation-11": tells_back("$/cancel_request"),
    "all-elicitation-27": tells_back("elicitation/complete"),
    "v1-prompt-10": ClientMutant(lambda: deaf_after(b"_duologue/check"), (1,), SHORT),
    "v2-prompt-11": ClientMutant(lambda: deaf_after(b"More."), (2,), SHORT),
    "v2-prompt-12": ClientMutant(lambda: deaf_after(b'"user_message"'), (2,), SHORT),
    "v2-prompt-14": ClientMutant(lambda: deaf_after(b"By the way."), (2,), SHORT),
}

QUESTIONS: dict[str, ClientMutant] = {
    "all-permissions-03": ClientMutant(lambda: code(ASKED, -32603, bad_options)),
    "v1-initialize-14": ClientMutant(lambda: code(ASKED, -32601), (1,)),
    "v2-permissions-04": ClientMutant(lambda: code(ASKED, -32602), (2,)),
    "v2-permissions-08": ClientMutant(lambda: code(ASKED, -32602), (2,)),
    "v2-permissions-09": ClientMutant(lambda: code(ASKED, -32602), (2,)),
    "all-elicitation-04": ClientMutant(lambda: code("elicitation/create", -32603)),
    "v1-fs-03": ClientMutant(
        lambda: result("fs/read_text_file", with_content("one\n"), lambda past: past.params.get("line", 0) is None),
        (1,),
    ),
    "v1-fs-04": ClientMutant(
        lambda: result("fs/read_text_file", with_content("one\n"), lambda past: past.params.get("line") == 2), (1,)
    ),
    "v1-fs-06": ClientMutant(lambda: spoiling("fs/write_text_file", Path.unlink), (1,)),
    "v1-fs-07": ClientMutant(
        lambda: spoiling("fs/write_text_file", lambda path: path.write_text(path.read_text() * 2)), (1,)
    ),
    "v1-fs-09": ClientMutant(
        lambda: result("fs/read_text_file", with_content(""), lambda past: "missing" in past.params["path"]), (1,)
    ),
    "v1-fs-10": ClientMutant(lambda: result("fs/read_text_file", with_content("")), (1,), able=False),
    "v1-fs-11": ClientMutant(lambda: result("fs/read_text_file", with_content("")), (1,)),
    "v1-terminal-04": ClientMutant(lambda: result("terminal/output", shown("zero", False), _not_released), (1,)),
    "v1-terminal-06": ClientMutant(lambda: result("terminal/output", shown("éx", False)), (1,)),
    "v1-terminal-07": ClientMutant(lambda: result("terminal/output", shown("\ufffdéx", True)), (1,)),
    "v1-terminal-08": ClientMutant(lambda: result("terminal/wait_for_exit", lambda old: {"exitCode": 1}), (1,)),
    "v1-terminal-10": ClientMutant(
        lambda: silent(lambda message, past: past.method == "terminal/output"), (1,), patience=1.0
    ),
    "v1-terminal-11": ClientMutant(lambda: code("terminal/output", -32603, heard_of("terminal/kill")), (1,)),
    "v1-terminal-12": ClientMutant(
        lambda: result("terminal/output", shown("", False), heard_of("terminal/release")), (1,)
    ),
    "v1-terminal-16": ClientMutant(
        lambda: result("terminal/create", lambda old: {"terminalId": "t"}), (1,), able=False
    ),
}


def not_again(message: Any, past: Past) -> bool:
    """The second nes/start, behind the login."""
    refused = any(each.get("error", {}).get("code") == -32000 for each in past.heard)
    return isinstance(message, dict) and message.get("method") == "nes/start" and refused


LENDING: dict[str, ClientMutant] = {
    "allu-nes-04": ClientMutant(lambda: silent(not_again), patience=SHORT),
    "v2u-nes-03": ClientMutant(lambda: deaf_after(b'"_duologue"'), (2,), SHORT),
    "allu-providers-15": ClientMutant(lambda: deaf_after(b'"_duologue"'), patience=SHORT),
    "allu-mcp-06": ClientMutant(lambda: result("mcp/message", lambda old: {"result": old}, inner("initialize"))),
    "allu-mcp-07": ClientMutant(lambda: code("mcp/message", -32603, inner("duologue/unknown"))),
    "allu-mcp-09": ClientMutant(lambda: code("mcp/disconnect", -32603)),
    "allu-mcp-10": ClientMutant(
        lambda: result(
            "mcp/connect",
            lambda old: {"connectionId": "none"},
            lambda past: past.params["serverId"] == "duologue-no-server",
        )
    ),
}


def _not_released(past: Past) -> bool:
    return not past.knows("terminal/release")


def _json(value: Any) -> bytes:
    return as_line(value).rstrip(b"\n")


def _stumbling(row: str, mark: bytes, version: int) -> ClientMutant:
    return ClientMutant(lambda: deaf_after(mark), (version,), SHORT)


def oddities() -> list[tuple[str, ClientMutant]]:
    """Clients that stumble over one odd thing each."""
    found = []
    for row in (*UPDATES, *INTRODUCTIONS, *OPENINGS):
        for version in ROWS[row].versions:
            addition = {**INTRODUCTIONS, **OPENINGS}.get(row, {})
            here = [value for name, value in addition.items() if name not in _OF_THE_OTHER[version]]
            mark = _json(here[0]) if here else _json(UPDATES[row][-1])
            found.append((row, _stumbling(row, mark, version)))
    return found


CLIENT_LIVE = [*CONNECTIONS.items(), *QUESTIONS.items(), *LENDING.items(), *oddities()]
