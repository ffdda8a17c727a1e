"""What the model says about itself, and when no rule fits."""

from __future__ import annotations

from duologue.coder.models.offline.intents.steps import Declined, Hello, Unknown
from duologue.coder.models.offline.turn import Turn
from duologue.coder.texts import shorten

WHO = (
    "I am the `offline` model of Duologue's coding agent: a set of rules, not a language model. I need no network and "
    "no key, so I am good for trying an editor's set-up, for demos and for tests.\n\n"
)
CANNOT = "I cannot write new code from a description, answer open questions, or hold a conversation.\n\n"
ABILITIES = (
    "What I can do, in plain words:\n\n"
    "- find text or files: “find `total`”, “find files named *.py”, “where is `total` defined?”, “TODOs?”\n"
    "- explain: “what does this project do?”, “outline app.py”, “show lines 1-20 of app.py”\n"
    '- change: “rename `total` to `amount`”, “set LIMIT to 7”, “replace "old" with "new" in app.py”\n'
    '- files: “create notes.md with the content "hello"”, “append "more" to notes.md”, “delete notes.md”\n'
    "- run: “run `ls -la`”, “run the tests and tell me what failed”, “git status”\n"
    "- repair: “find the failing test and fix it”, “fix the failing test in tests/test_app.py”, “fix lint errors”: "
    "only what I can prove by running it\n"
)
UNDO = "- “undo”, within one session\n"
CHAINED = "\nSteps can be chained: “find X, then rename it to Y and run the tests”.\n"


async def reply(turn: Turn, step: Hello | Declined | Unknown) -> None:
    """Answer small talk, or say that the request is not understood, with examples that fit the project."""
    if isinstance(step, Declined):
        await turn.say(f"{step.why}\n\nNothing was changed.\n")
        return
    if isinstance(step, Unknown):
        await turn.say(
            f"No rule of mine fits this request: “{shorten(step.text, 120)}”.\n\n"
            if step.text.strip()
            else "The request is empty.\n\n"
        )
        await turn.say(f"I am rules, not a language model. {CANNOT}")
        await turn.say(_abilities(turn))
        return
    match step.kind:
        case "thanks":
            await turn.say("You are welcome.\n")
        case "hello":
            await turn.say(f"Hello. {WHO}Ask “what can you do?” for a list.\n")
        case "who" | "help":
            await turn.say(f"{WHO}{CANNOT}")
            await turn.say(_abilities(turn))


def _abilities(turn: Turn) -> str:
    return f"{ABILITIES}{UNDO if turn.can_undo else ''}{CHAINED}"
