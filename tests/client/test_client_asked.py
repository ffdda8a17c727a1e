"""What a client does with what it is asked, and what it leaves alone: commands, pages, words that it does not know."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from client_kit import OPTIONS, Host, begun

from duologue.client import Client, Session
from duologue.client.policy import Policy
from duologue.client.terminals import LocalTerminals
from duologue.processes.process import Process
from duologue.protocol import v2
from wire import PATIENCE, settle, until

PERMISSION = "session/request_permission"


class Yes(Client):
    """Says yes to everything, and keeps what it was asked."""

    def __init__(self, *rules: str) -> None:
        self.policy = Policy(*rules)
        self.asked: list[v2.RequestPermissionRequest] = []

    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        self.asked.append(request)
        return v2.SelectedOutcome(option_id="yes")


async def outcome(host: Host, subject: Any, options: list[Any] = OPTIONS) -> str:
    """What a client of version 2 answers to a permission request."""
    reply = await host.replies(PERMISSION, options=options, title="May I?", subject=subject)
    return str(reply["result"]["outcome"].get("optionId", "cancelled"))


# --- subjects ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-permissions-04")
@pytest.mark.parametrize("rules", [(), ("allow run:make",), ("reject run:make",)])
async def test_null_and_absence_are_the_same_in_the_subject_of_a_command(rules: tuple[str, ...]) -> None:
    client = Yes(*rules)
    host = await Host.begin(2, client)
    command = {"type": "command", "command": "make", "cwd": "/tmp"}
    nulls = {"toolCallId": None, "terminalId": None}
    outcomes = [await outcome(host, {**command, **more}) for more in ({}, nulls)]
    assert outcomes in (["yes", "yes"], ["no", "no"])
    for asked in client.asked:
        assert isinstance(asked.subject, v2.CommandSubject)
        assert (asked.subject.tool_call_id or None, asked.subject.terminal_id or None) == (None, None)
    assert host.session.transcript.entries == []


@pytest.mark.req("v2-permissions-08")
@pytest.mark.parametrize("subject", [{"type": "_deploy", "to": "moon"}, {"type": "deploy"}])
async def test_a_subject_that_is_not_known_is_allowed_by_no_rule(subject: dict[str, Any]) -> None:
    assert await outcome(await Host.begin(2), subject) == "no"
    client = Yes("allow run:*", "allow edit:**", "allow use:*")
    assert await outcome(await Host.begin(2, client), subject) == "yes"
    assert [asked.title for asked in client.asked] == ["May I?"]
    client.policy = Policy(otherwise="reject")
    assert await outcome(await Host.begin(2, client), subject) == "no"


@pytest.mark.req("v2-permissions-10")
async def test_a_command_that_was_allowed_is_not_run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a client that runs commands for agents of version 1."""
    started: list[Any] = []
    monkeypatch.setattr(Process, "__init__", lambda self, *given: started.append(given))
    client = Yes()
    client.terminals = LocalTerminals()
    host = await Host.begin(2, client, cwd=tmp_path)
    subject = {"type": "command", "command": "touch /tmp/made", "cwd": str(tmp_path)}
    assert await outcome(host, subject) == "yes"
    await settle()
    assert host.wire.pending() == []
    assert not started


# --- words of a later version -----------------------------------------------------------------------------------------


@pytest.mark.req("v2-extensibility-02")
@pytest.mark.parametrize("word", ["future", "_vendor"])
async def test_a_word_that_is_not_known_means_nothing_with_an_underscore_and_without(word: str) -> None:
    host, run, request = await begun(2)
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": word, "status": word}
    host.send(host.update(call), host.state(word))
    await settle()
    held = host.session.transcript.tool_calls["c"]
    assert (held.kind.value, held.kind.known, held.status.value, held.status.known) == (word, False, word, False)
    assert not held.ended and not run.task.done()
    options = [{"optionId": "x", "name": "X", "kind": word}]
    assert await outcome(host, {"type": "tool_call", "toolCall": {"toolCallId": "c", "kind": word}}, options) == (
        "cancelled"
    )
    host.send({"id": "r", "method": f"session/{word}", "params": {}}, {"method": f"session/{word}", "params": {}})
    assert (await host.wire.read_answer("r"))["error"]["code"] == -32601
    host.end(request, word)
    assert await run.end() == word


def test_no_rule_names_a_kind_that_is_not_known() -> None:
    for word in ("future", "_vendor"):
        with pytest.raises(ValueError, match="kind"):
            Policy(f"allow kind:{word}")


async def test_field_bug_61_a_question_about_an_unknown_call_begins_it_and_what_follows_is_merged(version: int) -> None:
    client = Yes()
    host = await Host.begin(version, client)
    call = {"toolCallId": "t9", "title": "Run", "kind": "execute"}
    about: dict[str, Any] = {"toolCall": call}
    if version == 2:
        about = {"title": "May I?", "subject": {"type": "tool_call", "toolCall": call}}
    assert (await host.replies(PERMISSION, options=OPTIONS, **about))["result"]["outcome"]["optionId"] == "yes"
    kind = "tool_call" if version == 1 else "tool_call_update"
    host.send(host.update({"sessionUpdate": kind, "toolCallId": "t9", "title": "Run it", "status": "in_progress"}))
    await settle()
    (held,) = host.session.transcript.entries
    assert held is host.session.transcript.tool_calls["t9"]
    assert (held.title, held.kind, held.status) == ("Run it", "execute", "in_progress")


# --- pages ------------------------------------------------------------------------------------------------------------


class Held(Client):
    """Shows a page and waits for the user."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []
        self.agreed = asyncio.Event()

    async def open_url(self, session: Session | None, request: v2.UrlElicitation) -> v2.CreateElicitationResponse:
        self.shown.append((request.message, request.url))
        await self.agreed.wait()
        return v2.AcceptElicitation()


@pytest.mark.req("all-elicitation-32")
async def test_nothing_is_fetched_from_a_page_before_the_user_agrees_nor_after(version: int) -> None:
    """It is for the user's browser, and never for the client."""
    visits: list[Any] = []
    server = await asyncio.start_server(lambda *visitor: visits.append(visitor), "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/login?code=1"
        client = Held()
        host = await Host.begin(version, client)
        asking = asyncio.create_task(
            host.replies("elicitation/create", mode="url", message="Go \u2028 there", elicitationId="e", url=url)
        )
        await until(lambda: client.shown)
        await settle()
        assert client.shown == [("Go \u2028 there", url)]
        assert not visits and not asking.done()
        client.agreed.set()
        assert (await asyncio.wait_for(asking, PATIENCE))["result"] == {"action": "accept"}
        # A visitor of our own is the first one: whoever came before it would stand before it.
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        await until(lambda: visits)
        assert visits[0][1].get_extra_info("peername") == writer.get_extra_info("sockname")
        writer.close()
        visits[0][1].close()


@pytest.mark.req("all-elicitation-36")
async def test_a_user_can_give_up_a_page_whose_end_is_never_told(version: int) -> None:
    client = Held()
    client.agreed.set()
    host, run, request = await begun(version, client)
    page = {"mode": "url", "message": "Go", "elicitationId": "e", "url": "https://example.org"}
    for _ in range(2):
        assert (await host.replies("elicitation/create", **page))["result"] == {"action": "accept"}
    assert len(client.shown) == 2
    await run.turn.cancel()
    assert (await host.wire.read_method("session/cancel"))["params"] == {"sessionId": "S"}
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"
