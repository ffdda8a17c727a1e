"""What an author gives, held against its type before it leaves: lists of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from duologue.codec import NotEncodable, sendable
from duologue.codec.salvage import MOST_DROPPED
from duologue.protocol.common.plan import PlanEntryPriority
from duologue.protocol.v2.plan import ItemsPlan, PlanEntry, PlanEntryStatus


class Counted(list[PlanEntry]):
    """A list that knows how often it was gone through."""

    times = 0

    def __iter__(self) -> Iterator[PlanEntry]:
        self.times += 1
        return super().__iter__()


@pytest.mark.parametrize("count", [1, MOST_DROPPED + 1])
def test_however_much_is_wrong_the_author_is_told(count: int) -> None:
    wrong: Any = [1] * count
    with pytest.raises(NotEncodable, match=r"\(in ItemsPlan\)"):
        sendable(ItemsPlan, ItemsPlan(plan_id="p", entries=wrong))


@pytest.mark.parametrize("count", [2, 50])
def test_a_list_with_a_word_of_ones_own_is_gone_through_no_more_often_when_it_is_long(count: int) -> None:
    entry = PlanEntry(content="x", priority=PlanEntryPriority("_mine"), status=PlanEntryStatus.PENDING)
    entries = Counted([entry] * count)
    assert sendable(ItemsPlan, ItemsPlan(plan_id="p", entries=entries)).entries == [entry] * count
    assert entries.times <= 2
