"""How each step is done with the tools."""

from __future__ import annotations

from duologue.coder.models.offline.intents import steps as s
from duologue.coder.models.offline.scripts import (
    assigning,
    calling,
    commands,
    describe,
    explain,
    files,
    find,
    replace,
    talk,
    testing,
)
from duologue.coder.models.offline.turn import Turn


async def perform(turn: Turn, step: s.Step) -> None:
    """Do one step; raises `TurnStopped` when the turn cannot go on."""
    match step:
        case s.Find():
            await find.find(turn, step)
        case s.FindFiles(pattern=pattern):
            await find.find_files(turn, pattern)
        case s.ListFiles(where=where):
            await find.list_files(turn, where)
        case s.Show():
            await explain.show(turn, step)
        case s.Explain(path=path):
            await explain.explain(turn, path)
        case s.Describe():
            await describe.describe(turn)
        case s.Replace():
            await replace.replace(turn, step)
        case s.Rename():
            await replace.rename(turn, step)
        case s.Assign():
            await assigning.assign(turn, step)
        case s.MoveFile() | s.Create() | s.Insert() | s.Delete() | s.Undo():
            await files.change(turn, step)
        case s.Run(command=command):
            await commands.run(turn, command)
        case s.Test() | s.Repair() | s.Lint():
            await testing.check(turn, step)
        case s.CallTool():
            await calling.use(turn, step)
        case s.Hello() | s.Declined() | s.Unknown():
            await talk.reply(turn, step)
