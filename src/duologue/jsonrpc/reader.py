"""One line to its events: what a message is, what is wrong with it, and what the peer is told.

The order of trials: a well-formed envelope in one strict pass; then blank lines, a byte order mark, bad UTF-8, lone
surrogates, noise and broken JSON; then arrays, scalars, and objects whose members are wrong.
"""

from __future__ import annotations

from typing import TypeGuard

from msgspec import UNSET, UnsetType

from duologue.jsonrpc.batch import Batch
from duologue.jsonrpc.envelope import (
    ABSENT,
    UNREADABLE,
    Envelope,
    LooseEnvelope,
    check_syntax,
    decode_envelope,
    decode_loose,
    decode_members,
    encode,
    error_answer,
    first_byte,
    id_is_longer_than,
    read_error,
    read_id,
    read_string,
)
from duologue.jsonrpc.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    LimitError,
    RemoteProtocolError,
)
from duologue.jsonrpc.framing import Overlong
from duologue.jsonrpc.limits import Limits
from duologue.jsonrpc.messages import (
    ErrorResponse,
    Event,
    Id,
    Malformed,
    Noise,
    Notification,
    OversizedResponse,
    Request,
    Response,
    UnexpectedResponse,
)
from duologue.jsonrpc.scan import (
    HEAD,
    TAIL,
    deeper_than,
    glance,
    is_utf8,
    looks_like_message,
    more_members_than,
    repair_surrogates,
)
from duologue.late import late_pattern

#: Bytes of a broken line that its event keeps.
SAMPLE = 200

#: All of them in one go: one at a time, a line of nothing else would nest as deep as it is long.
_BYTE_ORDER_MARKS = late_pattern(rb"(?:\xef\xbb\xbf\s*+)++")
_STRUCTURED = b"{["
_NULL = ord("n")

_TITLES = {
    PARSE_ERROR: "Parse error",
    INVALID_REQUEST: "Invalid request",
    INVALID_PARAMS: "Invalid params",
    INTERNAL_ERROR: "Internal error",
}


