"""What the page about testing says: its tests pass, and its tables tell what there is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import ModuleType

import pytest
from doc_pages import blocks, module_text, table_rows, text_of

from duologue import testing
from duologue.testing import FAULTS, Mismatch, Prompt, Question, Reply, ScriptedClient, Wire, connected, lines

TEXT = text_of("docs/testing.md")
TESTS = re.findall(r"^async def (test_\w+)", module_text("testing"), re.MULTILINE)


@pytest.mark.parametrize("name", TESTS)
async def test_the_tests_of_the_page_pass(page: Callable[[str], ModuleType], name: str) -> None:
    test = getattr(page("testing"), name)
    async with Wire() as wire:
        await test(*([wire] if inspect.signature(test).parameters else []))


def test_there_are_tests_on_the_page() -> None:
    assert len(TESTS) == 9


async def test_a_mismatch_reads_as_shown(page: Callable[[str], ModuleType]) -> None:
    (shown,) = blocks(TEXT, "text")
    script = (Prompt("milk"), Reply("Let me see. "), Question("Write it down"), Reply("milk: noted!"))
    with pytest.raises(Mismatch) as caught:
        client = ScriptedClient(*script)
        async with connected(page("testing").Shopper(), client) as connection:
            await client.play(await connection.new_session("."))
    first, _, last = shown.partition("    ...\n")
    assert str(caught.value).startswith(first)
    beginning = last.partition(",...")[0].rstrip()
    assert str(caught.value).splitlines()[-1].startswith(beginning)


def section(heading: str) -> str:
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_every_fault_is_told_in_its_own_words() -> None:
    told = {row[0].strip("`"): (row[1], row[2]) for row in table_rows(section("Peers that misbehave"))}
    assert told == {name: (inspect.getdoc(each), "yes" if each.survivable else "no") for name, each in FAULTS.items()}


def test_every_line_of_a_script_is_told_with_its_members() -> None:
    told = dict(re.fullmatch(r"`(\w+)\((.*)\)`", row[0]).groups() for row in table_rows(section("A script")))  # type: ignore[union-attr,misc]
    kinds = lines.Line.__subclasses__()
    assert told == {kind.__name__: ", ".join(inspect.signature(kind).parameters) for kind in kinds}
    assert all(kind.__name__ in testing.__all__ for kind in kinds)


def test_every_fixture_is_told() -> None:
    told = {row[0].strip("`") for row in table_rows(section("Fixtures for pytest"))}
    # Not imported: pytest wants to be the first to do so.
    source = text_of("src/duologue/testing/fixtures.py")
    assert told == set(re.findall(r"^(?:async )?def (acp_\w+)", source, re.MULTILINE))
