"""What two texts have in common, line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.local import lines
from duologue.local.lines import equal_blocks, lines_of

LINES = st.lists(st.sampled_from("abcdx"), max_size=30)


@given(LINES, LINES, st.sampled_from([0, 20, 1_000_000]))
def test_blocks_are_equal_and_in_order_and_begin_and_end_with_what_both_do(
    old: list[str], new: list[str], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "MOST_STEPS", most)
        blocks = equal_blocks(old, new)
    a = b = 0
    for at, to, size in blocks:
        assert a <= at and b <= to and old[at : at + size] == new[to : to + size]
        a, b = at + size, to + size
    assert (a, b) == (len(old), len(new)) and blocks[0][:2] == (0, 0)


def test_changes_far_apart_are_told_apart() -> None:
    same = [f"{number // 2}\n" for number in range(5_000)]
    assert equal_blocks(["old\n", *same, "old\n"], ["new\n", *same, "new\n"]) == [
        (0, 0, 0),
        (1, 1, 5_000),
        (5_002, 5_002, 0),
    ]


def test_lines_end_with_a_line_feed_and_with_nothing_else() -> None:
    assert lines_of("a\rb\x0cc\u2028d\n\ne") == ["a\rb\x0cc\u2028d\n", "\n", "e"]
    assert lines_of("") == [] and lines_of("a\n") == ["a\n"]
