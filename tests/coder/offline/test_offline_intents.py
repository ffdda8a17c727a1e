"""What requests mean, in many phrasings."""

from __future__ import annotations

import time

import pytest

from duologue.coder.models.offline.intents import understand
from duologue.coder.models.offline.intents.phrase import one_slip
from duologue.coder.models.offline.intents.steps import (
    Assign,
    Create,
    Declined,
    Delete,
    Describe,
    Explain,
    Find,
    FindFiles,
    Hello,
    Insert,
    Lint,
    ListFiles,
    MoveFile,
    Rename,
    Repair,
    Replace,
    Run,
    Show,
    Step,
    Test,
    Undo,
    Unknown,
)

SINGLE: dict[Step, tuple[str, ...]] = {
    Find("total"): (
        'find "total"',
        "Find total",
        "search for `total`",
        "Could you please search for total?",
        "look for total in the project",
        "grep total",
        "Hey, can you find all occurrences of total",
        "show me all uses of total",
        "where is total used?",
        "who calls total?",
        "which files mention total?",
        "please locate the word total",
        "serch for total",
        "fnd total",
    ),
    Find("TODO"): ("TODOs?", "any TODOs?", "find TODO comments", "list all todos", "are there any TODOs left?"),
    Find("failing"): ("find the word failing", 'find "failing"', "search for failing"),
    Find("total", "src/"): ("find all usages of total in src/",),
    Find("total", "src"): (
        "find total in src",
        "search for total inside the folder src",
    ),
    Find("load_config", definition=True): (
        "where is load_config defined?",
        "where is load_config?",
        "Where's the load_config function?",
        "find the definition of load_config",
        "Where is the function load_config implemented",
    ),
    Find(r"def \w+", regex=True): (r"search for the regex `def \w+`", r"find lines matching the pattern `def \w+`"),
    FindFiles("*.py"): (
        "find python files",
        "list all *.py files",
        "which python scripts are there",
        "find files ending in .py",
    ),
    FindFiles("*.toml"): ("find files named *.toml", "which files are called *.toml?"),
    FindFiles("config.py"): ("where is config.py", "Where's the file config.py?", "find the file config.py"),
    ListFiles(): (
        "list files",
        "ls",
        "show me the files",
        "what files are there?",
        "list all the files in this project",
    ),
    ListFiles("src"): ("list files in src", "show the files in the src folder", "what files are in src"),
    Show("report.py"): (
        "show report.py",
        "open report.py",
        "cat report.py",
        "please show me the file report.py",
        "print `report.py`",
    ),
    Show("src/report.py"): ("look at src/report.py", "Take a look at the file src/report.py, please"),
    Show("report.py", 3, 9): (
        "show lines 3-9 of report.py",
        "read lines 3 to 9 in report.py",
        "print report.py lines 3-9",
    ),
    Show("report.py", 1, 20): ("show the first 20 lines of report.py",),
    Explain("src/app/report.py"): (
        "explain src/app/report.py",
        "outline src/app/report.py",
        "Could you explain what src/app/report.py does?",
        "what does src/app/report.py do",
        "give me an overview of src/app/report.py",
        "describe the file src/app/report.py, please",
        "what is in src/app/report.py?",
        "what functions are in src/app/report.py",
        "which functions are there in src/app/report.py?",
        "which classes does src/app/report.py contain?",
        "how does src/app/report.py work?",
    ),
    Explain("read_line"): (
        "show me the function read_line()",
        "explain read_line",
        "what does the function read_line do?",
        "explain `read_line`",
    ),
    Describe(): (
        "what does this project do?",
        "What is this repo about?",
        "describe the project",
        "summarize this codebase",
        "explain this code",
        "give me an overview of the project",
        "what is this?",
        "tell me about this project",
        "how is this project organised?",
    ),
    Rename("foo", "bar"): (
        "rename foo to bar",
        "Rename `foo` to `bar` everywhere",
        "rename the function foo to bar",
        "please rename the variable foo into bar across the whole project",
        "change the name of foo to bar",
        "rname foo to bar",
        "rename foo() to bar()",
        "rename foo -> bar",
    ),
    Rename("old_name", "new_name"): ("change old_name to new_name", "change `old_name` into `new_name` everywhere"),
    Assign("LIMIT", "7"): (
        "set LIMIT to 7",
        "change LIMIT to 7",
        "please change `LIMIT` to 7",
        "set the value of LIMIT to 7",
        "increase LIMIT to 7",
        "LIMIT = 7",
        "set `LIMIT` to 7",
        "change LIMIT from 5 to 7",
        "change the value of `LIMIT` from 5 to 7",
        "LIMIT should be 7",
        "make LIMIT 7",
    ),
    Assign("LIMIT", "-2.5", "app/limits.py"): (
        "set LIMIT to -2.5 in app/limits.py",
        "in app/limits.py, change LIMIT to -2.5",
    ),
    Assign("NAME", '"a b"'): ('set NAME to "a b"', 'change NAME to "a b"'),
    Assign("DEBUG", "True"): ("set DEBUG to true", "change DEBUG to True"),
    Rename("Invoice", "Bill", "src/invoice.py"): ("rename class Invoice to Bill in src/invoice.py",),
    Replace("foo bar", "baz"): (
        'replace "foo bar" with "baz"',
        'Replace "foo bar" by "baz" everywhere',
        'substitute "foo bar" with "baz"',
    ),
    Replace("8080", "9090", "config.toml"): (
        "change 8080 to 9090 in config.toml",
        "replace 8080 with 9090 in config.toml",
        "in config.toml, replace 8080 by 9090",
        "please replace all occurrences of 8080 with 9090 in the file config.toml",
    ),
    Replace("debug = true", "", "config.toml"): (
        'remove "debug = true" from config.toml',
        "delete the line `debug = true` in config.toml",
    ),
    MoveFile("a.py", "pkg/a.py"): (
        "move a.py to pkg/a.py",
        "rename a.py to pkg/a.py",
        "rename the file a.py to pkg/a.py",
    ),
    Replace("foo", ""): (
        'replace "foo" with ""',
        "replace foo with nothing",
        "change 'foo' to ''",
        "replace `foo` with ``",
        "replace ‘foo’ with ‘’",
    ),
    MoveFile("README.md", "LICENSE"): ("rename README.md to LICENSE",),
    Replace('return "a"', "hello world"): ('replace return "a" with hello world',),
    Create("notes.txt", "hello world"): (
        'create a file notes.txt with the content "hello world"',
        'create notes.txt containing "hello world"',
        "make a new file called notes.txt that says `hello world`",
        'write "hello world" to notes.txt',
        "create notes.txt with the text: hello world",
        "Create notes.txt:\n```\nhello world\n```",
        'put "hello world" into a new file notes.txt',
    ),
    Create("empty.py"): ("create an empty file empty.py", "touch empty.py", "create empty.py"),
    Insert("notes.txt", "the end"): (
        'append "the end" to notes.txt',
        'add "the end" to the end of notes.txt',
        "add the line `the end` at the bottom of notes.txt",
        'append to notes.txt "the end"',
    ),
    Insert("app.py", "import os", "start"): ("add `import os` at the top of app.py", "prepend `import os` to app.py"),
    Insert("a.txt", "b", "after", 3): ('insert "b" after line 3 in a.txt', "in a.txt, insert `b` after line 3"),
    Insert("app.py", "x = 1", "before", "def main"): ('add "x = 1" before "def main" in app.py',),
    Delete("notes.txt"): (
        "delete notes.txt",
        "remove the file notes.txt",
        "rm notes.txt",
        "please get rid of notes.txt",
    ),
    Run("ls -la"): (
        "run `ls -la`",
        "run ls -la",
        "execute the command `ls -la`",
        "please run the shell command ls -la",
        "run `ls -la` and show me what it prints",
        "run ls -la and tell me the result",
        "$ ls -la",
        "! ls -la",
    ),
    Run("git status"): ("git status", "show me the git status", "run git status", "please run `git status`"),
    Run("git add ."): ("git add .", "run git add ."),
    Run("python3 -m pip list"): ("python3 -m pip list",),
    Run("make build"): ('execute "make build"', "run make build", "run: make build"),
    Test(): (
        "run the tests",
        "run tests",
        "run all the tests and report what failed",
        "please run the test suite",
        "run pytest",
        "pytest",
        "do the tests pass?",
        "which tests fail?",
        "what fails?",
        "are the tests passing",
        "test it",
        "check if the tests pass",
        "run the tetss",
        "execute the unit tests and tell me which ones fail",
        "find the failing test",
        "Find the failing tests, please",
        "locate the failing test",
        "look for failing tests",
        "show the failing tests",
        "which are the failing tests?",
        "find the test that fails",
        "find out which tests fail",
        "find out what is broken",
        "why do the tests fail?",
        "the tests fail",
        "there is a failing test",
        "find the bug",
        "what's failing?",
        "all tests pass?",
        "which test is failing and why?",
        "figure out what is broken",
    ),
    Test("tests/test_x.py"): ("run the tests in tests/test_x.py", "run tests/test_x.py", "pytest tests/test_x.py"),
    Test("test_total"): (
        "run test_total",
        "run only test_total",
        "find out why test_total fails",
        "the test test_total is failing",
        "why does test_total fail?",
        "run the test test_total",
    ),
    Repair(): (
        "fix the failing test",
        "Fix the failing tests, please",
        "repair the tests",
        "fix the bug",
        "make the tests pass",
        "get the tests green",
        "can you fix the broken test for me?",
        "reapir the failing tset",
        "fix the bug that the tests find",
        "fix what fails",
        "fix",
        "get the tests passing",
        "repair whatever is broken",
        "debug this",
    ),
    Repair("tests/test_x.py"): (
        "fix the failing test in tests/test_x.py",
        "repair tests/test_x.py",
        "make tests/test_x.py pass",
    ),
    Repair("test_totals"): (
        "repair test_totals",
        "fix test_totals in tests/test_app.py",
        "fix the test test_totals",
        "make test_totals pass",
    ),
    Lint(): (
        "lint",
        "lint the project",
        "lint this",
        "lint everything",
        "run the linter",
        "run ruff",
        "check the code style",
        "find unused imports",
    ),
    Lint(repair=True): (
        "fix lint errors",
        "remove unused imports",
        "fix the ruff warnings",
        "clean up the lint problems",
        "lint and fix",
        "lint the project and fix what it finds",
        "run ruff, then fix the problems",
    ),
    Undo(): ("undo", "undo that", "please undo your last changes", "revert it", "roll back the edits"),
    Hello("hello"): ("hi", "Hello!", "hey there", "good morning"),
    Hello("thanks"): ("thanks", "thank you very much!", "great, thanks"),
    Hello("who"): ("who are you?", "what are you", "are you a language model?", "what model is this?"),
    Hello("help"): ("help", "what can you do?", "What can I ask you?", "show me your commands"),
}


