"""Documents against a slow model: lines, positions in each encoding, changes on both sides."""

from __future__ import annotations

import pytest
from documents_model import ENCODINGS, edits_of, lines, mended, offset, position, texts
from hypothesis import given
from hypothesis import strategies as st

from duologue.documents import Document, TextEdit, apply_edits, choose_encoding, difference, known_encoding
from duologue.documents import lines as module
from duologue.documents.lines import BLOCK, Lines, split_lines
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import Position, Range, TextDocumentContentChangeEvent

UTF_8, UTF_16, UTF_32 = ENCODINGS


# --- Lines -----------------------------------------------------------------------------------------------------------


@given(texts)
def test_lines_end_with_lf_cr_or_crlf_and_nothing_else(text: str) -> None:
    expected = lines(text)
    assert split_lines(text) == expected
    assert "".join(expected) == text


@given(texts, st.data())
def test_edits_leave_what_they_leave_in_a_string(text: str, data: st.DataObject) -> None:
    found = Lines(text)
    for _ in range(data.draw(st.integers(1, 6))):
        start, end, new = data.draw(edits_of(len(text)))
        kept, before = found.copy(), text
        found.replace(start, end, new)
        text = text[:start] + new + text[end:]
        assert [found.line(number) for number in range(found.count)] == lines(text)
        assert (found.length, found.text) == (len(text), text)
        assert kept.text == before
        for at in range(len(text) + 1):
            number, column = found.locate(at)
            assert found.start(number) + column == at
            assert column < len(found.line(number)) or number == found.count - 1


