"""The end of a stream is kept in bounded memory, and cuts no character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.processes.tail import PIECE, Tail, TextTail, size_of


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


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(0, 60))
def test_text_in_pieces_is_the_text_of_the_whole(pieces: list[bytes], limit: int) -> None:
    tail = TextTail(limit)
    for piece in pieces:
        tail.add(piece)
    tail.end()
    whole = b"".join(pieces).decode("utf-8", "replace")
    assert whole.endswith(tail.text())
    assert min(limit, size_of(whole)) - 3 <= size_of(tail.text()) <= limit
    assert tail.truncated == (size_of(whole) > limit)


def test_a_character_waits_for_the_rest_of_it() -> None:
    tail = TextTail(10)
    tail.add("a→".encode()[:3])
    assert tail.text() == "a"
    tail.add("→".encode()[2:])
    assert tail.text() == "a→"
    tail.add(b"\xe2")
    tail.end()
    assert tail.text() == "a→\ufffd"


@pytest.mark.parametrize("chunk", [b"\xff" * 32768, b"text\n" * 6553, "→".encode() * 10922, b"x", b"\x00\xff"])
def test_a_reader_that_asks_after_each_piece_costs_no_more_work(chunk: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, measured = 1024 * 1024, [0]

    def counted(text: str) -> int:
        measured[0] += len(text)
        return size_of(text)

    monkeypatch.setattr("duologue.processes.tail.size_of", counted)
    tail = TextTail(limit)
    for count in range(1, 101):
        tail.add(chunk)
        text = tail.text()
        assert tail.text() is text
        # Each character is looked at when it comes and at most once more when it falls out at the front.
        assert measured[0] <= 2 * count * len(chunk)
    assert size_of(tail.text()) <= limit


def test_many_small_pieces_are_put_together() -> None:
    tail = TextTail(100_000)
    for _ in range(50_000):
        tail.add(b"xyz")
    assert len(tail.text()) == 100_000 and len(tail._pieces) < 100_000 // PIECE + 3
