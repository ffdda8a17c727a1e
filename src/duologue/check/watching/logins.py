"""Logins: by which method, and whether one is asked for at all."""

from __future__ import annotations

from duologue.check.judging import watch
from duologue.check.record import Talk
from duologue.check.watching.lines import Seen
from duologue.check.watching.sessions import OPENING
from duologue.protocol.method import Side


def _listed(talk: Talk) -> list[dict[str, object]]:
    for _, answer in talk.answered("initialize", ours=False):
        return [each for each in answer.result.get("authMethods") or [] if isinstance(each, dict)]
    return []


@watch("v1-auth-03", Side.CLIENT)
def listed_logins(talk: Talk) -> Seen:
    listed = {method.get("id") for method in _listed(talk)}
    for said in talk.theirs:
        if said.method == "authenticate":
            yield said, "" if said.params.get("methodId") in listed else "the methodId was not listed"


@watch("v2-auth-03", Side.CLIENT)
def no_login_without_methods(talk: Talk) -> Seen:
    listed = _listed(talk)
    if talk.version is not None and not listed and any(said.method in OPENING for said in talk.theirs):
        yield None, ""
    for said in talk.theirs:
        if said.method in {"auth/login", "auth/logout"}:
            yield said, "" if listed else f"{said.method} is called although no way to log in is listed"


@watch("v1u-auth-03", Side.CLIENT)
@watch("v2u-auth-03", Side.CLIENT)
def no_terminal_login(talk: Talk) -> Seen:
    terminal = {each.get("id", each.get("methodId")) for each in _listed(talk) if each.get("type") == "terminal"}
    for said in talk.theirs:
        if said.method in {"authenticate", "auth/login"}:
            wrong = said.params.get("methodId") in terminal
            yield said, "a login in a terminal is not called over the wire" if wrong else ""
