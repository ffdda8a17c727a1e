"""Terminals of a v1 client, and questions that make a session wait for the user."""

from __future__ import annotations

import shlex
from collections.abc import Hashable

from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest, keep
from duologue.protocol.changes.prompt import accept_oldest, ask_user, user_answered
from duologue.protocol.changes.steps import Answer, Ask, Notify, Steps
from duologue.protocol.changes.terminals import INFO, announced_up
from duologue.protocol.common.elicitation import CreateElicitationRequest
from duologue.protocol.common.table import ELICITATION_CREATE
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1.terminal import CreateTerminalRequest, CreateTerminalResponse
from duologue.protocol.v2 import table as v2


def elicitation_up(memory: ConnectionMemory, request: CreateElicitationRequest, key: Hashable) -> Steps:
    """The same in both versions; the session waits for the user meanwhile."""
    session_id = None if isinstance(request, Unknown) else request.session_id
    if not isinstance(session_id, str):
        return (Ask(ELICITATION_CREATE, request),)
    session = memory.session(session_id)
    memory.inbound[key] = OpenRequest(
        lambda result: (Answer(key, result), *user_answered(session)),
        lambda error: (error, *user_answered(session)),
    )
    return (*ask_user(session), Ask(ELICITATION_CREATE, request))


def terminal_create_down(memory: ConnectionMemory, request: CreateTerminalRequest, key: Hashable) -> Steps:
    """A terminal of v1's client, which tool calls show by its id."""
    session = memory.session(request.session_id)

    def answer(result: CreateTerminalResponse) -> Steps:
        keep(session.client_terminals, result.terminal_id, None, memory.bounds.terminals)
        return (Answer(key, result),)

    memory.outbound[key] = OpenRequest(answer)
    return (Ask(v1.TERMINAL_CREATE, request),)


def terminal_create_up(memory: ConnectionMemory, request: CreateTerminalRequest, key: Hashable) -> Steps:
    """A terminal of the client: once it is made, v2 knows it as a display terminal too."""
    session = memory.session(request.session_id)

    def answer(result: CreateTerminalResponse) -> Steps:
        # Without arguments the command may be a line for a shell.
        command = shlex.join([request.command, *request.args]) if request.args else request.command
        place = {"terminal_id": result.terminal_id, "cwd": request.cwd}
        known = announced_up(session, {INFO: place}, [], command)
        return (Answer(key, result), *(Notify(v2.SESSION_UPDATE, note) for note in known))

    memory.inbound[key] = OpenRequest(answer)
    return (*accept_oldest(session), Ask(v1.TERMINAL_CREATE, request))
