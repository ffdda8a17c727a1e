"""Tool calls, diffs, terminals and plans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk
from duologue.check.shapes.looks import is_absolute
from duologue.check.watching.lines import Seen
from duologue.protocol.method import Side
from duologue.protocol.v2.tools import ENDED


def _call(said: Said) -> tuple[object, str]:
    """What tells apart the call of an update: its id is one within a session."""
    return said.session, str(said.update.get("toolCallId"))


@watch("all-tools-02", Side.AGENT)
def ids_of_calls(talk: Talk) -> Seen:
    """A call that begins anew under the id of one that is over; a session that is told again begins anew."""
    over: set[tuple[object, object]] = set()
    for said in talk.said:
        if said.ours and said.method in {"session/load", "session/resume"}:
            over = {each for each in over if each[0] != said.session}
        if said.kind in {"tool_call", "tool_call_update"} and not said.ours:
            key = _call(said)
            begins = said.kind == "tool_call" or said.update.get("status") == "pending"
            yield said, "the toolCallId is that of a call that is over" if begins and key in over else ""
            if said.update.get("status") in ENDED:
                over.add(key)


@watch("all-tools-03", Side.AGENT)
def begins(talk: Talk) -> Seen:
    """A call that is completed was in progress before."""
    begun: set[tuple[object, object]] = set()
    for said in talk.updates("tool_call", "tool_call_update"):
        key = _call(said)
        if said.update.get("status") == "in_progress":
            begun.add(key)
        elif said.update.get("status") == "completed":
            yield said, "" if key in begun else "the call is completed and was never in progress"


@watch("all-tools-04", Side.AGENT)
def ends(talk: Talk) -> Seen:
    """At the end of a turn all calls of it are over."""
    open_: dict[tuple[object, object], Said] = {}
    for said in talk.said:
        if said.kind in {"tool_call", "tool_call_update"}:
            key = _call(said)
            status = said.update.get("status")
            if status in ENDED:
                open_.pop(key, None)
                yield said, ""
            elif said.kind == "tool_call" or status is not None:
                open_[key] = said
        for session in _over(talk, said):
            for call in [call for call in open_ if call[0] == session]:
                yield open_.pop(call), "the turn is over and the call is not"


def _over(talk: Talk, said: Said) -> Iterator[object]:
    """The session whose turn a message ends in good order, if it does."""
    request = talk.request_of(said) if said.answers else None
    end = said.result if request is not None and request.method == "session/prompt" else said.update
    if end.get("stopReason") not in {None, "cancelled"} and said.json.get("error") is None:
        yield request.session if request is not None else said.session


@watch("v2-tools-02", Side.AGENT)
def titles(talk: Talk) -> Seen:
    known: set[tuple[object, object]] = set()
    for said in talk.updates("tool_call_update", "tool_call_content_chunk"):
        key = _call(said)
        if key not in known:
            known.add(key)
            yield said, "" if said.update.get("title") is not None else "the first word of a call has no title"


@watch("all-permissions-01", Side.AGENT)
def options_differ(talk: Talk) -> Seen:
    for said in talk.theirs:
        if said.method == "session/request_permission":
            options = said.params.get("options")
            ids = [o.get("optionId") for o in options if isinstance(o, dict)] if isinstance(options, list) else []
            yield said, "two options have one optionId" if len(set(map(str, ids))) < len(ids) else ""


# --- diffs of version 2 -----------------------------------------------------------------------------------------------


def _diffs(talk: Talk) -> Iterator[tuple[Said, Json]]:
    for said in talk.updates("tool_call_update", "tool_call_content_chunk"):
        content = said.update.get("content")
        for item in content if isinstance(content, list) else [content]:
            if isinstance(item, dict) and item.get("type") == "diff":
                yield said, item


def _patches(talk: Talk) -> Iterator[tuple[Said, Json, str]]:
    for said, diff in _diffs(talk):
        patch = diff.get("patch")
        if isinstance(patch, dict) and patch.get("format") == "git_patch" and isinstance(patch.get("text"), str):
            yield said, diff, patch["text"]


_SECTION = re.compile(r'^diff --git "?(?:a)?(/.*?)"? "?(?:b)?(/.*?)"?$', re.MULTILINE)


@watch("v2-tools-12", Side.AGENT)
def patches_agree(talk: Talk) -> Seen:
    for said, diff, text in _patches(talk):
        changes = diff.get("changes")
        told = {change.get("path") for change in changes if isinstance(change, dict)} if changes else set()
        shown = {_unquoted(new) for _, new in _SECTION.findall(text)}
        if shown and told:
            yield said, "" if shown == told else "the patch is about other files than the changes"


@watch("v2-tools-13", Side.AGENT)
def patches_of_git(talk: Talk) -> Seen:
    for said, _, text in _patches(talk):
        sections = [line for line in text.splitlines() if line.startswith("diff --git ")]
        paths = [path for pair in _SECTION.findall(text) for path in pair]
        sound = len(paths) == 2 * len(sections) > 0 and all(map(is_absolute, paths))
        yield said, "" if sound else "the patch is not made of diff --git sections with absolute paths"


@watch("v2-tools-14", Side.AGENT)
def patches_alone(talk: Talk) -> Seen:
    for said, _, text in _patches(talk):
        head = text[: max(0, text.find("diff --git "))]
        mail = re.search(r"^(From |commit |Subject: |Author: |Date: )", head, re.MULTILINE)
        yield said, "the patch has the header of a commit or a mail" if mail else ""


@watch("v2-tools-15", Side.AGENT)
def has_a_patch(talk: Talk) -> Seen:
    for said, diff in _diffs(talk):
        yield said, "" if diff.get("patch") is not None else "the diff has no patch"


def _unquoted(path: str) -> str:
    """A path as git writes it, without the escapes of names that are not plain."""
    return path.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in path else path


# --- terminals --------------------------------------------------------------------------------------------------------


@watch("v1-terminal-13", Side.AGENT)
def terminals_released(talk: Talk) -> Seen:
    open_: dict[object, Said] = {}
    for said in talk.said:
        request = talk.request_of(said) if said.answers and said.ours else None
        if request is not None and request.method == "terminal/create" and "result" in said.json:
            open_[said.result.get("terminalId")] = request
        elif said.method == "terminal/release" and open_.pop(said.params.get("terminalId"), None) is not None:
            yield said, ""
    over = bool(list(talk.answered("session/prompt", ours=True)))
    for request in open_.values() if over else ():
        yield request, "the terminal is never released"


@watch("v1-terminal-15", Side.AGENT)
def terminals_shown_in_time(talk: Talk) -> Seen:
    released: set[object] = set()
    for said in talk.theirs:
        if said.method == "terminal/release":
            released.add(said.params.get("terminalId"))
        for item in _items(said):
            if item.get("type") == "terminal":
                gone = item.get("terminalId") in released
                yield said, "the terminal is shown after its release" if gone and not _shown(talk, said, item) else ""


def _items(said: Said) -> list[Json]:
    content = said.update.get("content")
    return [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []


def _shown(talk: Talk, now: Said, item: Json) -> bool:
    """Whether a terminal was shown before a message."""
    earlier = (said for said in talk.updates("tool_call", "tool_call_update") if said.line.number < now.line.number)
    return any(each.get("terminalId") == item.get("terminalId") for said in earlier for each in _items(said))


@watch("v2-terminal-07", Side.AGENT)
def terminals_say_their_command(talk: Talk) -> Seen:
    known: set[tuple[object, Any]] = set()
    for said in talk.updates("terminal_update"):
        key = (said.session, str(said.update.get("terminalId")))
        if key not in known:
            known.add(key)
            yield said, "" if said.update.get("command") else "the first word of a terminal has no command"


@watch("v2-jsonrpc-11", Side.AGENT)
def terminals_outside_of_batches(talk: Talk) -> Seen:
    for line in talk.lines:
        if not line.ours and isinstance(line.json, list):
            ids = [
                said.update.get("terminalId")
                for said in (Said(line, message) for message in line.messages)
                if str(said.kind).startswith("terminal_")
            ]
            yield Said(line, {}), "a batch has two updates of one terminal" if len(set(ids)) < len(ids) else ""


# --- plans ------------------------------------------------------------------------------------------------------------


@watch("v1u-plan-01", Side.AGENT)
def plans_where_offered(talk: Talk) -> Seen:
    offered = isinstance(talk.capabilities(Side.CLIENT).get("plan"), dict)
    for said in talk.updates("plan", "plan_update", "plan_removed"):
        wrong = said.kind != "plan" and not offered
        yield said, f"{said.kind} goes to a client without the capability plan" if wrong else ""
