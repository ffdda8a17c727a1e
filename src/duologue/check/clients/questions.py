"""What a client answers when its agent asks: permissions, files, terminals, forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duologue.check.clients.bench import SESSION, ClientBench
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

CLIENT = Side.CLIENT
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


#: How long a client may take to decide without a person, in seconds.
UNATTENDED_SECONDS = 5.0


async def asked(bench: ClientBench, **more: Any) -> Said:
    """The answer to a permission question, as far as the client gives one without a person."""
    wire, _ = await bench.working()
    call = {"toolCallId": "c1", "title": "Look"}
    bench.update(wire, *(("tool_call",) if bench.version == 1 else ("tool_call_update",)), **call)
    about = {"toolCall": call} if bench.version == 1 else {"title": "May I look?"}
    request = wire.request("session/request_permission", {"sessionId": SESSION, "options": OPTIONS, **about, **more})
    wire.send(request)
    answer = await wire.look(lambda: wire.answer_now(request["id"]), longest=UNATTENDED_SECONDS)
    if answer is None:
        raise Skipped(Reason.NOT_OBSERVED)
    return answer


@probe(CLIENT, "v1-initialize-14", "v2-permissions-04")
async def answers_questions(bench: ClientBench) -> None:
    subject = {"type": "command", "command": "make", "cwd": "/", "toolCallId": None, "terminalId": None}
    answer = await asked(bench, **({"subject": subject} if bench.version == 2 else {}))
    demand("result" in answer.json, "a permission question is not answered", answer)


@probe(CLIENT, "v2-permissions-08")
async def answers_odd_subjects(bench: ClientBench) -> None:
    answer = await asked(bench, subject={"type": "_duologue", "size": 3})
    demand("result" in answer.json, "a question about an unknown subject is not answered", answer)


@probe(CLIENT, "v2-permissions-09")
async def answers_odd_options(bench: ClientBench) -> None:
    answer = await asked(bench, options=[*OPTIONS, {"optionId": "odd", "name": "Odd", "kind": "_duologue"}])
    demand("result" in answer.json, "a question with an option of an unknown kind is not answered", answer)


@probe(CLIENT, "all-elicitation-04")
async def refuses_modes_unsaid(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    if wire.talk.offers(CLIENT, "elicitation", "url"):
        raise Skipped(Reason.CAPABILITY)
    url = {"mode": "url", "elicitationId": "e1", "url": "https://example.org/", "message": "Look", "sessionId": SESSION}
    answer = await wire.ask("elicitation/create", url)
    if answer.code == ErrorCode.METHOD_NOT_FOUND and not wire.talk.offers(CLIENT, "elicitation"):
        return
    demand(answer.code == ErrorCode.INVALID_PARAMS, "a mode that was not offered is not answered with -32602", answer)


# --- files of version 1 -----------------------------------------------------------------------------------------------


async def files(bench: ClientBench, capability: str) -> tuple[Wire, Path]:
    """A client that offers its files, and the folder of the session."""
    wire, _ = await bench.working()
    bench.need(wire, "fs", capability)
    opened = next(said for said in wire.talk.theirs if said.method in {"session/new", "session/load"})
    return wire, Path(str(opened.params.get("cwd")))


def about(path: Path, **more: Any) -> Json:
    return {"sessionId": SESSION, "path": str(path), **more}


@probe(CLIENT, "v1-fs-03", "v1-fs-04", "v1-fs-09")
async def reads_files(bench: ClientBench) -> None:
    wire, folder = await files(bench, "readTextFile")
    path = folder / "duologue-check.txt"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    part = await wire.ask("fs/read_text_file", about(path, line=2, limit=1))
    sound = str(part.result.get("content")).rstrip("\n") == "two"
    bench.note("v1-fs-04", "" if sound else "line 2 of a file, and no more, is something else", part)
    missing = await wire.ask("fs/read_text_file", about(folder / "duologue-missing.txt"))
    bench.note("v1-fs-09", "" if "error" in missing.json else "a file that is not there can be read", missing)
    answer = await wire.ask("fs/read_text_file", about(path, line=None))
    demand(answer.result.get("content") == "one\ntwo\nthree\n", "a file is not read as a whole", answer)


@probe(CLIENT, "v1-fs-06", "v1-fs-07")
async def writes_files(bench: ClientBench) -> None:
    wire, folder = await files(bench, "writeTextFile")
    path = folder / "duologue-made.txt"
    for content in ("first, and longer\n", "second\n"):
        answer = await wire.ask("fs/write_text_file", about(path, content=content))
        if answer.code is not None:
            raise Skipped(Reason.NOT_OBSERVED)
        demand(path.exists(), "a file that was not there is not made", answer)
    replaced = path.read_text(encoding="utf-8") == "second\n"
    bench.note("v1-fs-07", "" if replaced else "what was in the file is not replaced", answer)


@probe(CLIENT, "v1-fs-10")
async def serves_no_files_unsaid(bench: ClientBench) -> None:
    await _not_served(bench, ("fs", "readTextFile"), "fs/read_text_file", about(Path("/duologue.txt")))


@probe(CLIENT, "v1-fs-11")
async def stays_inside(bench: ClientBench) -> None:
    wire, folder = await files(bench, "readTextFile")
    outside = folder.parent / f"{folder.name}-outside.txt"
    outside.write_text("outside\n", encoding="utf-8")
    try:
        answer = await wire.ask("fs/read_text_file", about(outside))
    finally:
        outside.unlink()
    demand("error" in answer.json, "a file outside of the session's folder can be read", answer)


# --- terminals of version 1 -------------------------------------------------------------------------------------------


@probe(CLIENT, "v1-terminal-16")
async def serves_no_terminals_unsaid(bench: ClientBench) -> None:
    await _not_served(bench, ("terminal",), "terminal/create", {"sessionId": SESSION, "command": "true"})


async def _not_served(bench: ClientBench, capability: tuple[str, ...], method: str, params: Json) -> None:
    wire, _ = await bench.working()
    if wire.talk.offers(CLIENT, *capability):
        raise Skipped(Reason.CAPABILITY)
    answer = await wire.ask(method, params)
    demand(
        answer.code == ErrorCode.METHOD_NOT_FOUND,
        f"{method} is not answered with -32601 although it is not offered",
        answer,
    )


@probe(CLIENT, "v1-terminal-04", "v1-terminal-08", "v1-terminal-12")
async def runs_commands(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    bench.need(wire, "terminal")
    env = [{"name": "DUOLOGUE_CHECK", "value": "quagmire"}]
    params = {
        "sessionId": SESSION,
        "command": "sh",
        "args": ["-c", 'printf %s "$DUOLOGUE_CHECK $0"', "zero"],
        "env": env,
    }
    terminal = await _terminal(wire, params)
    ended = await wire.ask("terminal/wait_for_exit", terminal)
    bench.note("v1-terminal-08", "" if ended.result.get("exitCode") == 0 else "the end is not told", ended)
    output = await wire.ask("terminal/output", terminal)
    await wire.ask("terminal/release", terminal)
    gone = await wire.ask("terminal/output", terminal)
    bench.note("v1-terminal-12", "" if "error" in gone.json else "a released terminal is still served", gone)
    demand(output.result.get("output") == "quagmire zero", "args and env do not reach the process", output)


@probe(CLIENT, "v1-terminal-06", "v1-terminal-07")
async def cuts_output(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    bench.need(wire, "terminal")
    params = {"sessionId": SESSION, "command": "printf", "args": ["é" * 50 + "x"], "outputByteLimit": 10}
    terminal = await _terminal(wire, params)
    await wire.ask("terminal/wait_for_exit", terminal)
    output = await wire.ask("terminal/output", terminal)
    text = str(output.result.get("output"))
    whole = "\ufffd" not in text and set(text) <= {"é", "x"}
    bench.note("v1-terminal-07", "" if whole else "a character is cut in half", output)
    sound = len(text.encode()) <= 10 and text.endswith("x") and output.result.get("truncated") is True
    demand(sound, "the output is not its last part, or is not said to be cut", output)


@probe(CLIENT, "v1-terminal-10", "v1-terminal-11")
async def waits_and_serves(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    bench.need(wire, "terminal")
    terminal = await _terminal(wire, {"sessionId": SESSION, "command": "sleep", "args": ["60"]})
    waiting = wire.request("terminal/wait_for_exit", terminal)
    wire.send(waiting)
    await wire.ask("terminal/output", terminal)
    await wire.ask("terminal/kill", terminal)
    await wire.answer(waiting)
    output = await wire.ask("terminal/output", terminal)
    bench.note("v1-terminal-11", "" if "result" in output.json else "a killed terminal is not served", output)
    await wire.ask("terminal/release", terminal)


async def _terminal(wire: Wire, params: Json) -> Json:
    created = await wire.ask("terminal/create", params)
    if created.code is not None:
        raise Skipped(Reason.NOT_OBSERVED)
    return {"sessionId": SESSION, "terminalId": created.result.get("terminalId")}
