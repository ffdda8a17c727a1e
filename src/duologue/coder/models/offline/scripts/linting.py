"""Run the linter; mend what can be mended safely, and prove it by the linter and the tests."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from duologue.coder.models.offline.intents.steps import Lint
from duologue.coder.models.offline.repair.findings import Finding, mended, read_findings
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.scripts.lookup import one_file
from duologue.coder.models.offline.scripts.sound import must_compile
from duologue.coder.models.offline.suite import Report, find_suite, run_tests
from duologue.coder.models.offline.suite.detect import TEST_FILE
from duologue.coder.models.offline.turn import Turn, TurnStopped
from duologue.coder.texts import shorten

SHOWN = 30
_LINTERS = ("ruff check --output-format=concise", "python3 -m pyflakes", "python3 -m flake8")


async def lint(turn: Turn, step: Lint) -> None:
    """Show what the linter says; with `repair`, mend what is safe."""
    target = await one_file(turn, step.target) if step.target else "."
    command, findings = await _findings(turn, target)
    if not findings:
        await turn.say(f"The linter finds nothing. (`{command}`)\n")
        return
    await turn.say(_told(command, findings))
    if step.repair:
        await _repair(turn, target, findings)


async def _findings(turn: Turn, target: str) -> tuple[str, tuple[Finding, ...]]:
    for linter in _LINTERS:
        command = f"{linter} {shlex.quote(target)}"
        data = await turn.run(command)
        output = str(data["output"])
        findings = read_findings(output.replace(turn.cwd.rstrip("/") + "/", ""))
        if data["exit_code"] in (0, 1) and "No module named" not in output and (findings or data["exit_code"] == 0):
            return command, findings
    raise TurnStopped("I found no linter that works here: I know ruff, pyflakes and flake8. Install one and ask again.")


def _told(command: str, findings: Sequence[Finding]) -> str:
    lines = [f"{len(findings)} finding{'s' if len(findings) != 1 else ''}. (`{command}`)\n"]
    lines += [f"- {finding}" for finding in findings[:SHOWN]]
    if len(findings) > SHOWN:
        lines.append(f"- … and {len(findings) - SHOWN} more")
    return "\n".join(lines) + "\n\n"


async def _repair(turn: Turn, target: str, findings: Sequence[Finding]) -> None:
    before = await turn.read_all(list(dict.fromkeys(finding.path for finding in findings)))
    after = {path: _mended_file(path, text, findings) for path, text in before.items()}
    changed = [path for path in before if before[path] != after[path]]
    if not changed:
        raise TurnStopped("None of these has a rewrite that I know to be safe, so nothing is changed.")
    for path in changed:
        must_compile(path, before[path], after[path])
    tested = await _tested(turn)
    for path in changed:
        await turn.must(change_of(path, before[path], after[path]))
    _, left = await _findings(turn, target)
    again = await _tested(turn)
    if _is_new(findings, left) or (tested is not None and again is not None and _is_worse(tested, again)):
        await _take_back(turn, changed, before, after)
    proof = "The linter agrees" + ("" if again is None else f", and the tests are as before: {again.summary}") + "."
    await turn.say(f"Mended {len(findings) - len(left)} of {len(findings)} in {', '.join(changed)}. {proof}\n")


def _mended_file(path: str, text: str, findings: Sequence[Finding]) -> str:
    """From the last line up, so that the lines of earlier findings stay where they are."""
    for finding in sorted((f for f in findings if f.path == path), key=lambda f: (-f.line, -f.column)):
        new = mended(text, finding)
        text = text if new is None else new
    return text


async def _tested(turn: Turn) -> Report | None:
    if not any(TEST_FILE.search(path) for path in await turn.files()):
        return None
    return (await run_tests(turn, await find_suite(turn)))[0]


def _is_new(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    known = [(finding.path, finding.code, finding.message) for finding in before]
    for finding in after:
        key = (finding.path, finding.code, finding.message)
        if key not in known:
            return True
        known.remove(key)
    return False


def _is_worse(before: Report, after: Report) -> bool:
    failed = {failure.name for failure in before.failures}
    return (before.ok and not after.ok) or any(failure.name not in failed for failure in after.failures)


async def _take_back(turn: Turn, changed: Sequence[str], before: dict[str, str], after: dict[str, str]) -> None:
    for path in changed:
        await turn.must(change_of(path, after[path], before[path]))
    names = shorten(", ".join(changed), 200)
    raise TurnStopped(f"The rewrite of {names} did not stand the proof by linter and tests, so I took it back.")
