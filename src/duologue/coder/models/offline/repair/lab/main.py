"""The lab's day: copy, survey, try, prove, answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .forks import NoAnswer, in_fork, quiet
from .job import Job, answer, say
from .region import Region, Suspect, sure
from .runners import CannotCollect, prepare
from .scratch import TooBig, scratch_copy
from .survey import Survey, survey
from .trials import Trials, whole_suite


def main(values: dict[str, Any]) -> None:
    job = Job(**values)
    try:
        with scratch_copy(job.root, job.most_bytes) as scratch:
            answer(_work(job, scratch))
    except TooBig as error:
        answer({"problem": str(error)})
    except ImportError as error:
        answer({"problem": f"the project's Python cannot import what the tests need: {error}"})


def _work(job: Job, scratch: str) -> dict[str, Any]:
    prepare(job, scratch)
    say("running the tests in a scratch copy, line by line")
    seen = _surveyed(job, scratch)
    if isinstance(seen, str):
        return {"problem": seen}
    if not seen.failing:
        return {"problem": "no test fails in a scratch copy of the project", "passing": seen.passing}
    region = Region(scratch, seen)
    trials = Trials(job, region, scratch)
    suspects = region.suspects()
    tests = f"{len(seen.failing)} failing, {seen.passing} passing"
    say(f"{tests}; {len(suspects)} edits to try on {len(seen.common)} suspicious lines")
    missed = trials.run(suspects, 0.8)
    if not any(missed) and not trials.fits:
        missed = trials.run(region.suspects(bounds=True), 0.85)
    say(f"tried {trials.tried} edits, {len(trials.fits)} fit so far; now the whole suite")
    return _answer(job, region, trials, missed)


def _surveyed(job: Job, scratch: str) -> Survey | str:
    def work() -> Survey | str:
        quiet()
        try:
            return survey(job, scratch)
        except CannotCollect as error:
            return str(error)

    try:
        found: Survey | str = in_fork(work, max(5.0, job.left(0.7)))
    except NoAnswer as error:
        return f"the tests do not run in a scratch copy: {error}"
    return found


def _answer(job: Job, region: Region, trials: Trials, missed: tuple[float, float]) -> dict[str, Any]:
    proven: list[dict[str, Any]] = []
    unproven = 0
    for suspect in sorted(trials.fits, key=lambda suspect: -suspect.score)[: job.finalists]:
        failing = whole_suite(job, region, trials.scratch, suspect) if job.left() > 1 else None
        if failing is None:
            unproven += 1
        elif not failing:
            proven.append(_told(region, suspect))
    unproven += max(0, len(trials.fits) - job.finalists)
    return {
        "failing": region.survey.failing,
        "passing": region.survey.passing,
        "tried": trials.tried,
        "missed": round(missed[0], 4),
        "missed_cold": round(missed[1], 4),
        "unproven": unproven,
        "lines": _suspicious(region, trials.fits),
        "proven": proven,
    }


def _told(region: Region, suspect: Suspect) -> dict[str, Any]:
    edit = suspect.edit
    source = region.sources[edit.path]
    start = source.text.rfind("\n", 0, edit.start) + 1
    return {
        "path": edit.path,
        "line": edit.line,
        "column": edit.start - start,
        "start": edit.start,
        "old": source.text[edit.start : edit.end],
        "new": edit.new,
        "kind": edit.kind,
        "weight": edit.weight,
        "score": round(suspect.score, 4),
        "sure": sure(region.survey.crashes, source, edit),
        "passing": len(region.survey.cover.get((edit.path, edit.line), ())),
    }


def _suspicious(region: Region, fits: Sequence[Suspect]) -> list[list[Any]]:
    places = sorted(region.survey.common, key=lambda place: -region.survey.score(place))
    return [[path, line] for path, line in places[:8]]


def run(values: dict[str, Any]) -> None:
    sys.setrecursionlimit(max(5000, sys.getrecursionlimit()))
    main(values)
