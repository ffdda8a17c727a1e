"""The class that the author of a client subclasses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.peer.extensions import Announcing
from duologue.protocol.common.permission import (
    CancelledOutcome,
    PermissionOptionKind,
    RequestPermissionOutcome,
    SelectedOutcome,
)
from duologue.protocol.v2.permission import RequestPermissionRequest

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.files import LocalFiles
    from duologue.client.login import Login, TerminalLogin
    from duologue.client.policy import Policy
    from duologue.client.session import Session
    from duologue.client.terminals import LocalTerminals
    from duologue.local.rules import Subject
    from duologue.protocol.changes.memory import ClientExtras
    from duologue.protocol.common.elicitation import CreateElicitationResponse, FormElicitation, UrlElicitation
    from duologue.protocol.v2.capabilities import ClientCapabilities
    from duologue.protocol.v2.updates import SessionUpdate
    from duologue.session import Transcript


class Client(Announcing):
    """A client, written once in the vocabulary of version 2. Override what it offers; the rest fails closed."""

    #: Sent as the client's `info`.
    name: str = "client"
    title: str | None = None
    version: str = "0"
    #: What is answered without a question; what it says "ask" to goes to `request_permission` or `confirm`.
    policy: Policy | None = None
    #: The files and terminals that an agent of version 1 may use; announced when they are set.
    files: LocalFiles | None = None
    terminals: LocalTerminals | None = None

    def capabilities(self) -> ClientCapabilities:
        """What the client can do for the agent. What follows from overridden members is added."""
        from duologue.protocol.v2.capabilities import ClientCapabilities

        return ClientCapabilities()

    def v1_capabilities(self) -> ClientExtras:
        """What the client says of itself in version 1 alone: that it reads and writes files for the agent and runs its
        commands. It says so by itself when `files` and `terminals` are set; one that says so without them answers
        `fs/*` and `terminal/*` by its own handlers (``connection.peer.handle(v1.FS_READ_TEXT_FILE, ...)``)."""
        from duologue.protocol.changes.memory import ClientExtras

        return ClientExtras(
            read_text_file=self.files is not None,
            write_text_file=self.files is not None and self.files.writes,
            terminal=self.terminals is not None,
        )

    def transcript(self) -> Transcript:
        """What the updates of a session are folded into. `CurrentTranscript` keeps less than a whole one."""
        from duologue.session import Transcript

        return Transcript()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        """Answer a permission request. Without an override it is refused; so it is when this raises."""
        return refusal(request)

    async def confirm(self, session: Session, subject: Subject) -> bool:
        """Whether the client may itself write a file or run a command for the agent, where the policy says "ask" and
        no permission request was answered with yes for just this. Refused without an override, and when it raises."""
        return False

    async def fill_form(self, session: Session | None, form: FormElicitation) -> CreateElicitationResponse:
        """Let the user fill in a form, and accept, decline or cancel it; `session` is None for a question that belongs
        to an open request. An answer that does not fit the form is not sent: `duologue.session.forms.answer_problems`
        says what is wrong with one, and `defaults` what to begin with. Announced when it is overridden."""
        return _cancelled()

    async def open_url(self, session: Session | None, request: UrlElicitation) -> CreateElicitationResponse:
        """Show the user the whole URL, and open it in a browser if the user agrees (then accept, without content).
        `duologue.client.url_doubts` says what to warn of. Announced when it is overridden."""
        return _cancelled()

    def on_url_done(self, elicitation_id: str) -> None:
        """Called once when the agent tells that the user is done at a page that was agreed to. Must not block."""

    async def log_in(self, agent: ClientConnection) -> Login | None:
        """Called when a call was refused until there is a login: choose one of `agent.auth_methods`. The call is made
        once more then. None gives up, as it does without an override."""
        return None

    async def run_in_terminal(self, login: TerminalLogin) -> int:
        """Run a program in a terminal of the user, for a login; its exit status. Announced when it is overridden."""
        raise NotImplementedError

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        """Called with every update of every session when it is read, also while no prompt runs. Must not block."""


def _cancelled() -> CreateElicitationResponse:
    from duologue.protocol.common.elicitation import CancelElicitation

    return CancelElicitation()


def refusal(request: RequestPermissionRequest) -> RequestPermissionOutcome:
    """The narrowest refusing answer that a request offers; `cancelled` when it offers none."""
    narrowest = picked(request, PermissionOptionKind.REJECT_ONCE)
    return narrowest or picked(request, PermissionOptionKind.REJECT_ALWAYS) or CancelledOutcome()


def picked(request: RequestPermissionRequest, kind: str) -> SelectedOutcome | None:
    """The answer that picks the first option of a kind; None when none is offered."""
    for option in request.options:
        if option.kind == kind:
            return SelectedOutcome(option_id=option.option_id)
    return None
