"""What the offline model tells of a project, and what it finds in a part of it."""

from __future__ import annotations

from pathlib import Path

from offline_kit import Session

RST_README = """\
Inflector
=========

|build status|_ |coverage|

.. |build status| image:: https://example.org/badge.svg
   :alt: Build Status

It makes plurals of words.

Resources
---------

- the documentation
"""


async def test_headings_and_badges_of_restructured_text_are_not_what_a_project_does(tmp_path: Path) -> None:
    module = '"""\ninflector\n~~~~~~~~~\n\nPlurals of English words.\n\n:copyright: none\n"""\n'
    turn = await Session(tmp_path, {"README.rst": RST_README, "inflector.py": module}).say("what does this project do?")
    assert "**Inflector**\n\nIt makes plurals of words." in turn.said
    assert "inflector.py: Plurals of English words." in turn.said
    assert "Resources" not in turn.said and "~~~" not in turn.said and "alt:" not in turn.said and "|" not in turn.said


async def test_a_sentence_with_links_is_whole(tmp_path: Path) -> None:
    readme = "# A\n\n[![badge](b.svg)](b)\n\nMore than\n[the library][lib], a lot.\n\n[lib]: https://example.org\n"
    turn = await Session(tmp_path, {"README.md": readme}).say("what does this project do?")
    assert "**A**\n\nMore than [the library][lib], a lot." in turn.said and "example.org" not in turn.said


async def test_a_folder_is_searched_though_most_places_are_elsewhere(tmp_path: Path) -> None:
    many = "".join(f"limit = {number}\n" for number in range(300))
    session = Session(tmp_path, {"a/many.py": many, "b/one.py": "limit = 1\n", "b/two.py": "", "c.txt": "limit"})
    assert "b/one.py:1: `limit = 1`" in (await session.say("find limit in b/")).said
    assert "b/one.py:1: `limit = 1`" in (await session.say("where is limit defined in b/")).said
    await session.say("set limit to 7 in b/")
    assert session.read("b/one.py") == "limit = 7\n" and session.read("a/many.py") == many


async def test_a_folder_that_is_named_is_no_file_of_that_name(tmp_path: Path) -> None:
    session = Session(tmp_path, {"pkg/a.py": "limit = 1\n", "pkg.py": "limit = 2\n"})
    said = (await session.say("find limit in pkg/")).said
    assert "pkg/a.py:1" in said and "pkg.py" not in said


async def test_a_search_that_was_cut_short_does_not_say_that_there_is_nothing(tmp_path: Path) -> None:
    many = "limit = 1\n" * 300
    session = Session(tmp_path, {"a/many.py": many, "b/src/x.py": "limit\n", "src/y.py": "limit\n"})
    assert "as far as I have looked" in (await session.say("find limit in src/")).said