@pytest.mark.parametrize(("text", "step"), [(text, step) for step, texts in SINGLE.items() for text in texts])
def test_means_one_step(text: str, step: Step) -> None:
    assert understand(text) == (step,)


COMPOUND: dict[str, tuple[Step, ...]] = {
    "find parse_line then rename it to read_line and run the tests": (
        Find("parse_line"),
        Rename("parse_line", "read_line"),
        Test(),
    ),
    "1. find foo\n2. rename it to bar\n3. run the tests": (Find("foo"), Rename("foo", "bar"), Test()),
    "Fix the failing test and then show me invoice.py": (Repair(), Show("invoice.py")),
    'create a.txt with the content "x, then run y", then delete it': (
        Create("a.txt", "x, then run y"),
        Delete("a.txt"),
    ),
    "Run the tests. If needed, fix the failing test.": (Test(), Repair()),
    "run the tests and tell me what failed": (Test(),),
    "Find the failing test and fix it": (Test(), Repair()),
    "find the failing test, fix it and show invoice.py": (Test(), Repair(), Show("invoice.py")),
    "the tests fail, find out why and repair it": (Test(), Repair()),
    "one test is failing, please fix it": (Test(), Repair()),
    "there is a failing test, fix it": (Test(), Repair()),
    "run the unit tests and fix what fails": (Test(), Repair()),
    "run the tests, fix what fails, then run them again": (Test(), Repair(), Test()),
    "run the tests and if they fail fix them": (Test(), Repair()),
    "run the tests, and if they fail, fix them": (Test(), Repair()),
    "if possible, rename foo to bar": (Rename("foo", "bar"),),
    "test_total fails, fix it": (Test("test_total"), Repair()),
    "rename foo to bar, then undo the rename": (Rename("foo", "bar"), Undo()),
    "find LIMIT and change it to 7": (Find("LIMIT"), Assign("LIMIT", "7")),
    "run all unit tests and fix the failing ones": (Test(), Repair()),
    "git status and git diff": (Run("git status"), Run("git diff")),
    'append "x" to a.txt, then undo': (Insert("a.txt", "x"), Undo()),
    "rename foo to bar, run the tests, and show report.py": (Rename("foo", "bar"), Test(), Show("report.py")),
    "find foo; find bar": (Find("foo"), Find("bar")),
}


