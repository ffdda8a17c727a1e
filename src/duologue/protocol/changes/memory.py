"""What the changes between the versions remember: per connection, per open request, per session; all of it bounded.

Three rules hold between the members of a session:

- A chunk that goes on with the message before it passes by a look at `chunk_type`, `chunk_id` and `message_id` alone
  (see `Edge.update_in`). So whatever has to see the next chunk (a prompt that is to be accepted, a replay that is not
  shown, a message that is over) calls `end_message`.
- `telling` is the entry of `sent` whose id is `telling_id`: chunks for v1 are counted there, without looking it up.
- `ConnectionMemory.behind` has the sessions whose own `behind` is not empty. `fall_behind` and `caught_up` see to that.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from duologue.protocol.changes.steps import Refuse, Steps

K = TypeVar("K")
V = TypeVar("V")


class Bounds(msgspec.Struct, frozen=True):
    """How much is remembered. Beyond a bound the oldest goes, and what was lost thereby is shown anew or left out."""

    sessions: int = 1024
    #: Message ids, tool calls, terminals and plans of one session.
    messages: int = 256
    tool_calls: int = 256
    terminals: int = 64
    plans: int = 32
    #: Bytes of text that the content of one tool call may have once it is resent as a whole for each chunk.
    tool_content: int = 256 * 1024
    #: Bytes of a terminal's output: kept for the end, and shown while it runs.
    terminal_output: int = 1024 * 1024
    terminal_tail: int = 32 * 1024
    #: How often in a second content that grows is resent as a whole.
    resends_per_second: float = 10.0

    @property
    def resend_seconds(self) -> float:
        """How long content that grows waits before it is resent."""
        return 1 / self.resends_per_second


class ClientExtras(msgspec.Struct):
    """What only v1 lets a client say. Set before `initialize` on a client's edge, read from the wire on an agent's."""

    read_text_file: bool = False
    write_text_file: bool = False
    terminal: bool = False
    #: Takes options of type boolean, and plans by id; code that speaks v2 always does.
    boolean_options: bool = True
    plans: bool = True
    #: Shows terminals that live in `_meta` of tool calls; code that speaks v2 gets them as display terminals.
    terminal_output: bool = True


class AgentExtras(msgspec.Struct):
    """What only v1 lets an agent say. Set before `initialize` on an agent's edge, read from the wire on a client's."""

    sse: bool = False
    load: bool = True
    list: bool = True
    resume: bool = True
    close: bool = True
    logout: bool = True


class OpenRequest(msgspec.Struct, frozen=True):
    """A request that awaits its answer: what to do with a result, with an error (none: pass it on), and when nobody
    waits for either any more (none: nothing).

    With `takes_raw`, `answer` is also given the JSON of the result, if there is any.
    """

    answer: Callable[..., Steps]
    refuse: Callable[[Refuse], Steps] | None = None
    forget: Callable[[], None] | None = None
    takes_raw: bool = False


class OpenPrompt(msgspec.Struct):
    """A prompt whose turn has not ended. `message_id` is its user message once that is known."""

    key: Hashable
    content: list[Any] = msgspec.field(default_factory=list)
    accepted: bool = False
    #: It came while the agent worked on something else, whose end is not its own.
    behind: bool = False
    message_id: str | None = None
    cancelled: bool = False
    #: A replay was asked for before its turn began, which cannot have its user message: that is told when it comes.
    retold: bool = False
    meta: Any = UNSET


class ToolMemory(msgspec.Struct):
    """A tool call as v1 knows it: the title shown, and the content in v2's form, which v1 gets whole each time."""

    title: str | None = None
    content: list[Any] = msgspec.field(default_factory=list)
    #: When v1 got the content.
    sent_at: float = float("-inf")
    #: Content that grew beyond the bound has lost its beginning.
    trimmed: bool = False
    ended: bool = False
    #: It was cancelled, which v1 is told in words.
    cancelled: bool = False


class TerminalMemory(msgspec.Struct):
    """A display terminal as v1 knows it: the tool call that shows it, and its output."""

    terminal_id: str
    decoder: Any
    owner: str | None = None
    command: str | None = None
    cwd: str | None = None
    ended: bool = False
    exit_code: int | None = None
    signal: str | None = None
    #: What is kept of the output, its length, and how much of the beginning is lost.
    parts: deque[str] = msgspec.field(default_factory=deque)
    size: int = 0
    lost: int = 0
    #: Output and the end, as far as v1 has not been told of them.
    untold: list[str] = msgspec.field(default_factory=list)
    announced: bool = False
    told_end: bool = False