class Reader:
    """Reads lines into `events`; knows the open ids of both directions and gathers what is said to broken input."""

    def __init__(self, limits: Limits, *, batches: bool, answer_noise: bool) -> None:
        self.batches = batches
        self.noise_count = 0
        #: What was read since it was last replaced.
        self.events: list[Event] = []
        #: Own requests without an answer, and requests of the peer without one: two spaces of ids.
        self.pending: set[int] = set()
        self.live: dict[Id, Batch | None] = {}
        #: A line of at most this many bytes can neither be too long nor nest too deep: a level takes two bytes.
        self.short = min(2 * limits.depth, limits.message_bytes)
        self._limits = limits
        self._answer_noise = answer_noise
        #: What is to be said to broken input, as whole lines; for the engine to take out.
        self.replies = bytearray()
        # The batch whose members are being read.
        self._batch: Batch | None = None

    def read(self, line: bytes) -> None:
        """Read one line that ends with its line feed, or with the stream."""
        if line.isspace():
            return
        if len(line) <= self.short or self.is_within_limits(line):
            self.read_short(line)
        elif len(line) > self._limits.message_bytes + 1:
            self.read_overlong(Overlong(line.removesuffix(b"\n")))
        else:
            self._read_deep(line)

    def is_within_limits(self, line: bytes) -> bool:
        """Whether a line, given with its line feed, is neither too long nor too deep."""
        return len(line) <= self._limits.message_bytes + 1 and not deeper_than(line, self._limits.depth)

    def read_overlong(self, line: Overlong) -> None:
        """Report a line over the limit, to the caller it answers or to the peer that sent it."""
        if not looks_like_message(line.head):
            self._report_noise(line.head, "not JSON")
            return
        limit = self._limits.message_bytes
        error = LimitError("message_bytes", limit, f"a message of {line.size} bytes was not read")
        self._report_unread(error, line.head, line.tail)

    def _read_deep(self, text: bytes) -> None:
        if not looks_like_message(text):
            self._report_noise(text, "not JSON")
            return
        error = LimitError("depth", self._limits.depth, "a message that nests too deep was not read")
        self._report_unread(error, text[:HEAD], text[-TAIL:], may_have_id=b'"id"' in text)

    # ---- one message

    def read_short(self, text: bytes) -> None:
        """Read a line, or a part of one, that is known to keep the limits."""
        try:
            envelope = decode_envelope(text)
        except UNREADABLE:
            self._read_odd(text.strip())
            return
        # Text that is only passed on is not decoded here, so its encoding is checked; a batch is checked as a whole.
        if not text.isascii() and self._batch is None and not is_utf8(text):
            self._reject(None, PARSE_ERROR, "not valid UTF-8", text)
        elif envelope.method is UNSET:
            id = envelope.id
            # Often so, and told here without a further call: a result that an own request waits for.
            if envelope.error is ABSENT is not envelope.result and id.__class__ is int and id in self.pending:
                self.pending.remove(id)
                self.events.append(Response(id, envelope.result))
            else:
                self._read_answer(id, envelope, text)
        else:
            self._read_call(envelope, envelope.method, text)

    def _read_call(self, call: Envelope, method: str, text: bytes) -> None:
        id, params = call.id, None
        kind = _NULL if call.params is ABSENT else first_byte(call.params)
        if kind in _STRUCTURED:
            params = call.params
        elif kind != _NULL:
            self._reject(id, INVALID_PARAMS, "params must be an object or an array", text)
            return
        if call.result is not ABSENT or call.error is not ABSENT:
            self._reject(id, INVALID_REQUEST, "a call and an answer in one message", text)
        elif id is UNSET:
            self.events.append(Notification(method, params))
        elif self._open(id, text):
            self.events.append(Request(id, method, params))

    def _open(self, id: Id, text: bytes) -> bool:
        """Enter a request of the peer as open, or refuse it."""
        limits = self._limits
        if id_is_longer_than(id, limits.id_bytes):
            error = LimitError("id_bytes", limits.id_bytes, "the id of a request is too long")
            self._reject_for_limit(id, INVALID_REQUEST, error, text)
        elif id in self.live:
            self._reject(id, INVALID_REQUEST, "a request with this id is still open", text)
        elif len(self.live) >= limits.inbound_requests:
            error = LimitError("inbound_requests", limits.inbound_requests, "too many requests are open")
            self._reject_for_limit(id, INTERNAL_ERROR, error, text)
        else:
            self.live[id] = self._batch
            if self._batch is not None:
                self._batch.expect()
            return True
        return False

    def _read_answer(self, id: Id | UnsetType, answer: Envelope | LooseEnvelope, text: bytes) -> None:
        """Read a message without a method. An answer is never answered, so that two engines cannot argue for ever."""
        error = None if answer.error is ABSENT or first_byte(answer.error) == _NULL else read_error(answer.error)
        complete = error is not None or answer.result is not ABSENT
        if self._settle(id):
            if error is not None:
                self.events.append(ErrorResponse(id, error))
            elif complete:
                self.events.append(Response(id, answer.result))
            else:
                fault = RemoteProtocolError("the answer has neither a result nor an error")
                self.events.append(ErrorResponse(id, fault))
        elif not complete and answer.error is ABSENT:
            self._reject(None, INVALID_REQUEST, "neither a call nor an answer", text)
        elif error is not None and (id is None or id is UNSET):
            self.events.append(ErrorResponse(None, error))
        else:
            self.events.append(UnexpectedResponse(None if id is UNSET else id, error))

    def _settle(self, id: Id | UnsetType) -> TypeGuard[int]:
        """Whether an own request waits under this id; if so, it waits no longer."""
        if not isinstance(id, int) or id not in self.pending:
            return False
        self.pending.remove(id)
        return True

    # ---- what is not a well-formed envelope

    def _read_odd(self, text: bytes) -> None:
        if not text:
            return
        if marks := _BYTE_ORDER_MARKS.match(text):
            self.read_short(text[marks.end() :])
            return
        if not is_utf8(text):
            self._report_broken(text, "not valid UTF-8")
            return
        repaired = repair_surrogates(text)
        if repaired != text:
            self.read_short(repaired)
            return
        try:
            check_syntax(text)
        except RecursionError:
            self._read_deep(text)
        except UNREADABLE as fault:
            self._report_broken(text, f"not JSON: {fault}")
        else:
            self._read_unusual(text)

    def _read_unusual(self, text: bytes) -> None:
        """Read JSON that is no well-formed envelope."""
        if text.startswith(b"{"):
            self._explain(decode_loose(text), text)
        elif self._batch is not None:
            self._reject(None, INVALID_REQUEST, "a member of a batch must be an object", text)
        elif text.startswith(b"["):
            self._read_batch(text)
        elif self._answer_noise:
            self._reject(None, INVALID_REQUEST, "a message must be an object", text)
        else:
            self._report_noise(text, "JSON that is no object")

    def _read_batch(self, text: bytes) -> None:
        limit = self._limits.batch_members
        if not self.batches:
            self._reject(None, INVALID_REQUEST, "batch arrays are not served here", text)
        elif more_members_than(text, limit):
            error = LimitError("batch_members", limit, "a batch with too many members was not read")
            self._reject_for_limit(None, INVALID_REQUEST, error, text)
        elif members := decode_members(text):
            self._batch = batch = Batch()
            for member in members:
                self.read_short(bytes(member))
            self._batch = None
            self._send(batch.settle())
        else:
            self._reject(None, INVALID_REQUEST, "a batch must not be empty", text)

    def _explain(self, loose: LooseEnvelope, text: bytes) -> None:
        """Say what is wrong with an object. An answer is taken all the same, since a caller waits for it."""
        id = UNSET if loose.id is ABSENT else read_id(loose.id)
        if loose.method is ABSENT:
            self._read_answer(id, loose, text)
            return
        method = read_string(loose.method)
        if method is None:
            self._reject(None if id is UNSET else id, INVALID_REQUEST, "method must be a string", text)
        elif loose.id is not ABSENT and id is UNSET:
            self._reject(None, INVALID_REQUEST, "id must be a string, a whole number or null", text)
        elif loose.jsonrpc is ABSENT or read_string(loose.jsonrpc) != "2.0":
            self._reject(id, INVALID_REQUEST, 'jsonrpc must be the string "2.0"', text)
        else:
            # A member was given twice, and only the first of the two was wrong: the last one counts.
            call = Envelope("2.0", id, method, loose.params, loose.result, loose.error)
            self._read_call(call, method, text)

    # ---- what is said about it

    def _report_broken(self, text: bytes, reason: str) -> None:
        if looks_like_message(text):
            self._reject(None, PARSE_ERROR, reason, text)
        else:
            self._report_noise(text, reason)

    def _report_noise(self, text: bytes, reason: str) -> None:
        self.noise_count += 1
        self.events.append(Noise(text[:SAMPLE].rstrip(b"\r\n"), reason))
        if self._answer_noise:
            self._send(error_answer(None, PARSE_ERROR, "Parse error: not JSON"))

    def _report_unread(self, error: LimitError, head: bytes, tail: bytes, *, may_have_id: bool = True) -> None:
        """Report a message over a limit by what its two ends tell; `may_have_id` is False if it surely has none."""
        seen = glance(head, tail.rstrip())
        id = read_id(seen.id) if seen.id else UNSET
        if not seen.is_answer:
            nameless = not seen.is_call or (id is UNSET and may_have_id)
            self._reject_for_limit(None if nameless else id, INVALID_REQUEST, error, head)
        elif self._settle(id):
            self.events.append(OversizedResponse(id, error))
        else:
            self.events.append(UnexpectedResponse(None if id is UNSET else id, None))

    def _reject_for_limit(self, reply_to: Id | UnsetType, code: int, error: LimitError, text: bytes) -> None:
        data = encode({"limit": error.limit, "value": error.value})
        self._reject(reply_to, code, f"{error.problem}, the limit {error.limit} is {error.value}", text, data)

    def _reject(self, reply_to: Id | UnsetType, code: int, reason: str, text: bytes, data: bytes | None = None) -> None:
        """Report a broken message and answer it, unless `reply_to` is UNSET: a notification is never answered.

        An id over the limit is not repeated.
        """
        self.events.append(Malformed(code, reason, text[:SAMPLE].rstrip(b"\r\n")))
        if reply_to is UNSET:
            return
        if id_is_longer_than(reply_to, self._limits.id_bytes):
            reply_to = None
        answer = error_answer(reply_to, code, f"{_TITLES[code]}: {reason}", data)
        if self._batch is None:
            self._send(answer)
        else:
            self._batch.add(answer)

    def _send(self, answer: bytes | None) -> None:
        # A peer that writes rubbish and reads nothing must not fill the memory of this side.
        if answer is not None and len(self.replies) < self._limits.outbound_bytes:
            self.replies += answer + b"\n"
