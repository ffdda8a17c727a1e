"""What an agent can ask the client about a session: permission, forms, pages to visit, files and terminals.

What the client has not offered is not sent. The trace that came with the prompt goes along with each request.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, UnsetType

from duologue.agent.asked import current_request, trace_of, traced
from duologue.agent.errors import TurnOver
from duologue.agent.permission import Permission, ask
from duologue.agent.question import Question
from duologue.protocol.method import Request

if TYPE_CHECKING:
    from duologue.agent.client_files import ClientFiles
    from duologue.agent.client_terminal import ClientTerminal
    from duologue.agent.elicitation import FormAnswer, UrlAnswer
    from duologue.agent.session import Session
    from duologue.protocol.common.elicitation_schema import ElicitationSchema
    from duologue.protocol.common.permission import PermissionOption
    from duologue.protocol.v2.permission import RequestPermissionSubject

P = TypeVar("P")
R = TypeVar("R")


class Asker:
    """The half of a `Voice` that asks. Everything here raises `TurnOver` and `ConnectionClosed`."""

    session: Session
    #: Whether it asks for a turn that was cancelled: then no answer counts any more. A yes that is read after the
    #: cancel, or with it, is none: it may reach a task of the author's that has not been cancelled yet.
    cancelled: bool = False
    _over: bool

    def request(self, method: Request[P, R], params: P, *, checked: bool = False) -> Coroutine[Any, Any, R]:
        """Ask the client by any method, of the tables or of one's own. `checked` and errors: as `Peer.request`."""
        # Not `async`, which spares each request a coroutine around it.
        if self._over:
            raise TurnOver
        trace = self._trace()
        asked = traced(params, trace) if trace else params
        return self.session.connection.peer.request(method, asked, checked=checked)

    def ask_permission(
        self,
        title: str,
        *,
        subject: RequestPermissionSubject | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        options: Sequence[PermissionOption] | None = None,
    ) -> Question[Permission]:
        """Ask the user, when awaited; the result is true only when an allowing option was picked.

        The session requires action while the question is open. When the client answers that the turn is cancelled,
        the turn is cancelled. An error answer is a refusal, and so is any answer once the turn was cancelled. Raises
        `RuntimeError` in `Agent.new_session`, since the client does not know the session yet.
        """
        if self._over:
            raise TurnOver
        return Question(ask(self, title, subject=subject, description=description, options=options))

    def ask_form(
        self, message: str, schema: ElicitationSchema, *, tool_call_id: str | UnsetType = UNSET
    ) -> Question[FormAnswer]:
        """Ask the user to fill in a form; the result is true only when the user did, and the content fits.

        Never ask for secrets so: `ask_url` is for them. A client that shows no forms is not asked; its answer is false
        too, so have something to fall back on. In `Agent.new_session` the question belongs to that request.
        Raises `ValueError` for a form that may not be asked.
        """
        scope = self._scope(tool_call_id)
        return Question(self._form(message, schema, scope))

    async def _form(self, message: str, schema: ElicitationSchema, scope: dict[str, Any]) -> FormAnswer:
        from duologue.agent.elicitation import FormAnswer, Outcome

        session = self.session
        answer = await session.connection.elicitor.form(message, schema, scope, session.waiting(), self._trace())
        return FormAnswer(Outcome.CANCELLED) if self.cancelled else answer

    def ask_url(self, message: str, url: str, *, tool_call_id: str | UnsetType = UNSET) -> Question[UrlAnswer]:
        """Ask the user to visit a page; the result is true when the user agreed to, which tells nothing more.

        A client that sends nobody to pages is not asked; its answer is false. Raises `ValueError` for a URL that is not
        absolute, not encrypted, or holds credentials.
        """
        scope = self._scope(tool_call_id)
        return Question(self._url(message, url, scope))

    async def _url(self, message: str, url: str, scope: dict[str, Any]) -> UrlAnswer:
        from duologue.agent.elicitation import Outcome

        session = self.session
        answer = await session.connection.elicitor.url(message, url, scope, session.waiting(), self._trace())
        if self.cancelled:
            answer.outcome = Outcome.CANCELLED
        return answer

    def _scope(self, tool_call_id: str | UnsetType) -> dict[str, Any]:
        if self._over:
            raise TurnOver
        from duologue.agent.elicitation import scope_of

        return scope_of(self.session.id, tool_call_id, not self.session.held)

    @property
    def client_files(self) -> ClientFiles:
        """Text files as the client has them, unsaved changes included; offered by clients of version 1 alone."""
        from duologue.agent.client_files import ClientFiles

        return ClientFiles(self)

    def client_terminal(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        output_byte_limit: int | None = None,
    ) -> ClientTerminal:
        """A command that the client runs in a terminal of its own; offered by clients of version 1 alone.

        To be entered with ``async with``: that starts the command, and leaving it ends the command and frees the
        terminal, whatever happens. `cwd` is relative to the session's. Of the output no more than the last
        `output_byte_limit` bytes are kept.
        """
        from duologue.agent.client_terminal import ClientTerminal

        return ClientTerminal(self, command, args, env=env, cwd=cwd, output_byte_limit=output_byte_limit)

    def _trace(self) -> Mapping[str, str]:
        """The trace that requests carry on; a turn has its own."""
        asked = current_request()
        return trace_of(asked.meta) if asked is not None else {}

    def answered_cancelled(self) -> None:
        """The client answered a question of this voice with `cancelled`."""
