"""Create, extend, move and delete files, and undo."""

from __future__ import annotations

from duologue.coder.models.offline.intents.steps import Create, Delete, Insert, MoveFile, Step, Undo
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.scripts.lookup import matching, one_file
from duologue.coder.models.offline.scripts.sound import must_compile
from duologue.coder.models.offline.turn import Turn, TurnStopped, is_refused, why_not
from duologue.coder.texts import shorten
from duologue.local.lines import lines_of

WHERE_UNDONE = "Undo takes back what I edited since I was started; each `duologue run` starts me anew."


async def change(turn: Turn, step: Step) -> None:
    match step:
        case Create():
            await _create(turn, step)
        case Insert():
            await _insert(turn, step)
        case MoveFile():
            await _move(turn, step)
        case Delete(path=path):
            await _delete(turn, path)
        case Undo():
            await _undo(turn)
        case _:
            raise AssertionError(f"not a change of files: {step}")
    turn.forget_files()


async def _create(turn: Turn, step: Create) -> None:
    text = step.text or ""
    must_compile(step.path, None, text)
    data = await turn.need("write_file", path=step.path, text=_ended(text), create=step.text is None)
    count = len(lines_of(text))
    verb = "Created" if data["created"] else "Replaced the text of"
    await turn.say(f"{verb} {step.path} ({count} line{'s' if count != 1 else ''}).\n")


async def _insert(turn: Turn, step: Insert) -> None:
    path = await _extended(turn, step)
    if path is None:
        return
    old = await turn.read(path)
    new = _inserted(old, step)
    must_compile(path, old, new)
    await turn.must(change_of(path, old, new))
    await turn.say(f"Added {len(lines_of(step.text))} line(s) to {path}.\n")


async def _extended(turn: Turn, step: Insert) -> str | None:
    """The file that an insertion goes into; none where it has made a new one."""
    if step.at != "end" or matching(await turn.files(), step.path):
        return await one_file(turn, step.path)
    must_compile(step.path, None, step.text)
    made = await turn.call("write_file", path=step.path, text=_ended(step.text), create=True)
    if is_refused(made):
        raise TurnStopped(why_not("write_file", made))
    if not made.ok:
        # It may be there and not be listed: an ignored file, or one of very many.
        return step.path
    await turn.say(f"Created {step.path} ({len(lines_of(step.text))} line(s)).\n")
    return None


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _inserted(old: str, step: Insert) -> str:
    lines = lines_of(old)
    at = _position(lines, step)
    if 0 < at == len(lines) and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join(lines[:at]) + step.text.rstrip("\n") + "\n" + "".join(lines[at:])


def _position(lines: list[str], step: Insert) -> int:
    match step.at, step.anchor:
        case "end", _:
            return len(lines)
        case "start", _:
            return 0
        case _, int(number):
            if not 1 <= number <= len(lines):
                raise TurnStopped(f"{step.path} has {len(lines)} lines; there is no line {number}.")
            return number if step.at == "after" else number - 1
        case _:
            found = [index for index, line in enumerate(lines) if str(step.anchor) in line]
            if len(found) != 1:
                raise TurnStopped(
                    f"`{step.anchor}` is on {len(found)} lines of {step.path}; I need exactly one. Give a line number."
                )
            return found[0] + (step.at == "after")


async def _move(turn: Turn, step: MoveFile) -> None:
    path = await one_file(turn, step.old)
    target = step.new + path.rsplit("/", 1)[-1] if step.new.endswith("/") else step.new
    if "/" not in target and "/" in path:
        target = path.rsplit("/", 1)[0] + "/" + target
    await turn.need("move_file", path=path, to=target)
    await turn.say(f"Moved {path} to {target}. Imports and links that name it are not changed.\n")


async def _delete(turn: Turn, wanted: str) -> None:
    path = await one_file(turn, wanted)
    result = await turn.call("delete_file", path=path)
    if not result.ok:
        raise TurnStopped(why_not("delete_file", result))
    await turn.say(f"Deleted {path}.\n")


async def _undo(turn: Turn) -> None:
    if not turn.can_undo:
        raise TurnStopped(f"Nothing was undone. {WHERE_UNDONE}")
    result = await turn.call("undo_edits")
    if is_refused(result):
        raise TurnStopped(f"Nothing was undone. {why_not('undo_edits', result)}")
    if not result.ok:
        raise TurnStopped(f"Nothing was undone: {shorten(result.text, 300)}. {WHERE_UNDONE}")
    await turn.say(f"{result.text.strip() or 'The last edits are undone.'}\n")
