"""`duologue run` in a terminal: its questions are asked there, and Ctrl-C works at each of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli_kit import DUOLOGUE, InTerminal, bare_environment, scripted

from wire import PATIENCE

PROMPT = "y/a/n/v? "


def terminal(scenario: str, cwd: Path, *more: str, **env: str) -> InTerminal:
    return InTerminal("go", "--agent", scripted(scenario), *more, cwd=cwd, **env)


@pytest.mark.req("all-permissions-03")
@pytest.mark.parametrize(
    ("protocol", "typed", "written"),
    [("1", "y\n", True), ("2", "YES\n", True), ("1", "a\n", True), ("2", "n\n", False), ("1", "v\n", False)],
)
def test_a_question_is_answered_by_a_key(tmp_path: Path, protocol: str, typed: str, written: bool) -> None:
    with terminal("write", tmp_path, "--protocol", protocol) as run:
        run.expect(PROMPT)
        assert "+one" in run.seen and "Always allow changes of files that match `*`" in run.seen
        assert run.seen.count("+one") == 1
        assert not (tmp_path / "a.txt").exists()
        run.type(typed)
        assert run.end() == 0
        assert (tmp_path / "a.txt").exists() is written


def test_what_is_no_answer_is_asked_again(tmp_path: Path) -> None:
    with terminal("write", tmp_path) as run:
        run.expect(PROMPT)
        run.type("\n")
        run.expect("type one of: y, a, n, v")
        run.expect(PROMPT)
        for typed in ("maybe", "yeah, but why?"):
            run.type(f"{typed}\n")
            run.expect(PROMPT)
        run.type("y\n")
        assert run.end() == 0 and (tmp_path / "a.txt").exists()


def test_the_end_of_input_is_a_no(tmp_path: Path) -> None:
    with terminal("write", tmp_path) as run:
        run.expect(PROMPT)
        run.type("\x04")
        assert run.end() == 0 and not (tmp_path / "a.txt").exists()


@pytest.mark.req("all-cancellation-03", "all-permissions-04")
@pytest.mark.parametrize("protocol", ["1", "2"])
def test_ctrl_c_at_a_question_cancels_the_turn(tmp_path: Path, protocol: str) -> None:
    """Field bug 53."""
    with terminal("write", tmp_path, "--protocol", protocol) as run:
        run.expect(PROMPT)
        run.type("\x03")
        assert run.end() == 130 and not (tmp_path / "a.txt").exists()
        assert run.seen.count("✗ ") == 1 and "✗ cancelled" in run.seen


@pytest.mark.parametrize("protocol", ["1", "2"])
def test_ctrl_c_at_the_question_about_a_command_says_it_once(tmp_path: Path, protocol: str) -> None:
    """The text of the question came again as if the command had given it, and its end was told in three ways."""
    with terminal("command", tmp_path, "--protocol", protocol) as run:
        run.expect("y/n? ")
        asked = len(run.seen)
        run.type("\x03")
        assert run.end() == 130
        left = run.seen[asked:]
        assert "echo from the command" not in left and left.count("✗ ") == 1 and "✗ cancelled" in left


def test_ctrl_c_while_the_agent_works_cancels_the_turn(tmp_path: Path) -> None:
    with terminal("wait", tmp_path) as run:
        run.expect("waiting")
        run.type("\x03")
        assert run.end() == 130 and (tmp_path / "cancelled").exists()


def test_a_command_is_shown_with_its_folder(tmp_path: Path) -> None:
    with terminal("command", tmp_path) as run:
        run.expect("y/n? ")
        assert "$ echo from the command; exit 3" in run.seen and f"in {tmp_path}" in run.seen
        run.type("y\n")
        assert run.end() == 0
        assert run.seen.count("$ echo from the command") == 1


def test_a_long_command_can_be_seen_whole_before_the_answer(tmp_path: Path) -> None:
    with terminal("long_command", tmp_path) as run:
        run.expect("y/n/w? ")
        assert "more lines" in run.seen and "the last line" not in run.seen
        run.type("w\n")
        run.expect("the last line")
        run.expect("y/n? ")
        run.type("n\n")
        assert run.end() == 0


def test_a_long_diff_can_be_seen_whole_before_the_answer(tmp_path: Path) -> None:
    with terminal("long_write", tmp_path) as run:
        run.expect("y/a/n/v/w? ")
        assert "more lines" in run.seen and "+the last line" not in run.seen
        run.type("w\n")
        run.expect("+the last line")
        run.expect("y/a/n/v? ")
        run.type("n\n")
        assert run.end() == 0 and not (tmp_path / "a.txt").exists()


def test_a_question_names_the_files(tmp_path: Path) -> None:
    with terminal("write", tmp_path) as run:
        run.expect(f"writes {tmp_path}/a.txt")
        run.expect(PROMPT)
        run.type("n\n")
        assert run.end() == 0


def test_what_was_typed_before_a_question_does_not_answer_it(tmp_path: Path) -> None:
    """The agent has painted a question of its own, which was answered."""
    with terminal("posing", tmp_path) as run:
        run.expect("y/n! ")
        run.type("y\ny\n")
        run.expect("y\r\n")
        (tmp_path / "go").touch()
        run.expect(PROMPT)
        run.type("n\n")
        assert run.end() == 0 and not (tmp_path / "a.txt").exists()


def test_a_command_cannot_hide_a_part_of_itself(tmp_path: Path) -> None:
    with terminal("hidden", tmp_path) as run:
        run.expect("y/n? ")
        assert run.seen.count("$ echo safe ␛]; touch pwned #␇") == 1
        run.type("n\n")
        assert run.end() == 0 and not (tmp_path / "pwned").exists()


def test_json_cannot_touch_the_terminal(tmp_path: Path) -> None:
    with terminal("hidden", tmp_path, "--json", "--reject") as run:
        assert run.end() == 0
        assert "\\u001b]" in run.seen and "\x1b]" not in run.seen and "\x07" not in run.seen


def test_an_agent_cannot_paint_over_the_question(tmp_path: Path) -> None:
    with terminal("painted", tmp_path) as run:
        run.expect("y/n? ")
        run.type("n\n")
        run.end()
        assert "\x1b[2K" not in run.seen and "\x1b[1A" not in run.seen
        assert "rm -rf" in run.seen


def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with terminal("write", tmp_path, "--reject", **env) as run:
            assert run.end() == 0
            assert ("\x1b[32m" in run.seen) is coloured


def test_questions_go_to_the_terminal_when_the_output_does_not(tmp_path: Path) -> None:
    """As in `duologue run ... | cat`: standard output is a pipe, the controlling terminal is there."""
    out = tmp_path / "out"
    command = ["/bin/sh", "-c", f'"$@" > {out}', "x", *DUOLOGUE, "run", "go", "--json", "--agent", scripted("write")]
    with InTerminal("go", cwd=tmp_path, command=command) as run:
        run.expect(PROMPT)
        assert "+one" in run.seen
        run.type("y\n")
        assert run.end() == 0
    lines = out.read_text().splitlines()
    assert lines and all(line.startswith('{"sessionUpdate"') for line in lines)


def test_a_request_from_a_closed_standard_input_is_a_wrong_command_line(tmp_path: Path) -> None:
    line = f"exec {' '.join(DUOLOGUE)} run - <&-"
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and b"standard input is closed" in done.stderr


def test_standard_streams_may_be_closed(tmp_path: Path) -> None:
    line = f"exec {' '.join(DUOLOGUE)} run go --agent '{scripted('say')}' <&- >&- 2>&-"
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, env=bare_environment(), timeout=PATIENCE, check=False)
    assert done.returncode == 0
