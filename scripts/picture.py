"""Make docs/images/run.svg: a real `duologue run` in a terminal, as it looks.

The command runs on a copy of examples/project in a pseudo-terminal. Every question is answered with `y`. What was
printed is drawn as it is, but for two things: the temporary folder is called `~`, and much is left out where a line
tells how much (see `shortened`).

    python scripts/picture.py [REQUEST]
"""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "run.svg"
REQUEST = "Fix the failing test"

COLUMNS, ROWS = 100, 60
#: Lines in a row that only show what a tool gave; more lose their middle.
MOST_OUTPUT = 3
#: Seconds that the run may take, and that it may be silent.
DEADLINE, SILENCE = 120.0, 60.0

QUESTION = re.compile(r"\? (?:\x1b\[[\d;]*m)*$")
ANSWERED = re.compile(r"^ +\S+\? y$")
SEQUENCE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07")

COLOURS = {31: "#f47067", 32: "#8ddb8c", 33: "#f2cc60", 34: "#6cb6ff", 35: "#dcbdfb", 36: "#76e3ea", 90: "#7d8590"}
BACKGROUND, FRAME, FOREGROUND, FAINT = "#161b22", "#30363d", "#e6edf3", "#8b949e"
CELL, LINE, MARGIN, TOP = 8.4, 19, 18, 46
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Style(NamedTuple):
    """How a piece of text looks."""

    bold: bool = False
    dim: bool = False
    colour: int = 0


class Piece(NamedTuple):
    """Text of one style."""

    text: str
    style: Style


Line = list[Piece]


# --- Recording -------------------------------------------------------------------------------------------------------


