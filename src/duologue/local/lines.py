"""Lines of texts, and which of them two texts have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

#: Looks at lines and at pairs of equal lines that one comparison may take, about half a second: the work grows with
#: the cube of how often a line is repeated, such as the empty one between paragraphs.
MOST_STEPS = 6_000_000


def lines_of(text: str) -> list[str]:
    """Lines by LF alone, which they keep, as git has them: `str.splitlines` would also break at characters that are
    text."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def equal_blocks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of equal lines in order: where each begins in the old and in the new ones, and how long it is.

    These are the common start, the common end, and between them what is found in `MOST_STEPS`. A run may be empty.
    """
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    between = _between(old[head : len(old) - tail], new[head : len(new) - tail])
    inner = [(head + at, head + to, size) for at, to, size in between]
    return [(0, 0, head), *inner, (len(old) - tail, len(new) - tail, tail)]


def _between(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    from difflib import SequenceMatcher  # not needed before the first comparison

    blocks: list[tuple[int, int, int]] = []
    matcher, steps = SequenceMatcher(None, old, new, autojunk=False), _steps(old, new)
    todo, left = [(0, len(old), 0, len(new))], MOST_STEPS
    while todo:
        a, b, c, d = todo.pop()
        if c == d or steps[b] - steps[a] > left:
            continue
        left -= steps[b] - steps[a]
        at, to, size = matcher.find_longest_match(a, b, c, d)
        if size:
            blocks.append((at, to, size))
            todo += [(at + size, b, to + size, d), (a, at, c, to)]
    return sorted(blocks)


def _steps(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """What it takes to look for the old lines up to each of them among the new ones."""
    times = Counter(new)
    return [*accumulate((1 + times.get(line, 0) for line in old), initial=0)]
