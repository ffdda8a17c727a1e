"""Names of tools, what is told of servers, schemas, and requests for a tool in plain words."""

from __future__ import annotations

import re

import pytest
from coder_kit import Bench

from duologue.coder.limits import McpLimits
from duologue.coder.mcp.entries import Http, Lent, Stdio, Unusable, masked, told
from duologue.coder.mcp.results import outcome_of
from duologue.coder.mcp.tools import schema_of
from duologue.coder.models.offline.intents import understand
from duologue.coder.models.offline.intents.steps import CallTool, Declined, Step, Unknown
from duologue.coder.naming import is_of_server, may_be, server_part, server_parts, tool_name
from duologue.coder.tools import builtin_tools

FITS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
SERVERS = ("files", "My Files!", "7zip", "__x__", "a__b", "ä", "", "-", "x" * 200, "日本")
TOOLS = ("read", "read.file", "read_file", "a/b", "", "_", "__", "y" * 200, "y" * 201, "名", "\ud800")


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_name_fits_every_wire_format(server: str, tool: str) -> None:
    name = tool_name(server_part(server), tool)
    assert FITS.fullmatch(name) and is_of_server(name)


def test_no_two_tools_share_a_name() -> None:
    parts = server_parts([(name, str(number)) for number, name in enumerate((*SERVERS, *SERVERS, "my files!", "a_b"))])
    names = [tool_name(part, tool) for part in parts for tool in TOOLS]
    assert len(parts) == len(set(parts)) and len(names) == len(set(names))
    assert tool_name(server_part("a"), "_b__c") != tool_name(server_part("a__b"), "c")


def test_names_do_not_depend_on_the_order_of_servers() -> None:
    servers = [("files", "one"), ("files", "two"), ("other", "three")]
    assert dict(zip(servers, server_parts(servers), strict=True)) == dict(
        zip(servers[::-1], server_parts(servers[::-1]), strict=True)
    )


def test_a_plain_name_stays_as_it_is_and_none_of_ours_looks_like_it() -> None:
    assert tool_name(server_part("github"), "create_issue") == "github__create_issue"
    assert not any(is_of_server(tool.spec.name) for tool in builtin_tools())


def test_a_name_is_found_by_what_it_is_made_of() -> None:
    name = tool_name(server_part("My Files"), "read.file")
    assert may_be(name, "read.file", "My Files") and may_be(name, "read.file", None)
    assert not may_be(name, "read", None) and not may_be(name, "read.file", "Other")


# --- what is told ---------------------------------------------------------------------------------------------------

PROGRAM = Stdio("s", "/bin/x", ("--token", "abc", "--api-key=def", "plain"), (("A", "hunter2"), ("B", "1"), ("C", "")))


def test_a_command_is_told_without_its_secrets() -> None:
    assert told(PROGRAM) == "command: `/bin/x --token '***' '--api-key=***' plain`"


def test_values_are_taken_out_of_any_text() -> None:
    assert masked(PROGRAM, "no hunter2here, B is 1, line 12") == "no ***here, B is ***, line 12"
    web = Http("s", "https://me:pass-word@host/x?key=query-1", (("Authorization", "Bearer t0ken-abc"),))
    assert masked(web, "got t0ken-abc for pass-word and query-1") == "got *** for *** and ***"
    assert told(web) == "address: https://host/x"


def test_no_secret_is_in_a_repr() -> None:
    web = Http("s", "https://me:pass-word@host/x", (("Authorization", "Bearer t0ken-abc"),))
    assert not any(secret in repr((PROGRAM, web)) for secret in ("hunter2", "pass-word", "t0ken"))


def test_others_have_nothing_to_tell() -> None:
    async def connect() -> None: ...

    lent = Lent("s", "id", connect)  # type: ignore[arg-type]
    assert told(lent) == told(Unusable("s", "why")) == ""
    assert masked(lent, "as it is") == "as it is"


# --- schemas and results --------------------------------------------------------------------------------------------


def test_a_schema_is_passed_on_as_that_of_an_object() -> None:
    whole = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": {}}}
    assert schema_of(whole) == whole
    assert schema_of({}) == {"type": "object", "properties": {}}
    assert schema_of({"type": "string", "properties": None}) == {"type": "object", "properties": {}}


def test_structure_is_told_where_there_is_no_text() -> None:
    limits = McpLimits()
    assert outcome_of({"content": [], "structuredContent": {"a": 1}}, limits).text == '{"a": 1}'
    both = {"content": [{"type": "text", "text": "one"}], "structuredContent": {"a": 1}}
    assert outcome_of(both, limits).text == "one" and outcome_of(both, limits).data == {"a": 1}
    assert outcome_of({"content": []}, limits).text == "[no result]"
    assert not outcome_of({"content": [], "isError": True}, limits).ok


# --- requests in plain words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('Use the tool echo of server files with {"a": "b, and c"}', CallTool("echo", "files", {"a": "b, and c"})),
        ("call the MCP tool read.file on the my-files server", CallTool("read.file", "my-files", {})),
        ("please call files__read with {}", CallTool("files__read", None, {})),
        ('call echo {"text": "x"}.', CallTool("echo", None, {"text": "x"})),
        ("use `echo` tool with the arguments: {\n}", CallTool("echo", None, {})),
        ("run the tool check", CallTool("check", None, {})),
    ],
)  # fmt: skip
def test_a_request_for_a_tool_is_read(text: str, step: Step) -> None:
    assert understand(text) == (step,)


def test_arguments_that_are_no_json_are_declined() -> None:
    (step,) = understand("use the tool echo with {text: 1}")
    assert isinstance(step, Declined) and "one JSON object" in step.why


@pytest.mark.parametrize("text", ["use tabs", "run pytest", "use ruff", "call me later, alligator", "call ls"])
def test_other_requests_are_not_taken_for_one(text: str) -> None:
    assert not any(isinstance(step, CallTool) for step in understand(text))


def test_a_call_of_nothing_that_is_known_stays_unknown() -> None:
    assert isinstance(understand("use the force")[0], Unknown)


async def test_only_places_in_the_folders_are_shown(tmp_path: object) -> None:
    from pathlib import Path

    from duologue.coder.mcp.tools import _places

    root = Path(str(tmp_path))
    bench = Bench(root)
    shown = _places({"path": "a.txt", "file": "/etc/passwd", "filename": "\0", "file_path": 7}, bench.context)
    assert [place.path for place in shown] == [root / "a.txt"]
