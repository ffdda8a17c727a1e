"""What the model says about itself, and when no rule fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.coder.models.offline.intents.steps import Hello, Unknown
from duologue.coder.models.offline.turn import Turn, TurnStopped, shorten

WHO = (
    "I am the `offline` model of Duologue's coding agent: a set of rules, not a language model. I need no network and "
    "no key, so I am good for trying an editor's set-up, for demos and for tests.\n\n"
)
CANNOT = "I cannot write new code from a description, answer open questions, or hold a conversation.\n\n"


async def reply(turn: Turn, step: Hello | Unknown) -> None:
    """Answer small talk, or say that the request is not understood, with examples that fit the project."""
    if isinstance(step, Unknown):
        await turn.say(
            f"No rule of mine fits this request: “{shorten(step.text, 120)}”.\n\n"
            if step.text.strip()
            else "The request is empty.\n\n"
        )
        await turn.say(f"I am rules, not a language model. {CANNOT}")
        await turn.say(await _abilities(turn))
        return
    match step.kind:
        case "thanks":
            await turn.say("You are welcome.\n")
        case "hello":
            await turn.say(f"Hello. {WHO}Ask “what can you do?” for a list.\n")
        case "who" | "help":
            await turn.say(f"{WHO}{CANNOT}")
            await turn.say(await _abilities(turn))


async def _abilities(turn: Turn) -> str:
    module, test, name = _examples(await _listed(turn))
    return (
        "What I can do, in plain words:\n\n"
        f"- find text or files: “find `{name}`”, “find files named *.py”, “where is `{name}` defined?”\n"
        f"- explain: “what does this project do?”, “outline {module}”, “show lines 1-20 of {module}”\n"
        f'- change: “rename `{name}` to `new_name`”, “replace "old" with "new" in {module}”\n'
        '- files: “create notes.md with the content "hello"”, “append "more" to notes.md”, “delete notes.md”\n'
        "- run: “run `ls -la`”, “run the tests and tell me what failed”\n"
        f"- repair: “fix the failing test{f' in {test}' if test else ''}”, “fix lint errors”: "
        "only what I can prove by running it\n"
        "- “undo”\n\n"
        "Steps can be chained: “find X, then rename it to Y and run the tests”.\n"
    )


async def _listed(turn: Turn) -> Sequence[str]:
    try:
        return await turn.files()
    except TurnStopped:
        return ()


def _examples(files: Sequence[str]) -> tuple[str, str, str]:
    """A module, a test file and an identifier to show in examples, from the names of files alone."""
    tests = [path for path in files if re.search(r"(^|/)(test_\w+|\w+_test)\.py$", path)]
    modules = [
        path for path in files if path.endswith(".py") and path not in tests and not path.endswith("__init__.py")
    ]
    modules.sort(key=lambda path: (path.endswith(("setup.py", "conftest.py")), path.count("/"), path))
    module = modules[0] if modules else (files[0] if files else "app.py")
    stem = module.rsplit("/", 1)[-1].split(".")[0]
    return module, tests[0] if tests else "", stem if stem.isidentifier() else "total"
