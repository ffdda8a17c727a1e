"""Permission rules: what "always" covers and what it never covers, what is kept, and that doubt is a no."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from permission_kit import PROJECT, QUESTION, gate_with, run, write

from duologue.coder.permissions import Gate, PermissionStore
from duologue.local.rules import Rule, Subject, Use, Write, always, parse_rule
from duologue.local.shell import simple_words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q tests", ("pytest", "-q", "tests")),
        ("  git  commit -m 'a b' ", ("git", "commit", "-m", "a b")),
        ('echo "x y"z', ("echo", "x yz")),
        ("echo ''", ("echo", "")),
        ("touch é", ("touch", "é")),
    ],
)
def test_simple_commands_are_read_as_words(line: str, words: tuple[str, ...]) -> None:
    assert simple_words(line) == words


NOT_SIMPLE = [
    *("a; b", "a & b", "a && b", "a || b", "a | b", "a > f", "a < f", "a 2>&1", "(a)", "{ a; }", "a\nb", "a\rb"),
    *("echo $HOME", "echo ${x}", "echo $(b)", "echo `b`", 'echo "$x"', 'echo "`b`"', "echo \\x", 'echo "a\\"b"'),
    *("ls *", "ls ?", "ls [a]", "ls {a,b}", "ls ~", "a # b", "! a", "X=1 a", "'X=1' a", "if a", "time a", "a\0b"),
    *(
        "echo 'open",
        'echo "open',
        "",
        "   ",
        "a\tb",
        "a\u00a0b",
        "a\u2028b",
        "a 'b\nc'",
        "'' a",
        "a 'it'\\''s'",
        "a !!",
    ),
]


@pytest.mark.parametrize("line", NOT_SIMPLE)
def test_anything_a_shell_would_expand_or_combine_is_not_simple(line: str) -> None:
    assert simple_words(line) is None


@pytest.mark.parametrize("line", NOT_SIMPLE)
def test_no_rule_allows_a_line_that_is_not_simple(line: str) -> None:
    for rule in ("run:*", f"run:{line.split(' ')[0].strip() or 'a'} *", "run:echo *", "run:ls *", "run:a *"):
        try:
            parsed = parse_rule(rule)
        except ValueError:
            continue
        assert not parsed.covers(run(line), PROJECT)
    assert not Rule("allow", "run", line).covers(run(line), PROJECT)
    assert always(run(line), PROJECT) is None


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("run:make test", "make test", True),
        ("run:make test", "make  'test'", True),
        ("run:make test", "make test -B", False),
        ("run:make test", "make", False),
        ("run:git diff *", "git diff --stat HEAD", True),
        ("run:git diff*", "git diff", True),
        ("run:git diff*", "git difftool", False),
        ("run:git diff *", "git -c a=b diff", False),
        ("run:pytest*", "pytest -q", True),
        ("run:pytest*", "pytest-evil", False),
        ("run:pytest*", "./pytest", False),
        ("run:pytest ...", "pytest -q tests/a.py", True),
        ("run:pytest ...", "pytest --basetemp=.", False),
        ("run:pytest ...", "pytest /etc/evil.py", False),
        ("run:pytest ...", "pytest ../other", False),
        ("run:pytest ...", "pytest @args", False),
        ("run:pytest ...", "pytest -p evil", False),
        ("run:ruff check ...", "ruff check src", True),
        ("run:ruff check ...", "ruff check --config=evil", False),
        ("run:ruff check ...", "ruff check --fix", False),
        ("run:ruff format --check ...", "ruff format --check src", True),
        ("run:git push *", "/usr/bin/git push", False),
        ("reject run:git push *", "/usr/bin/git push", True),
        ("reject run:/usr/bin/git push *", "git push", True),
        ("reject run:git push *", "GIT push", True),
        ("run:git push *", "GIT push", False),
        ("reject run:git push *", "git pull", False),
        ("run:*", "rm -rf x", True),
        ("edit:**", "make", False),
    ],
)
def test_command_rules_cover_whole_words(rule: str, command: str, covered: bool) -> None:
    assert parse_rule(rule).covers(run(command), PROJECT) is covered


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("edit:src/**", "src/a.py", True),
        ("edit:src/**", "src/deep/er/a.py", True),
        ("edit:src/**", "src-old/a.py", False),
        ("edit:src/**", "a.py", False),
        ("edit:*.md", "README.md", True),
        ("edit:*.md", "docs/a.md", False),
        ("edit:**/*.md", "docs/a.md", True),
        ("edit:**", ".envrc", False),
        ("edit:**", ".github/workflows/x.yml", False),
        ("edit:.github/**", ".github/workflows/x.yml", True),
        ("edit:**", "src/.git/hooks/pre-commit", False),
        ("edit:.git/**", ".git/hooks/pre-commit", False),
        ("edit:.GIT/**", ".GIT/hooks/pre-commit", False),
        ("edit:**", "src/.Git/config", False),
        ("edit:/home/me/other/**", "../other/a.py", True),
        ("edit:/home/me/other/**", "a.py", False),
        ("edit:**", "../other/a.py", False),
        ("delete:**", "a.py", False),
        ("edit:{a,b}.py", "b.py", True),
        ("reject edit:secrets/*.PEM", "Secrets/a.pem", True),
        ("edit:src/**", "SRC/a.py", False),
        ("reject edit:[^a]*", "Abc", True),
        ("reject edit:caf\u00e9/*", "cafe\u0301/a", True),
    ],
)
def test_edit_rules_are_globs_that_pass_no_hidden_name(rule: str, path: str, covered: bool) -> None:
    real = Path("/home/me/other/a.py") if path.startswith("../") else PROJECT / path
    assert parse_rule(rule).covers(Write((real,)), PROJECT) is covered


def test_a_rule_must_cover_all_files_of_a_call_and_a_refusal_any(tmp_path: Path) -> None:
    assert not parse_rule("edit:src/**").covers(write("src/a", "b"), PROJECT)
    assert parse_rule("reject edit:src/**").covers(write("src/a", "b"), PROJECT)
    assert parse_rule("reject edit:**").covers(write(".git/config"), PROJECT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "edit",
        "edit:",
        "run:  ",
        "fly:x",
        "src/**",
        "run:a && b",
        "run:a > b",
        "run:ls *.py",
        "run:rm ...",
        "edit:../**",
        "edit:[z-a]",
        "run:echo $HOME",
        "allow edit:x",
        "run:X=1 *",
        "edit:" + "{a,b}" * 9,
    ],
)
def test_rules_that_mean_nothing_or_too_much_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_rule(text)


@pytest.mark.parametrize("text", ["edit:src/**", "reject run:rm *", "run:git diff *", "use:server__*", "delete:*.tmp"])
def test_rules_read_as_they_are_written(text: str) -> None:
    assert str(parse_rule(text)) == text


def test_deny_is_another_word_for_reject() -> None:
    assert parse_rule("deny run:rm *") == parse_rule("reject run:rm *")


def test_rules_for_other_tools_go_by_name() -> None:
    assert parse_rule("use:db__*").covers(Use("db__query"), PROJECT)
    assert not parse_rule("use:db__*").covers(Use("dbx"), PROJECT)
    assert not parse_rule("use:*").covers(run("make"), PROJECT)


@pytest.mark.parametrize(
    ("subject", "scope"),
    [
        (run("pytest -q tests"), "`pytest` with paths and harmless options, in this project"),
        (run("make deploy"), "exactly `make deploy`, in this project"),
        (run("make " + "a" * 200), "exactly this command, in this project"),
        (run("make", PROJECT / "sub"), "exactly `make`, in /home/me/project/sub"),
        (write("src/pkg/a.py"), "changes of files that match `src/pkg/**` in this project"),
        (write("setup.py"), "changes of files that match `*` in this project"),
        (
            Write((PROJECT / "b/c.py", PROJECT / "a/c.py"), "delete"),
            "deleting and moving files that match `a/**`, `b/**` in this project",
        ),
        (Use("db__query"), "the tool `db__query` in this project"),
    ],
)
def test_the_scope_says_what_always_covers(subject: Subject, scope: str) -> None:
    assert gate_with()[0].scope(subject) == scope


@pytest.mark.parametrize("subject", [run("a | b"), write(".git/config"), write(".envrc"), write("a", ".git/x")])
def test_what_cannot_be_allowed_for_good_has_no_scope(subject: Subject) -> None:
    assert gate_with()[0].scope(subject) == ""


@pytest.mark.req("all-permissions-08")
async def test_always_holds_for_its_scope_and_once_for_nothing() -> None:
    gate, person = gate_with("allow_once", "allow_always", "reject_once")
    assert await gate.decide(run("make a"), QUESTION) == "allowed"
    assert await gate.decide(run("make a"), QUESTION) == "allowed"
    assert await gate.decide(run("make a"), QUESTION) == "allowed"
    assert len(person.questions) == 2
    for other in (run("make b"), run("make a", PROJECT / "sub"), run("make a; rm x"), write("a")):
        assert await gate.decide(other, QUESTION) == "refused when asked"
    assert len(person.questions) == 6


@pytest.mark.req("all-permissions-08")
async def test_reject_always_holds_too_also_for_what_can_never_be_allowed() -> None:
    gate, person = gate_with("reject_always")
    for subject in (run("make a"), run("a && b"), write(".git/config"), write("src/a")):
        assert await gate.decide(subject, QUESTION) == "refused when asked"
        assert await gate.decide(subject, QUESTION) == "refused by a rule"
    assert len(person.questions) == 4


async def test_always_for_a_line_with_operators_holds_once() -> None:
    gate, person = gate_with("allow_always")
    for _ in range(2):
        assert await gate.decide(run("a && b"), QUESTION) == "allowed"
    assert len(person.questions) == 2
    assert gate.store.kept == ()


@pytest.mark.parametrize("answer", [None, "yes", "ALLOW_ONCE", "", 1, True, {"outcome": "selected"}, ["allow_once"]])
@pytest.mark.req("v2-permissions-07")
async def test_an_answer_that_is_not_understood_is_a_refusal(answer: object) -> None:
    gate, _ = gate_with(answer)
    assert await gate.decide(run("make"), QUESTION) == "refused when asked"


@pytest.mark.parametrize("error", [RuntimeError("secret"), TimeoutError(), ConnectionError()])
@pytest.mark.req("all-permissions-09")
async def test_a_question_that_fails_is_a_refusal(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    gate, _ = gate_with(error)
    assert await gate.decide(run("make"), QUESTION) == "refused when asked"
    assert type(error).__name__ in caplog.text
    assert "secret" not in caplog.text


async def test_a_refusal_is_stronger_than_a_permission() -> None:
    store = PermissionStore(rules=[parse_rule("run:*"), parse_rule("reject run:rm *")])
    gate, person = gate_with(store=store)
    assert await gate.decide(run("rm x"), QUESTION) == "refused by a rule"
    assert await gate.decide(run("ls"), QUESTION) == "allowed"
    assert person.questions == []


def test_a_rule_without_a_folder_allows_commands_in_the_project_alone() -> None:
    for folder, covered in ((PROJECT, True), (PROJECT / "sub", True), (Path("/etc"), False)):
        assert parse_rule("run:make").covers(run("make", folder), PROJECT) is covered
        assert parse_rule("reject run:make").covers(run("make", folder), PROJECT)


@pytest.mark.parametrize("line", ["env git push", "sh -c 'git push'", "git -C sub push", "sudo git push"])
async def test_what_a_refusal_may_be_about_is_asked_though_a_wide_rule_allows(line: str) -> None:
    rules = ["run:*", "reject run:git push *", f"run:{line}"]
    gate, person = gate_with("reject_once", store=PermissionStore(rules=[parse_rule(text) for text in rules[:2]]))
    assert await gate.decide(run(line), QUESTION) == "refused when asked"
    assert await gate.decide(run("git status"), QUESTION) == "allowed"
    assert len(person.questions) == 1
    gate, _ = gate_with(store=PermissionStore(rules=[parse_rule(text) for text in rules]))
    assert await gate.decide(run(line), QUESTION) == "allowed"


@pytest.mark.parametrize("subject", [run("ruff format src"), run("ruff check --fix src")])
def test_what_rewrites_files_is_not_harmless(subject: Subject) -> None:
    assert gate_with()[0].scope(subject).startswith("exactly")


@pytest.mark.parametrize("answer", ["allow_once", "allow_always"])
async def test_a_refusal_that_comes_while_the_question_is_open_holds(answer: str) -> None:
    store = PermissionStore()

    async def ask(question: object) -> Any:
        store.remember([parse_rule("reject run:make *")])
        return answer

    gate = Gate(store, ask, PROJECT)
    assert await gate.decide(run("make a"), QUESTION) == "refused by a rule"
    assert [rule.effect for rule in store.kept] == ["reject"]


# What a reader of command lines may take wrongly, among more of what it should take.
MEANT = [*"ab-=+%@^:,./ é", "''", '""', "'a b'", '"c d"', "'\"'", "a=b"]
TRICKY = [*"~!#$&*()[]{}|;<>?\\'\"\t\n\r`\u00a0", "$(x)"]
PIECES = st.sampled_from(MEANT * 4 + TRICKY)


@settings(max_examples=300)
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
def test_a_shell_reads_the_same_words(line: str) -> None:
    words = simple_words(line)
    if words is None:
        return
    for shell in {path for name in ("sh", "bash") if (path := shutil.which(name))}:
        script = f"set -- {line}\nprintf '%s\\0' \"$@\""
        said = subprocess.run([shell, "-c", script, "x"], capture_output=True, check=True).stdout
        assert tuple(said.decode().split("\0")[:-1]) == words
