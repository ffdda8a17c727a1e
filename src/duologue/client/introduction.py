"""What a client says of itself: what its author declares, and what follows from what the author has overridden."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from duologue import codec
from duologue.client.client import Client
from duologue.protocol.common.capabilities import (
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationUrlCapabilities,
)
from duologue.protocol.conventions import TERMINAL_AUTH
from duologue.protocol.v2.capabilities import AuthCapabilities, ClientCapabilities, TerminalAuthCapabilities


def introduction(client: Client, command: Sequence[str] | None) -> ClientCapabilities:
    """The client's capabilities for an agent that was started with a command, or was not started here."""
    # As the agent reads it; it is the author's.
    said: ClientCapabilities = codec.sendable(ClientCapabilities, client.capabilities())
    if said.elicitation is UNSET:
        said = replace(said, elicitation=_questions(client))
    # A login in a terminal starts the agent's own command there.
    if said.auth is UNSET and command is not None and client.announces("run_in_terminal"):
        auth = AuthCapabilities(terminal=TerminalAuthCapabilities())
        said = replace(said, auth=auth, meta={**(said.meta or {}), TERMINAL_AUTH: True})
    # Nothing but suggested edits has positions.
    if said.nes and said.position_encodings is UNSET:
        from duologue.documents import POSITION_ENCODINGS

        said = replace(said, position_encodings=list(POSITION_ENCODINGS))
    return said


def _questions(client: Client) -> ElicitationCapabilities | UnsetType:
    """The kinds of question that the client answers."""
    form = ElicitationFormCapabilities() if client.announces("fill_form") else UNSET
    url = ElicitationUrlCapabilities() if client.announces("open_url") else UNSET
    return UNSET if form is UNSET and url is UNSET else ElicitationCapabilities(form=form, url=url)
