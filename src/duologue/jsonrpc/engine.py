"""The engine of one connection: framing, ids, errors and limits of JSON-RPC 2.0.

Three verbs: `Engine.receive` takes bytes and gives events, the calls give bytes to send, `Engine.take_replies` gives
what the engine itself has to say to broken input. docs/framing.md has a row for every class of input.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET, UnsetType

from duologue.jsonrpc.batch import Batch
from duologue.jsonrpc.envelope import encode, error_answer, id_text, one_line
from duologue.jsonrpc.errors import LimitError, LocalProtocolError
from duologue.jsonrpc.framing import Framer, Overlong
from duologue.jsonrpc.limits import Limits
from duologue.jsonrpc.messages import Event, Id
from duologue.jsonrpc.reader import Reader

_DEFAULT_LIMITS = Limits()
# No line begins with a line feed and goes on, so this prefix fits none.
_NO_PREFIX = b"\n\n"
#: Methods whose JSON text is kept; far more than a protocol has.
_KEPT_CALLS = 256


def _never(_line: bytes) -> object:
    return None


def _trace(trace: Callable[[bytes], None], skipped: Overlong | None, lines: list[bytes]) -> None:
    if skipped is not None:
        trace(skipped.head)
    for line in lines:
        trace(line.removesuffix(b"\n"))


class Engine:
    """Both directions of one connection, without any input or output.

    `batches` says whether arrays of messages are served; it may be set at any time, such as after a negotiation.
    `answer_noise` says whether lines that are no JSON at all are answered with an error, or only reported.
    """

    def __init__(self, limits: Limits = _DEFAULT_LIMITS, *, batches: bool = False, answer_noise: bool = True) -> None:
        self.limits = limits
        #: Called with each line that comes in, without its line feed, before it is read; of an overlong line, its head.
        self.trace: Callable[[bytes], None] | None = None
        self._framer = Framer(limits.message_bytes)
        self._reader = Reader(limits, batches=batches, answer_noise=answer_noise)
        self._pending = self._reader.pending
        self._max_pending = limits.pending_requests
        self._live = self._reader.live
        self._replies = self._reader.replies
        # Ids count from 1: there are programs that take the id 0 for none.
        self._next_id = 1
        self._calls: dict[str, bytes] = {}
        self._hot_prefix = _NO_PREFIX
        self._hot_size = len(_NO_PREFIX)
        self._hot_decode: Callable[[bytes], object] = _never

    # ---- bytes in, events out

    def receive(self, data: bytes) -> list[Event]:
        """Take a chunk of any size; give what it completes, in order. Bad input becomes events and never raises."""
        skipped, lines = self._framer.feed(data)
        return self._read(skipped, lines)

    def end(self) -> list[Event]:
        """The stream has ended: try what is left as a last line."""
        return self._read(*self._framer.end())

    def _read(self, skipped: Overlong | None, lines: list[bytes]) -> list[Event]:
        reader = self._reader
        events: list[Event] = []
        reader.events = events
        if self.trace is not None:
            _trace(self.trace, skipped, lines)
        if skipped is not None:
            reader.read_overlong(skipped)
        append, read, read_short = events.append, reader.read, reader.read_short
        prefix, size, decode, short = self._hot_prefix, self._hot_size, self._hot_decode, reader.short
        for line in lines:
            # Comparing a slice takes a quarter of the time of `startswith`.
            if line[:size] == prefix and (len(line) <= short or reader.is_within_limits(line)):
                try:
                    value = decode(line)
                except Exception:
                    # The hot path is a hint: whatever it cannot do, the general path judges and reports.
                    value = None
                if value is not None:
                    append(value)
                    continue
            if len(line) <= short:
                read_short(line)
            else:
                read(line)
        # A long message must live no longer than its event.
        reader.events = []
        return events

    def set_hot(self, prefix: bytes, decode: Callable[[bytes], object]) -> None:
        """Let `decode` try each line that begins with `prefix`; what it returns becomes the event itself.

        `decode` gets the whole line, line feed included. When it returns None or raises, the line is read like any
        other. It must refuse what the prefix does not rule out: a line that has an `id` after all, for one.
        """
        self._hot_prefix, self._hot_decode = prefix or _NO_PREFIX, decode
        self._hot_size = len(self._hot_prefix)

    def take_replies(self) -> bytes:
        """What the engine itself has to send, as whole lines; empty most of the time. Each is given once."""
        if not self._replies:
            return b""
        replies = bytes(self._replies)
        self._replies.clear()
        return replies

    @property
    def batches(self) -> bool:
        return self._reader.batches

    @batches.setter
    def batches(self, value: bool) -> None:
        self._reader.batches = value

    @property
    def noise_count(self) -> int:
        """Lines so far that were no messages at all."""
        return self._reader.noise_count

    # ---- calls in, bytes out

    def request(self, method: str, params: bytes | None) -> tuple[int, bytes]:
        """Open a request; give its id and its line. `params` is the JSON text of an object or an array.

        Raises `LimitError` when too many requests wait for an answer, `LocalProtocolError` for a reserved method name.
        """
        pending = self._pending
        if len(pending) >= self._max_pending:
            waiting = f"{len(pending)} requests already wait for an answer"
            raise LimitError("pending_requests", self._max_pending, waiting)
        call = self._calls.get(method) or self._call(method)
        id = self._next_id
        self._next_id = id + 1
        pending.add(id)
        if params is None:
            return id, b'{"jsonrpc":"2.0","id":%d,%b}\n' % (id, call)
        # A line feed. Where bytes are looked for in bytes, Python raises an error within and drops it.
        if 10 in params:
            params = one_line(params)
        return id, b'{"jsonrpc":"2.0","id":%d,%b,"params":%b}\n' % (id, call, params)

    def notification(self, method: str, params: bytes | None) -> bytes:
        """Give the line of a notification. Raises `LocalProtocolError` for a reserved method name."""
        call = self._calls.get(method) or self._call(method)
        if params is None:
            return b'{"jsonrpc":"2.0",%b}\n' % call
        return b'{"jsonrpc":"2.0",%b,"params":%b}\n' % (call, one_line(params))

    def response(self, id: Id, result: bytes) -> bytes | None:
        """Answer a request of the peer; give its line, or None while other members of its batch are open.

        Raises `LocalProtocolError` when no such request is open.
        """
        return self._settle(id, b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id_text(id), one_line(result)))

    def error(self, id: Id, code: int, message: str, data: bytes | None = None) -> bytes | None:
        """Answer a request of the peer with an error; gives and raises what `response` does."""
        return self._settle(id, error_answer(id, code, message, data))

    def _call(self, method: str) -> bytes:
        """The member that names a method."""
        if method.startswith("rpc."):
            raise LocalProtocolError(f"{method!r} cannot be called: names that begin with 'rpc.' belong to JSON-RPC")
        call = b'"method":%b' % encode(method)
        if len(self._calls) < _KEPT_CALLS:
            self._calls[method] = call
        return call

    def _settle(self, id: Id, answer: bytes) -> bytes | None:
        # The answer is complete by now: a request whose answer could not be written stays open for another one.
        batch = self._live.pop(id, UNSET)
        if isinstance(batch, UnsetType):
            raise LocalProtocolError(f"No request with id {id!r} is open: it never came, or it is answered already")
        if batch is None:
            return answer + b"\n"
        array = batch.settle(answer)
        return None if array is None else array + b"\n"

    # ---- bookkeeping

    def forget(self, id: int) -> None:
        """Wait no longer for the answer to a request of this side; one that still comes is an `UnexpectedResponse`."""
        self._pending.discard(id)

    def is_pending(self, id: int) -> bool:
        """Whether a request of this side waits for its answer."""
        return id in self._pending

    def is_live(self, id: Id) -> bool:
        """Whether a request of the peer waits for its answer."""
        return id in self._live

    def batch_of(self, id: Id) -> Batch | None:
        """The batch that an open request of the peer came in, whose answers leave together."""
        return self._live.get(id)

    @property
    def pending_count(self) -> int:
        return len(self._pending)

    @property
    def live_count(self) -> int:
        return len(self._live)
