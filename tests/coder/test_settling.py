"""Work beside the loop comes to an end that is told, whatever it is."""

from __future__ import annotations

from typing import NoReturn

import pytest

from duologue.coder.settling import in_daemon


@pytest.mark.parametrize(
    "raised", [LookupError("lost"), StopIteration("lost"), SystemExit("lost"), KeyboardInterrupt("lost")]
)
async def test_whatever_work_in_a_thread_raises_is_told(raised: BaseException) -> None:
    def work() -> NoReturn:
        raise raised

    with pytest.raises((LookupError, RuntimeError), match="lost"):
        await in_daemon(work)