def record(command: list[str], folder: Path) -> str:
    """What the command prints on a terminal, each of its questions answered with y. Raises RuntimeError."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.environ.pop("NO_COLOR", None)
        os.execv(command[0], command)
    try:
        text = "".join(_conversation(terminal))
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"the run ended with status {os.waitstatus_to_exitcode(status)}:\n{text}")
    return text


def _conversation(terminal: int) -> Iterator[str]:
    end = time.monotonic() + DEADLINE
    rest, line = b"", ""
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], SILENCE)
        try:
            data = os.read(terminal, 65536) if ready else b""
        except OSError:  # what reading gives on Linux once the other end is closed
            data = b""
        if not data:
            return
        rest += data
        whole = rest.decode("utf-8", "ignore")
        rest = rest[len(whole.encode()) :]
        yield whole
        line = (line + whole).rpartition("\n")[2]
        if QUESTION.search(line):
            os.write(terminal, b"y\n")
            line = ""


# --- Reading ---------------------------------------------------------------------------------------------------------


def read(text: str) -> list[Line]:
    """The lines that the text was printed as, of any length."""
    lines: list[Line] = []
    style = Style()
    for raw in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        line: Line = []
        position = 0
        for found in SEQUENCE.finditer(raw):
            line.append(Piece(raw[position : found.start()], style))
            style = _styled(style, found[1] or "") if found[2] == "m" else style
            position = found.end()
        line.append(Piece(raw[position:], style))
        lines.append([piece for piece in line if piece.text])
    return lines


def _styled(style: Style, codes: str) -> Style:
    for code in (int(each or 0) for each in codes.split(";")):
        match code:
            case 0:
                style = Style()
            case 1:
                style = style._replace(bold=True)
            case 2:
                style = style._replace(dim=True)
            case 22:
                style = style._replace(bold=False, dim=False)
            case 39:
                style = style._replace(colour=0)
            case _ if code in COLOURS:
                style = style._replace(colour=code)
    return style


def wrapped(line: Line) -> Iterator[Line]:
    """The rows that a line takes in a terminal."""
    row: Line = []
    free = COLUMNS
    for text, style in line:
        while len(text) > free:
            yield [*row, Piece(text[:free], style)]
            row, text, free = [], text[free:], COLUMNS
        row.append(Piece(text, style))
        free -= len(text)
    yield row


# --- Shortening ------------------------------------------------------------------------------------------------------


def shortened(lines: list[Line]) -> list[Line]:
    """The lines without what few would read; a line with the number of lines stands for each part left out.

    Left out are calls whose title takes more than a line, all but the first and last line of a question, all of one
    that was asked before, and the middle of each long output.
    """
    kept: list[Line] = []
    aside = 0
    asked: set[tuple[str, ...]] = set()
    for part in [*_parts(lines), []]:
        if part and _is_aside(plain(part[0])):
            aside += len(part)
            continue
        kept += [_left_out(aside, "")] if aside else []
        aside = 0
        kept += _without_middles(_without_questions(part, asked))
    return kept


def plain(line: Line) -> str:
    """The text of a line."""
    return "".join(piece.text for piece in line)


def _parts(lines: list[Line]) -> list[list[Line]]:
    """Tool calls, each with all that stands below it, and the texts between them."""
    parts: list[list[Line]] = []
    in_call = False
    for line in lines:
        text = plain(line)
        begins_call = text.startswith("● ")
        ends_call = in_call and bool(text) and not text.startswith((" ", "? "))
        if begins_call or ends_call or not parts:
            parts.append([])
            in_call = begins_call
        parts[-1].append(line)
    return parts


def _is_aside(title: str) -> bool:
    return title.startswith("● ") and len(title) > COLUMNS


def _without_questions(part: list[Line], asked: set[tuple[str, ...]]) -> Iterator[Line]:
    question: list[Line] = []
    for line in part:
        text = plain(line)
        if question or text.startswith("? "):
            question.append(line)
        else:
            yield line
        if question and ANSWERED.search(text):
            yield from _question(question, asked)
            question = []
    yield from question


def _question(question: list[Line], asked: set[tuple[str, ...]]) -> list[Line]:
    words = tuple(plain(line) for line in question)
    if words in asked:
        return [_left_out(len(question))]
    asked.add(words)
    return [question[0], *_without_middle(question[1:-1], 1), question[-1]]


def _without_middles(lines: Iterable[Line]) -> Iterator[Line]:
    output: list[Line] = []
    for line in lines:
        if line and plain(line).startswith("  ") and all(piece.style == Style(dim=True) for piece in line):
            output.append(line)
            continue
        yield from _without_middle(output, MOST_OUTPUT)
        output = []
        yield line
    yield from _without_middle(output, MOST_OUTPUT)


def _without_middle(output: list[Line], most: int) -> list[Line]:
    if len(output) <= most:
        return output
    head, tail = most // 2, (most - 1) // 2
    return [*output[:head], _left_out(len(output) - head - tail), *output[len(output) - tail :]]


def _left_out(number: int, indent: str = "  ") -> Line:
    return [Piece(f"{indent}… {number} line{'s' if number > 1 else ''}", Style(dim=True))]


# --- Drawing ---------------------------------------------------------------------------------------------------------


def draw(lines: list[Line], title: str) -> str:
    """The lines in the window of a terminal, as SVG."""
    width, height = round(2 * MARGIN + COLUMNS * CELL), TOP + MARGIN + len(lines) * LINE
    rows = [_row(line, TOP + (number + 1) * LINE - 5) for number, line in enumerate(lines)]
    lights = [
        f'<circle cx="{MARGIN + 6 + 20 * number}" cy="20" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" fill="{BACKGROUND}" '
        f'stroke="{FRAME}"/>',
        *lights,
        f'<g font-family="{FONT}" font-size="14" fill="{FOREGROUND}" xml:space="preserve">',
        *(row for row in rows if row),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _row(line: Line, y: int) -> str:
    column = 0
    spans = []
    for text, style in line:
        # Each piece is set to its own width, so that columns stay in place whatever the font.
        x, length = MARGIN + column * CELL, len(text) * CELL
        attributes = f'x="{x:.1f}" textLength="{length:.1f}"{_look(style)}'
        if text.strip():
            spans.append(f"<tspan {attributes}>{escape(text)}</tspan>")
        column += len(text)
    return f'<text y="{y}">{"".join(spans)}</text>' if spans else ""


def _look(style: Style) -> str:
    colour = COLOURS.get(style.colour) or (FAINT if style.dim else "")
    fill = f' fill="{colour}"' if colour else ""
    faint = ' opacity="0.7"' if style.dim and style.colour else ""
    bold = ' font-weight="bold"' if style.bold else ""
    return fill + faint + bold


def main(request: str = REQUEST) -> None:
    """Record, draw and write the picture."""
    home = Path(tempfile.mkdtemp(prefix="duologue-picture-"))
    try:
        project = home / "invoicer"
        shutil.copytree(ROOT / "examples" / "project", project, ignore=shutil.ignore_patterns("__pycache__"))
        text = record([sys.executable, "-P", "-m", "duologue", "run", "--model", "offline", request], project)
    finally:
        shutil.rmtree(home)
    prompt = f"\x1b[32m~/invoicer\x1b[0m $ duologue run {shlex.quote(request)}\n"
    kept = shortened(read(prompt + text.replace(str(home), "~")))
    lines = [row for line in kept for row in wrapped(line)]
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(lines, f"duologue run: {request}"), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {len(lines)} lines")


if __name__ == "__main__":
    main(*sys.argv[1:2])
