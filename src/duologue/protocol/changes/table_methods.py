"""The rows of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.protocol.changes import handshake, prompt, sessions
from duologue.protocol.changes.later import Later
from duologue.protocol.changes.rows import Kind, Row
from duologue.protocol.common import table as common
from duologue.protocol.v1 import table as v1
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.protocol.changes import nes, permission, settings, work
else:
    nes, permission, settings, work = (Later(module) for module in ("nes", "permission", "settings", "work"))

#: Methods whose name, types or meaning changed. `session/update` stands in `UPDATES`, by variant.
METHODS = (
    Row(
        v1.INITIALIZE,
        v2.INITIALIZE,
        handshake.initialize_down,
        handshake.initialize_up,
        Kind.STATE,
        "What v1 says and v2 has no words for (client files and terminals, SSE, single session methods) is kept in the "
        "memory of the connection. A v1 side without a name is `unknown`.",
    ),
    Row(v1.AUTHENTICATE, v2.AUTH_LOGIN, handshake.login_down, handshake.login_up, Kind.EXACT, "Another name."),
    Row(
        v1.LOGOUT,
        v2.AUTH_LOGOUT,
        handshake.logout_down,
        handshake.logout_up,
        Kind.STATE,
        "Refused with -32601 for a v1 agent that did not offer it.",
    ),
    Row(
        v1.SESSION_NEW,
        v2.SESSION_NEW,
        sessions.new_down,
        sessions.new_up,
        Kind.STATE,
        "v1's `modes` are the option of category `mode`; the models of older agents become an option.",
    ),
    Row(
        v1.SESSION_LOAD,
        v2.SESSION_RESUME,
        sessions.resume_down,
        sessions.load_up,
        Kind.STATE,
        "A resume with a replay from the start. A v1 agent that can only load is loaded for a plain resume too; its "
        "replay is not shown then.",
    ),
    Row(
        v1.SESSION_RESUME,
        v2.SESSION_RESUME,
        sessions.resume_down,
        sessions.resume_up,
        Kind.STATE,
        "A resume without a replay.",
    ),
    Row(v1.SESSION_FORK, v2.SESSION_FORK, sessions.fork_down, sessions.fork_up, Kind.STATE, "As for `session/new`."),
    Row(
        v1.SESSION_LIST,
        v2.SESSION_LIST,
        sessions.list_down,
        sessions.list_up,
        Kind.EXACT,
        "Refused with -32601 for a v1 agent that did not offer it.",
    ),
    Row(
        v1.SESSION_CLOSE,
        v2.SESSION_CLOSE,
        sessions.close_down,
        sessions.close_up,
        Kind.STATE,
        "A v1 agent without it gets `session/cancel`, and the session is forgotten here.",
    ),
    Row(
        v1.SESSION_DELETE,
        v2.SESSION_DELETE,
        sessions.delete_down,
        sessions.delete_up,
        Kind.EXACT,
        "Another capability opens it.",
    ),
    Row(
        *(
            v1.SESSION_SET_MODE,
            v2.SESSION_SET_CONFIG_OPTION,
            settings.set_option_down,
            settings.set_mode_up,
            Kind.STATE,
        ),
        "Sets the option of category `mode`; a mode that is not listed is refused with -32602.",
    ),
    Row(
        v1.SESSION_SET_CONFIG_OPTION,
        v2.SESSION_SET_CONFIG_OPTION,
        settings.set_option_down,
        settings.set_option_up,
        Kind.STATE,
        "v2 requires a type. A value of a type that v1 does not have is refused with -32602.",
    ),
    Row(
        v1.SESSION_PROMPT,
        v2.SESSION_PROMPT,
        prompt.prompt_down,
        prompt.prompt_up,
        Kind.STATE,
        "v1 answers at the end of the turn, v2 when the prompt is accepted; see turns.",
    ),
    Row(v1.SESSION_CANCEL, v2.SESSION_CANCEL, prompt.cancel_down, prompt.cancel_up, Kind.EXACT, "Another type name."),
    Row(
        v1.SESSION_REQUEST_PERMISSION,
        v2.SESSION_REQUEST_PERMISSION,
        permission.permission_down,
        permission.permission_up,
        Kind.LOSSY,
        "v1 has a tool call in place of title, description and subject; see permission requests. Options of a kind "
        "that v1 does not know are left out; if none is left, the answer is `cancelled`. An unknown outcome is "
        "told to v1 as `cancelled`.",
    ),
    Row(
        common.ELICITATION_CREATE,
        common.ELICITATION_CREATE,
        None,
        work.elicitation_up,
        Kind.EXACT,
        "The same; that the user is asked becomes a state of the session in v2.",
    ),
    Row(
        v1.NES_SUGGEST,
        v2.NES_SUGGEST,
        nes.suggest_down,
        nes.suggest_up,
        Kind.LOSSY,
        "`id` is `suggestionId`. v1 does not get kinds that it does not know.",
    ),
    Row(v1.NES_ACCEPT, v2.NES_ACCEPT, nes.accept_down, nes.accept_up, Kind.EXACT, "`id` is `suggestionId`."),
    Row(
        v1.NES_REJECT,
        v2.NES_REJECT,
        nes.reject_down,
        nes.reject_up,
        Kind.LOSSY,
        "`id` is `suggestionId`. v1 does not get reasons that it does not know.",
    ),
    *(
        Row(
            method,
            None,
            None,
            prompt.work_up(method),
            Kind.EXACT,
            "Kept for code that speaks v2; v2's wire has nothing like it.",
        )
        for method in (
            v1.FS_READ_TEXT_FILE,
            v1.FS_WRITE_TEXT_FILE,
            v1.TERMINAL_OUTPUT,
            v1.TERMINAL_WAIT_FOR_EXIT,
            v1.TERMINAL_KILL,
            v1.TERMINAL_RELEASE,
        )
    ),
    Row(
        v1.TERMINAL_CREATE,
        None,
        work.terminal_create_down,
        work.terminal_create_up,
        Kind.STATE,
        "Kept for code that speaks v2: a client also gets a display terminal of that id, an agent shows it by its id.",
    ),
)
