"""The picture of a run: how a terminal's text is read and drawn, and that the picture in the documentation is whole."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from doc_pages import ROOT, text_of

PICTURE = ROOT / "docs" / "images" / "run.svg"
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "scripts" / "picture.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["picture"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_colours_and_widths_are_read(picture: ModuleType) -> None:
    style = picture.Style
    lines = picture.read("\x1b[1;31mred\x1b[0m plain\r\n\x1b[2mfaint\x1b[22m" + "x" * picture.COLUMNS + "\r\n")
    assert lines[0] == [("red", style(bold=True, colour=31)), (" plain", style())]
    assert lines[1][0] == ("faint", style(dim=True))
    assert [len(picture.plain(row)) for row in picture.wrapped(lines[1])] == [picture.COLUMNS, 5]


def shortened(picture: ModuleType, text: str) -> list[str]:
    return [picture.plain(line) for line in picture.shortened(picture.read(text))]


def test_a_long_output_loses_its_middle_and_says_so(picture: ModuleType) -> None:
    text = "".join(f"\x1b[2m  line {number}\x1b[0m\n" for number in range(20))
    assert shortened(picture, f"first\n{text}last") == ["first", "  line 0", "  … 18 lines", "  line 19", "last"]


def test_a_diff_stays_whole(picture: ModuleType) -> None:
    text = "● Edit a [edit]\n" + "".join(f"\x1b[32m  +{number}\x1b[0m\n" for number in range(20)) + "  ✓ completed\n"
    assert shortened(picture, text) == text.replace("\x1b[32m", "").replace("\x1b[0m", "").splitlines()


def test_calls_with_long_titles_are_left_out(picture: ModuleType) -> None:
    program = "● Run " + "x" * picture.COLUMNS
    text = f"go\n{program}\n? Run x\n  y/n? y\n\n  ✓ completed\nDone.\nBye."
    assert shortened(picture, text) == ["go", "… 5 lines", "Done.", "Bye."]
    assert shortened(picture, f"go\n{program}") == ["go", "… 1 line"]


def test_a_question_loses_its_middle_and_when_asked_again_all_of_it(picture: ModuleType) -> None:
    call = "● Run a [execute]\n? Run a\n  $ a\n  in b\n  [y] Allow\n  y/n? y\n  ✓ completed\n"
    asked = ["● Run a [execute]", "? Run a", "  … 3 lines", "  y/n? y", "  ✓ completed"]
    again = ["● Run a [execute]", "  … 5 lines", "  ✓ completed"]
    assert shortened(picture, call + call) == asked + again


def test_no_line_is_lost_uncounted(picture: ModuleType) -> None:
    text = Path(__file__).read_text(encoding="utf-8") + "● Run a [execute]\n? a\n  b\n● Look [read]\n  c\n"
    lines = shortened(picture, text)
    assert sum(int(line.split()[1]) if line.lstrip().startswith("… ") else 1 for line in lines) == text.count("\n")


def test_text_is_escaped(picture: ModuleType) -> None:
    root = ElementTree.fromstring(picture.draw(picture.read("a < b & c\n\n"), "<title>"))
    (text,) = root.iter(TEXT)
    assert "".join(text.itertext()) == "a < b & c"


def test_questions_are_answered_and_the_terminal_is_real(picture: ModuleType, tmp_path: Path) -> None:
    code = "import os; print(os.isatty(1), input('  \\x1b[1my/n? \\x1b[0m'), os.getcwd())"
    text = picture.record([sys.executable, "-c", code], tmp_path)
    assert text.replace("\r", "").endswith(f"y\nTrue y {tmp_path}\n")
    with pytest.raises(RuntimeError, match="status 3"):
        picture.record([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)


def test_the_picture_of_the_first_page_shows_a_run_that_ended_well() -> None:
    assert "docs/images/run.svg" in text_of("README.md")
    rows = ["".join(row.itertext()) for row in ElementTree.parse(PICTURE).getroot().iter(TEXT)]
    assert re.match(r"~/invoicer \$ duologue run ", rows[0])
    assert any(row.strip().startswith("✓ completed") for row in rows)
    assert any(row.lstrip("- ").startswith("if self.pieces > BULK_FROM") for row in rows), "the repair is not shown"
    assert len(rows) < 60
    assert not any("Error" in row and "duologue run:" in row for row in rows)
    assert not any(word in row for row in rows for word in ("/tmp/", "/home/", "/root/"))
