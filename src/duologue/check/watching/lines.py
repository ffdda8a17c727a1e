"""Lines and what makes a message of them."""

from __future__ import annotations

from collections.abc import Iterator

from duologue.check.judging import watch
from duologue.check.record import Line, Said, Talk
from duologue.protocol.method import Side

Seen = Iterator[tuple[Said | None, str]]

EITHER = (Side.AGENT, Side.CLIENT)


def _as_said(line: Line) -> Said:
    return Said(line, {})


def _text(line: Line) -> str | None:
    try:
        return line.data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _their_lines(talk: Talk) -> Iterator[Line]:
    return (line for line in talk.lines if not line.ours)


@watch("all-framing-01", *EITHER)
def utf8(talk: Talk) -> Seen:
    for line in _their_lines(talk):
        yield _as_said(line), "a line is not UTF-8" if _text(line) is None else ""


@watch("all-framing-02", *EITHER)
def one_message_a_line(talk: Talk) -> Seen:
    for line in _their_lines(talk):
        text = _text(line) or ""
        if not line.data.endswith(b"\n"):
            yield _as_said(line), "the last message has no line feed"
        elif line.json is None and text.lstrip().startswith(("{", "[")):
            yield _as_said(line), "a line feed stands inside a message, or the message breaks off"
        else:
            yield _as_said(line), ""


@watch("all-framing-03", Side.AGENT)
@watch("all-framing-04", Side.CLIENT)
def nothing_but_messages(talk: Talk) -> Seen:
    for line in _their_lines(talk):
        text = (_text(line) or "{").strip()
        noise = not text.startswith(("{", "[")) and line.data.endswith(b"\n")
        yield _as_said(line), "a line is no message" if noise else ""


@watch("v1-framing-01", *EITHER)
def no_arrays(talk: Talk) -> Seen:
    for line in _their_lines(talk):
        yield _as_said(line), "a line of version 1 is an array" if isinstance(line.json, list) else ""


@watch("v2-jsonrpc-10", *EITHER)
def no_mixture(talk: Talk) -> Seen:
    for line in _their_lines(talk):
        if isinstance(line.json, list):
            kinds = {"method" in message for message in line.messages}
            yield _as_said(line), "calls and answers stand in one array" if len(kinds) > 1 else ""


@watch("all-jsonrpc-01", *EITHER)
def says_2_0(talk: Talk) -> Seen:
    for said in talk.theirs:
        yield said, "" if said.json.get("jsonrpc") == "2.0" else 'jsonrpc is not "2.0"'


@watch("all-jsonrpc-03", *EITHER)
def result_or_error(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.answers:
            parts = {"result", "error"} & said.json.keys()
            yield said, "" if len(parts) == 1 else f"an answer has {' and '.join(sorted(parts)) or 'neither of both'}"


@watch("all-jsonrpc-09", *EITHER)
def errors(talk: Talk) -> Seen:
    for said in talk.theirs:
        if "error" in said.json:
            error = said.json["error"]
            if not isinstance(error, dict):
                yield said, "the error is no object"
            elif not _integer(error.get("code")):
                yield said, "the code of the error is no integer"
            else:
                yield said, "" if isinstance(error.get("message"), str) else "the message of the error is no text"


@watch("all-errors-06", *EITHER)
def short_errors(talk: Talk) -> Seen:
    for said in talk.theirs:
        error = said.json.get("error")
        if isinstance(error, dict) and isinstance(message := error.get("message"), str):
            long = len(message) > 200 or "\n" in message.strip()
            yield said, "the message of the error is longer than a short sentence" if long else ""


@watch("all-jsonrpc-16", *EITHER)
def params_are_objects(talk: Talk) -> Seen:
    for said in talk.theirs:
        if "method" in said.json and said.json.get("params") is not None:
            yield said, "" if isinstance(said.json["params"], dict) else "params are no object"


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