@pytest.mark.parametrize(("text", "steps"), COMPOUND.items())
def test_means_several_steps(text: str, steps: tuple[Step, ...]) -> None:
    assert understand(text) == steps


@pytest.mark.parametrize(
    "text",
    [
        "write a poem about the sea",
        "refactor everything into microservices",
        "/frobnicate x",
        "what is the meaning of life and everything",
        "",
        "???",
        "implement a REST API with authentication",
        "make it faster",
        "python is slow",
        "run it again",
    ],
)
def test_says_when_no_rule_fits(text: str) -> None:
    assert understand(text) == (Unknown(text),)


@pytest.mark.parametrize(
    "text",
    [
        "rename LIMIT to 7",
        "change LIMIT to use Decimal",
        "change the default limit to 7",
        "set LIMIT to something better",
        "add a docstring to report.row",
        "add a test to tests/test_app.py",
        "append a line about money to README.md",
        "insert a comment before line 3 in app.py",
        "prepend a licence to app.py",
        "create a python file invoicer/currency.py with a function to convert euros to dollars",
        "create app.py containing a class for users",
        "write a function to app.py",
        "rename it to bar",
        "set it to 7",
        "create copy.txt with the content of notes.txt",
        "append the text about prices to notes.txt",
        "put a greeting into new file hello.py",
        "find foo, then frobnicate it",
        "run the tests and then deploy to production",
        "run the tests, if they pass, delete notes.txt",
        "if the tests fail, delete notes.txt",
        "delete the function row from report.py",
        "run `pytest` in the folder tests",
        "rename the method Invoice.total_due to due",
        "run `rm x` only if it exists",
        'create a.txt with the content "x" and b.txt with the content "y"',
        'replace "foo" with "bar" in a.py and b.py',
        'replace "foo" with "bar" in all python files',
        'replace "foo" with "bar", but not in tests',
        'replace "foo" and "baz" with "bar"',
        'replace the first "foo" with "bar"',
        'change "foo" to "bar" on line 3 of a.py',
        "replace foo with bar on line 3 of a.py",
        "replace foo with bar only in a.py",
    ],
)
def test_declines_what_is_only_described(text: str) -> None:
    (step,) = understand(text)
    assert isinstance(step, Declined)
    assert "“" in step.why, "it says what was not understood, or what to say instead"