@given(st.data())
def test_many_blocks_are_one_text(data: st.DataObject) -> None:
    """With blocks of two lines each edit spans, cuts and joins some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 2)
        text = data.draw(st.lists(texts, max_size=12).map("\n".join))
        found = Lines(text)
        for _ in range(8):
            start, end, new = data.draw(edits_of(len(text)))
            found.replace(start, end, new)
            text = text[:start] + new + text[end:]
            assert [found.line(number) for number in range(found.count)] == lines(text)
            assert all(1 <= len(block) <= 4 for block in found._blocks)
            assert found._sizes == [sum(map(len, block)) for block in found._blocks]


def test_blocks_stay_few_and_short_whatever_is_typed_and_deleted() -> None:
    found = Lines("line\n" * 10_000)
    for at in range(3000):
        found.replace(at * 3, at * 3, "a\nb")
    assert max(map(len, found._blocks)) <= 2 * BLOCK
    while found.length > 20_000:
        found.replace(found.length // 2, found.length // 2 + 4000, "")
    assert len(found._blocks) <= 2 + 4 * found.count // BLOCK


# --- Positions -------------------------------------------------------------------------------------------------------


@given(texts, st.sampled_from(ENCODINGS), st.integers(0, 8), st.integers(0, 30))
def test_each_position_has_the_offset_that_the_model_says(
    text: str, encoding: PositionEncodingKind, line: int, character: int
) -> None:
    document = Document("file:///a", text)
    expected = offset(mended(text), line, character, encoding)
    assert document.offset(Position(line=line, character=character), encoding) == expected


@pytest.mark.req("allu-nes-10")
@given(texts, st.sampled_from(ENCODINGS), st.data())
def test_each_offset_has_its_position_and_comes_back(
    text: str, encoding: PositionEncodingKind, data: st.DataObject
) -> None:
    document = Document("file:///a", text)
    at = data.draw(st.integers(0, len(text)))
    found = document.position(at, encoding)
    assert (found.line, found.character) == position(mended(text), at, encoding)
    between = text[at - 1 : at + 1] == "\r\n"
    assert document.offset(found, encoding) == at - between


@pytest.mark.parametrize(
    ("line", "character", "encoding", "expected"),
    [
        (0, 1, UTF_16, 1),
        (0, 2, UTF_16, 1),  # inside the pair
        (0, 3, UTF_16, 2),
        (0, 2, UTF_8, 1),  # inside the four bytes
        (0, 4, UTF_8, 1),
        (0, 5, UTF_8, 2),
        (0, 2, UTF_32, 2),
        (0, 4, UTF_16, 3),  # before CR LF
        (0, 99, UTF_16, 3),  # behind the end of the line
        (1, 99, UTF_8, 6),
        (2, 0, UTF_16, 6),  # behind the last line
        (99, 99, UTF_16, 6),
    ],
)
def test_positions_that_are_not_there_have_an_answer(
    line: int, character: int, encoding: PositionEncodingKind, expected: int
) -> None:
    document = Document("file:///a", "a😀b\r\nc")
    assert document.text[3:5] == "\r\n"
    assert document.offset(Position(line=line, character=character), encoding) == expected


def test_a_range_with_its_ends_swapped_is_the_same_range() -> None:
    document = Document("file:///a", "abcd")
    ends = Position(line=0, character=3), Position(line=0, character=1)
    assert document.span(Range(start=ends[0], end=ends[1]), UTF_16) == (1, 3)


def test_offsets_that_are_not_there_are_the_callers_mistake() -> None:
    document = Document("file:///a", "abc")
    for start, end in ((-1, 0), (0, 4), (2, 1)):
        with pytest.raises(ValueError, match="no stretch of a text of 3 characters"):
            document.replace(start, end, "")
        with pytest.raises(ValueError, match="no stretch"):
            document.range(start, end, UTF_16)
    with pytest.raises(IndexError):
        document.line(1)
    with pytest.raises(IndexError):
        document.line(-1)


# --- Changes ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-documents-06")
@given(texts, st.sampled_from(ENCODINGS), st.data())
def test_changes_make_the_same_text_on_the_other_side(
    text: str, encoding: PositionEncodingKind, data: st.DataObject
) -> None:
    near, far = Document("file:///a", text), Document("file:///a", text)
    for _ in range(data.draw(st.integers(1, 4))):
        edit = data.draw(edits_of(len(near)))
        expected = apply_edits(near.text, [edit])
        far.apply([near.change(edit, encoding)], encoding)
        assert near.text == far.text == mended(expected)


@pytest.mark.parametrize(
    ("edit", "stretch", "text"),
    [
        (TextEdit(2, 3, "x"), (0, 1, 1, 0), "\rx"),
        (TextEdit(1, 2, "x"), (0, 1, 1, 0), "x\n"),
        (TextEdit(2, 2, "x"), (0, 1, 1, 0), "\rx\n"),
        (TextEdit(1, 3, "x"), (0, 1, 1, 0), "x"),
        (TextEdit(3, 3, "x"), (1, 0, 1, 0), "x"),
    ],
)
def test_a_change_inside_of_a_line_end_takes_the_whole_of_it(
    edit: TextEdit, stretch: tuple[int, ...], text: str
) -> None:
    document = Document("file:///a", "a\r\nb")
    change = document.change(edit, UTF_16)
    assert document.text == apply_edits("a\r\nb", [edit])
    start, end = Position(line=stretch[0], character=stretch[1]), Position(line=stretch[2], character=stretch[3])
    assert change == TextDocumentContentChangeEvent(range=Range(start=start, end=end), text=text)


@pytest.mark.req("allu-documents-07")
def test_a_change_without_a_range_is_the_new_text() -> None:
    document = Document("file:///a", "old")
    document.apply([TextDocumentContentChangeEvent(text="new"), TextDocumentContentChangeEvent(text="newer")], UTF_16)
    assert document.text == "newer"
    document.apply([TextDocumentContentChangeEvent(text="null", range=None)], UTF_16)
    assert document.text == "null"


def test_a_copy_stays_as_it_is() -> None:
    document = Document("file:///a", "one\ntwo", language_id="text", version=3)
    kept = document.copy()
    document.replace(0, 3, "1")
    document.version = 4
    assert (kept.text, kept.version, kept.language_id, document.text) == ("one\ntwo", 3, "text", "1\ntwo")


# --- Edits -----------------------------------------------------------------------------------------------------------


@given(texts, texts)
def test_the_difference_makes_the_new_text_and_shares_no_end_with_the_old_one(old: str, new: str) -> None:
    edit = difference(old, new)
    if edit is None:
        assert old == new
        return
    assert apply_edits(old, [edit]) == new
    gone = old[edit.start : edit.end]
    assert not (gone and edit.text) or (gone[0] != edit.text[0] and gone[-1] != edit.text[-1])


def test_edits_refer_to_the_text_before_all_of_them() -> None:
    edits = [TextEdit(4, 4, "!"), TextEdit(0, 1, "H"), TextEdit(4, 4, "?")]
    assert apply_edits("hell", edits) == "Hell!?"
    with pytest.raises(ValueError, match="edits overlap: 0-2 and 1-3"):
        apply_edits("hell", [TextEdit(1, 3, ""), TextEdit(0, 2, "")])


# --- Which encoding --------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-nes-09")
def test_the_first_encoding_that_both_know_or_utf_16() -> None:
    preferred = (UTF_32, UTF_8, UTF_16)
    assert choose_encoding([UTF_16, UTF_8], preferred) is UTF_8
    assert choose_encoding([], preferred) is choose_encoding(None, preferred) is None
    assert choose_encoding([PositionEncodingKind("utf-7")], preferred) is None
    assert known_encoding(UTF_8) is UTF_8
    assert known_encoding(None) is known_encoding(PositionEncodingKind("utf-7")) is UTF_16
