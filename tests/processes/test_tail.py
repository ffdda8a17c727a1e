"""The end of a stream is kept in bounded memory, and cuts no character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.processes.tail import Tail


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(0, 30))
def test_the_last_bytes_are_kept(pieces: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for piece in pieces:
        tail.add(piece)
    whole = b"".join(pieces)
    assert tail.kept() == whole[max(0, len(whole) - limit) :]
    assert tail.truncated == (len(whole) > limit)


@given(st.text("aé→😀", max_size=30), st.integers(0, 40))
def test_text_begins_with_a_whole_character(text: str, limit: int) -> None:
    tail = Tail(limit)
    tail.add(text.encode())
    assert text.endswith(tail.text())
    assert len(tail.text().encode()) >= min(limit, len(text.encode())) - 3


def test_what_is_no_text_is_replaced() -> None:
    tail = Tail(9)
    tail.add(b"\x80\x80 bad \xff")
    assert tail.text() == "\ufffd\ufffd bad \ufffd"


def test_much_more_than_the_limit_is_not_held() -> None:
    tail = Tail(1000)
    for _ in range(1000):
        tail.add(b"x" * 100)
        assert len(tail._data) <= 2100