def test_folders_are_made_in_the_project_alone_whatever_their_names() -> None:
    assert understand("create folder docs/new") == (Run("mkdir -p docs/new"),)
    assert understand("make a folder called 'my docs'") == (Run("mkdir -p 'my docs'"),)
    assert understand('create folder "-p"') == (Run("mkdir -p ./-p"),)
    for path in ("../x", "a/../../x", "/tmp/x", "~/x"):
        (step,) = understand(f"create folder {path}")
        assert isinstance(step, Declined), path


def test_again_means_the_run_before() -> None:
    assert understand("run them again", ["run the tests in tests/test_a.py"]) == (Test("tests/test_a.py"),)
    assert understand("run it again", ["fix the failing test"]) == (Test(),)
    assert understand("again", ["git status"]) == (Run("git status"),)
    assert understand("run it", ["create a.py"]) == (Run("python3 a.py"),)


def test_plain_text_is_taken_when_it_is_announced() -> None:
    assert understand("append the line hello world to a.txt") == (Insert("a.txt", "hello world"),)
    assert understand("add import os at the top of app.py") == (Insert("app.py", "import os", "start"),)
    assert understand("create a.txt with the text hello world") == (Create("a.txt", "hello world"),)
    assert understand("create a.txt that says hello world") == (Create("a.txt", "hello world"),)


def test_it_means_what_an_earlier_request_was_about() -> None:
    assert understand("rename it to bar", ["find foo", "thanks"]) == (Rename("foo", "bar"),)
    assert understand("delete it", ["create a.txt"]) == (Delete("a.txt"),)


def test_words_inside_of_content_are_not_requests() -> None:
    text = "create notes.md with the content: first find the bug and then run the tests"
    assert understand(text) == (Create("notes.md", "first find the bug and then run the tests"),)


def test_quotes_are_kept_where_they_belong_to_the_text() -> None:
    assert understand('create hello.py that says print("hi")') == (Create("hello.py", 'print("hi")'),)
    assert understand("run `git log --format='%h'`") == (Run("git log --format='%h'"),)


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [("serch", "search", True), ("tets", "test", True), ("finnd", "find", True), ("fimd", "find", True),
     ("find", "find", False),
     ("list", "lint", True), ("xyz", "find", False), ("run", "ran", False)],
)  # fmt: skip
def test_one_slip_of_the_pen(a: str, b: str, near: bool) -> None:
    assert one_slip(a, b) is near


def test_a_long_text_is_read_quickly() -> None:
    began = time.process_time()
    understand("find the thing and then " * 400)
    understand("a " * 20_000)
    understand("replace " + "x " * 5_000 + "with y")
    assert time.process_time() - began < 20
