"""Git patches from two texts, and the two texts back from a git patch.

Paths are absolute and written without the `a/` and `b/` of git; the reader takes both. A patch made here holds the
whole file as context, so that `read_patch` gives back exactly the texts it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from duologue.late import late_pattern
from duologue.local.lines import equal_blocks, lines_of

NO_NEWLINE = "\\ No newline at end of file"

#: Digits of a number in the head of a hunk. No file has more lines, and Python reads no number of any length.
MOST_DIGITS = 15

_ESCAPED = late_pattern(r"\\([0-3][0-7]{2})|\\(.?)|([^\\]+)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class FilePatch(msgspec.Struct, frozen=True):
    """One `diff --git` section. `old` and `new` hold the lines that its hunks show, None where there is no file.

    `whole` says that the hunks cover both files from the first line on, without a gap: the texts are the files' then,
    unless lines follow behind the last hunk.
    """

    path: str
    old_path: str | None
    old: str | None
    new: str | None
    operation: str
    binary: bool = False
    whole: bool = False


def make_patch(path: str, old: str | None, new: str | None) -> str:
    """Write the section that turns `old` into `new`; None stands for a file that does not exist."""
    path = _quote(path)
    head = [f"diff --git {path} {path}"]
    if old is None:
        head.append("new file mode 100644")
    if new is None:
        head.append("deleted file mode 100644")
    before, after = lines_of(old or ""), lines_of(new or "")
    if not before and not after:
        return _join(head)
    head.append(f"--- {path if old is not None else '/dev/null'}")
    head.append(f"+++ {path if new is not None else '/dev/null'}")
    head.append(f"@@ -{_range(before)} +{_range(after)} @@")
    return _join([*head, *_body(before, after)])


def read_patch(text: str) -> list[FilePatch]:
    """Read the sections of a git patch, in order; what is no section is left out."""
    return [section for lines in _sections(text) if (section := _read_section(lines)) is not None]


def _join(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _range(lines: list[str]) -> str:
    return f"{1 if lines else 0},{len(lines)}"


def _body(before: list[str], after: list[str]) -> Iterator[str]:
    a = b = 0
    for old, new, size in equal_blocks(before, after):
        yield from _marked("-", before[a:old])
        yield from _marked("+", after[b:new])
        yield from _marked(" ", before[old : old + size])
        a, b = old + size, new + size


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield NO_NEWLINE


def _sections(text: str) -> Iterator[list[str]]:
    section: list[str] = []
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            if section:
                yield section
            section = []
        if section or line.startswith("diff --git "):
            section.append(line)
    if section:
        yield section


class _Section(msgspec.Struct):
    """What has been read of a section so far. Of a hunk, `old_due` and `new_due` lines of each text are still to come,
    and `mark` is that of the line read last."""

    old_path: str = ""
    path: str = ""
    operation: str = "modify"
    binary: bool = False
    hunks: bool = False
    whole: bool = True
    old: list[str] = msgspec.field(default_factory=list)
    new: list[str] = msgspec.field(default_factory=list)
    old_due: int = 0
    new_due: int = 0
    mark: str = " "


def _read_section(lines: list[str]) -> FilePatch | None:
    read = _Section()
    read.old_path, read.path = _header_paths(lines[0].removeprefix("diff --git "))
    for line in lines[1:]:
        if line.startswith("\\"):
            _strip_newline(read)
        elif read.old_due > 0 or read.new_due > 0:
            _read_line(read, line)
        else:
            _read_head(read, line)
    return _finish(read) if read.path else None


def _read_head(read: _Section, line: str) -> None:
    word, _, rest = line.partition(" ")
    match word:
        case "@@":
            _start_hunk(read, rest)
        case "---":
            _take_path(read, "old_path", rest, "add")
        case "+++":
            _take_path(read, "path", rest, "delete")
        case "new":
            read.operation = "add"
        case "deleted":
            read.operation = "delete"
        case "rename" | "copy":
            read.operation = "move" if word == "rename" else "copy"
            side, _, path = rest.partition(" ")
            setattr(read, "old_path" if side == "from" else "path", _absolute(_plain(path)))
        case "Binary" | "GIT":
            read.binary = True


def _take_path(read: _Section, side: str, path: str, when_null: str) -> None:
    if path.split("\t")[0] == "/dev/null":
        read.operation = when_null
        return
    setattr(read, side, _plain(path))


def _start_hunk(read: _Section, rest: str) -> None:
    numbers = rest.split(" @@")[0].split(" ")
    if len(numbers) < 2:
        return
    start, read.old_due = _numbers(numbers[0])
    begin, read.new_due = _numbers(numbers[1])
    follows = start <= len(read.old) + 1 and begin <= len(read.new) + 1
    read.whole = read.whole and follows
    read.hunks = True


def _numbers(text: str) -> tuple[int, int]:
    start, _, count = text[1:].partition(",")
    return _number(start, 0), _number(count, 1)


def _number(digits: str, otherwise: int) -> int:
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else otherwise


def _read_line(read: _Section, line: str) -> None:
    read.mark = line[:1] or " "
    if read.mark in "- ":
        read.old.append(line[1:] + "\n")
        read.old_due -= 1
    if read.mark in "+ ":
        read.new.append(line[1:] + "\n")
        read.new_due -= 1


def _strip_newline(read: _Section) -> None:
    """Take the line feed off the line read last."""
    if read.mark in "- " and read.old:
        read.old[-1] = read.old[-1].removesuffix("\n")
    if read.mark in "+ " and read.new:
        read.new[-1] = read.new[-1].removesuffix("\n")


def _finish(read: _Section) -> FilePatch:
    old, new = "".join(read.old), "".join(read.new)
    return FilePatch(
        path=read.path,
        old_path=read.old_path if read.operation in ("move", "copy") else None,
        old=None if read.operation == "add" else old,
        new=None if read.operation == "delete" else new,
        operation=read.operation,
        binary=read.binary,
        whole=read.whole and not read.binary and (read.hunks or read.operation in ("add", "delete")),
    )


def _header_paths(text: str) -> tuple[str, str]:
    """Split `old new`. Paths with spaces are ambiguous here unless both are equal; the lines below settle the rest."""
    half = len(text) // 2
    if len(text) % 2 and text[half] == " " and _plain(text[:half]) == _plain(text[half + 1 :]):
        return _plain(text[:half]), _plain(text[half + 1 :])
    if text.startswith('"'):
        old, _, new = text[1:].partition('" ')
        return _plain(f'"{old}"'), _plain(new)
    old, _, new = text.partition(" ")
    return _plain(old), _plain(new)


def _plain(path: str) -> str:
    """Take off quotes, a time behind a tab, and the `a/` or `b/` of git, and make the path absolute again."""
    path = path.split("\t")[0].strip()
    if len(path) > 1 and path[0] == path[-1] == '"':
        path = _unquote(path[1:-1])
    return _absolute(path[2:]) if path.startswith(("a/", "b/")) else path


def _absolute(path: str) -> str:
    return path if path.startswith("/") or path[1:2] == ":" else "/" + path


def _quote(path: str) -> str:
    """Quote as git does with `core.quotePath` off."""
    if path.isprintable() and not set(path) & {'"', "\\"}:
        return path
    escapes = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(c) or (c if c >= " " else f"\\{ord(c):03o}") for c in path) + '"'


def _unquote(text: str) -> str:
    """Undo git's quoting: octal bytes of UTF-8 and backslash escapes. What git does not write stands for itself."""
    out = bytearray()
    for octal, sign, plain in _ESCAPED.findall(text):
        if octal:
            out.append(int(octal, 8))
        else:
            out += (_ESCAPES.get(sign, sign) + plain).encode()
    return out.decode(errors="replace")