class ConnectionMemory(msgspec.Struct):
    """All that is remembered of one connection."""

    bounds: Bounds = msgspec.field(default_factory=Bounds)
    clock: Callable[[], float] = time.monotonic
    client: ClientExtras = msgspec.field(default_factory=ClientExtras)
    agent: AgentExtras = msgspec.field(default_factory=AgentExtras)
    sessions: dict[str, SessionMemory] = msgspec.field(default_factory=dict)
    #: Open requests by key: asked by the wire, and asked by the local side.
    inbound: dict[Hashable, OpenRequest] = msgspec.field(default_factory=dict)
    outbound: dict[Hashable, OpenRequest] = msgspec.field(default_factory=dict)
    #: Sessions with tool calls that v1 is behind with, see `SessionMemory.fall_behind`.
    behind: dict[str, SessionMemory] = msgspec.field(default_factory=dict)

    def session(self, session_id: str) -> SessionMemory:
        """The memory of a session, made at first sight."""
        found = self.sessions.get(session_id)
        return found if found is not None else self._start(session_id)

    def forget(self, session_id: str) -> None:
        """Free what is remembered of a session."""
        self.sessions.pop(session_id, None)
        self.behind.pop(session_id, None)

    def end(self, session_id: str) -> None:
        """A session is closed: forget it, but for what was asked of it since."""
        session = self.sessions.get(session_id)
        if session is not None and session.busy:
            session.start_anew()
        else:
            self.forget(session_id)

    def close(self) -> None:
        """Free everything; the connection is gone."""
        for known in (self.sessions, self.inbound, self.outbound, self.behind):
            known.clear()

    def _start(self, session_id: str) -> SessionMemory:
        if len(self.sessions) >= self.bounds.sessions:
            idle = next((name for name, session in self.sessions.items() if not session.busy), None)
            self.forget(idle if idle is not None else next(iter(self.sessions)))
        made = self.sessions[session_id] = SessionMemory(session_id, self)
        return made


class SessionMemory(msgspec.Struct):
    """What is remembered of one session."""

    session_id: str
    connection: ConnectionMemory

    #: The agent has answered the request that opened it.
    opened: bool = False
    #: The agent works, by what it told last.
    at_work: bool = False

    #: The message that chunks from v1 go on with: type and id of the last chunk, and the id it has in v2. There is none
    #: while a prompt is to be accepted or a replay is not to be shown.
    chunk_type: type | None = None
    chunk_id: Any = None
    message_id: str = ""
    #: Whose id it is: a v2 id belongs to one message of one kind.
    kinds: dict[str, type] = msgspec.field(default_factory=dict)
    made: int = 0

    #: What v1 has been told of each message, of the one that chunks go on with, and the prompts sent back by v2.
    sent: dict[str, Any] = msgspec.field(default_factory=dict)
    telling: Any = None
    telling_id: str | None = None
    echoes: dict[str, None] = msgspec.field(default_factory=dict)

    prompts: list[OpenPrompt] = msgspec.field(default_factory=list)
    #: The oldest prompt waits for the first sign that the agent took it.
    unaccepted: bool = False
    #: Requests that the user has to answer.
    waiting: int = 0
    #: Open requests that replay the conversation, and those whose replay nobody asked for.
    replays: int = 0
    muted: int = 0

    #: The config options as v2 has them, None while unknown, and those that v1 knows by another name.
    options: list[Any] | None = None
    mode_option: str | None = None
    model_option: str | None = None

    tools: dict[str, ToolMemory] = msgspec.field(default_factory=dict)
    forgot_tools: bool = False
    #: Tool calls whose content v1 has not been told as it is now.
    behind: dict[str, None] = msgspec.field(default_factory=dict)
    terminals: dict[str, TerminalMemory] = msgspec.field(default_factory=dict)
    #: Terminals that v1's client runs itself, which it knows by their id.
    client_terminals: dict[str, None] = msgspec.field(default_factory=dict)
    plans: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def busy(self) -> bool:
        return bool(self.prompts or self.waiting or self.replays or self.muted)

    def make_id(self) -> str:
        """A message id for what has none; the n-th of a session is the same in each run."""
        self.made += 1
        return f"duologue-{self.made}"

    def forget_told(self) -> None:
        """v1 is about to be told the conversation from its start."""
        for told in (self.sent, self.echoes, self.tools, self.behind, self.terminals, self.plans):
            told.clear()
        self.connection.behind.pop(self.session_id, None)
        self.telling = self.telling_id = None

    def start_anew(self) -> None:
        """It was closed, and what is asked of it now is about the one that is opened in its place."""
        self.forget_told()
        self.kinds.clear()
        self.opened = self.at_work = False
        self.options = self.mode_option = self.model_option = None
        self.end_message()

    def fall_behind(self, tool_call_id: str) -> None:
        """The content of a tool call is to be sent again, later; not for a session that is forgotten meanwhile."""
        if self.connection.sessions.get(self.session_id) is self:
            self.behind[tool_call_id] = None
            self.connection.behind[self.session_id] = self

    def caught_up(self, tool_call_id: str) -> None:
        """The content of a tool call is sent now, or will never be."""
        self.behind.pop(tool_call_id, None)
        if not self.behind:
            self.connection.behind.pop(self.session_id, None)

    def end_message(self) -> None:
        """A chunk without an id that follows starts a new message."""
        self.chunk_type = None


def keep(memory: dict[K, V], key: K, value: V, bound: int) -> V:
    """Remember a value, and forget the oldest ones beyond the bound."""
    memory[key] = value
    while len(memory) > bound:
        del memory[next(iter(memory))]
    return value
