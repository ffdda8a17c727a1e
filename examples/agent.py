"""An agent that counts the lines of Python files and, if the user agrees, writes the count down."""

from duologue import Agent, History, Turn, run
from duologue.protocol import v2


class LineCounter(Agent):
    name = "line-counter"
    history = History()

    async def prompt(self, turn: Turn) -> None:
        project = turn.session.cwd
        async with turn.tool_call("Count lines", kind=v2.ToolKind.READ) as call:
            files = sorted(project.rglob("*.py"))
            lines = sum(len(file.read_bytes().splitlines()) for file in files)
            await call.text(f"{lines} lines in {len(files)} files")
        await turn.say(f"This project has {lines} lines of Python. ")

        report, text = project / "LINES.txt", f"{lines}\n"
        old = report.read_text() if report.exists() else None
        async with turn.tool_call("Write LINES.txt", kind=v2.ToolKind.EDIT, locations=[report]) as call:
            await call.diff(report, old, text)
            if not await call.ask_permission():
                await call.fail("not allowed")
                return
            report.write_text(text)
        await turn.say("I wrote that to LINES.txt.")


if __name__ == "__main__":
    run(LineCounter())
