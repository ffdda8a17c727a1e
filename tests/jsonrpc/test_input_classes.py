"""One row of the table in docs/framing.md after the other: what goes in, which events and which answer come out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from duologue.jsonrpc import (
    Engine,
    ErrorResponse,
    Limits,
    Malformed,
    Noise,
    Notification,
    OversizedResponse,
    RemoteProtocolError,
    Request,
    Response,
    RpcError,
    UnexpectedResponse,
)

TABLE = Path(__file__).parents[2] / "docs" / "framing.md"
SMALL = Limits(message_bytes=300, depth=5, id_bytes=20, inbound_requests=2, batch_members=4)


def plain(event: Any) -> tuple[Any, ...]:
    """An event as a short tuple that a table can hold."""
    match event:
        case Request(id, method, params):
            return ("request", id, method, params and json.loads(bytes(params)))
        case Notification(method, params):
            return ("notification", method, params and json.loads(bytes(params)))
        case Response(id, result):
            return ("result", id, json.loads(bytes(result)))
        case ErrorResponse(id, RpcError() as error):
            return ("error", id, error.code, error.message)
        case ErrorResponse(id, RemoteProtocolError()):
            return ("broken answer", id)
        case OversizedResponse(id, error):
            return ("oversized", id, error.limit)
        case UnexpectedResponse(id, _):
            return ("unexpected", None if type(id).__name__ == "UnsetType" else id)
        case Noise():
            return ("noise",)
        case Malformed(code):
            return ("malformed", code)
    raise AssertionError(f"no event: {event!r}")


def answers(sent: bytes) -> list[Any]:
    """Each line as (code, id); a batch as the list of those."""

    def short(answer: dict[str, Any]) -> tuple[int, Any]:
        return answer["error"]["code"], answer["id"]

    lines = [json.loads(line) for line in sent.splitlines()]
    return [[short(one) for one in line] if isinstance(line, list) else short(line) for line in lines]


def call(id: str = "", params: str = '{"a":1}', head: str = '"jsonrpc":"2.0",') -> bytes:
    """The line of a call of the method `m`; `id` and `params` are JSON text."""
    named = f'"id":{id},' if id else ""
    return f'{{{head}{named}"method":"m","params":{params}}}\n'.encode()


def answer(rest: str, head: str = '"jsonrpc":"2.0",') -> bytes:
    return f"{{{head}{rest}}}\n".encode()


NOTE = ("notification", "m", {"a": 1})
DEEP = "[" * 8 + "]" * 8
LONG = '{"a":"' + "x" * 400 + '"}'
PARSE = (-32700, None)
INVALID = (-32600, None)


@dataclass
class Case:
    """Input and outcome. Requests 1 and 2 of this side are open beforehand; the stream ends after the input."""

    row: str
    data: bytes
    events: list[Any]
    answers: list[Any] = field(default_factory=list)
    batches: bool = False
    answer_noise: bool = True
    limits: Limits = Limits()


def quiet(row: str, data: bytes, *events: Any) -> Case:
    return Case(row, data, list(events), answer_noise=False)


def batch(row: str, data: bytes, events: list[Any], replies: list[Any], limits: Limits = Limits()) -> Case:
    return Case(row, data, events, replies, batches=True, limits=limits)


NOISE_ROW = "noise"
BRACKET_ROW = "noise with brackets, `[tool] done`, `{tool} done`"
SCALAR_ROW = "number, string, true, false, null"
FOREIGN_ROW = "`{}` and objects without a member of JSON-RPC"
NUMBER_ROW = "a number that no float can hold"
ID_ROW = "id 0, negative, string, empty string"
BAD_ID_ROW = "fraction, exponent, true, object, array as id"

CASES = [
    Case("ended by CR LF", call()[:-1] + b"\r\n" + call(), [NOTE, NOTE]),
    Case("blank line", b"\n\r\n \t\n\n" + call() + b"\n", [NOTE]),
    Case("last line without a line feed", call()[:-1], [NOTE]),
    Case("last line cut short", call()[:-9], [("malformed", -32700)], [PARSE]),
    Case("last line cut short", call() + b"{", [NOTE, ("malformed", -32700)], [PARSE]),
    Case("byte order mark in front", b"\xef\xbb\xbf" + call(), [NOTE]),
    Case("byte order mark in front", b"\xef\xbb\xbf\r\n" + call(), [NOTE]),
    Case(NOISE_ROW, b"Welcome back\n" + call(), [("noise",), NOTE], [PARSE]),
    Case(NOISE_ROW, b"caf\xe9\n", [("noise",)], [PARSE]),
    quiet(NOISE_ROW, b"Welcome back\n\x1b[?25l\n-\n" + call(), ("noise",), ("noise",), ("noise",), NOTE),
    Case(BRACKET_ROW, b"[tool] done\n{tool} done\n[1/3] x\n", [("noise",)] * 3, [PARSE] * 3),
    quiet(BRACKET_ROW, b"[tool] done\n{tool} done\n[1/3] x\n\x1b[32m[boot]\x1b[0m ok\n", *[("noise",)] * 4),
    Case("broken object or array of objects", b"{\n" + call(), [("malformed", -32700), NOTE], [PARSE]),
    Case("broken object or array of objects", b'[{"id":1\n[\n', [("malformed", -32700)] * 2, [PARSE] * 2),
    Case("broken object or array of objects", call()[:-1] + call(), [("malformed", -32700)], [PARSE]),
    Case("broken object or array of objects", b'{"id":5,"resu\n', [("malformed", -32700)], [PARSE], answer_noise=False),
    Case("invalid UTF-8 in a message", call(params='{"a":"?"}').replace(b"?", b"\xff"), [("malformed", -32700)], [PARSE]),
    Case("invalid UTF-8 in a message", call("9").replace(b'"m"', b'"\xc3"') + call(), [("malformed", -32700), NOTE], [PARSE]),
    Case("invalid UTF-8 in a message", call("9").replace(b'"m"', b'"\xed\xa0\x80"'), [("malformed", -32700)], [PARSE]),
    Case("lone surrogate, escaped", call(params=r'{"a":"x\ud800y"}'), [("notification", "m", {"a": "x�y"})]),
    Case("lone surrogate, escaped", call(params=r'{"a":"\uDC00"}'), [("notification", "m", {"a": "�"})]),
    Case("lone surrogate, escaped", call(params=r'{"\ud83d":"\\\ud83d\\ud83d"}'), [("notification", "m", {"�": "\\�\\ud83d"})]),
    Case("escaped surrogate pair", call(params=r'{"a":"\ud83c\udf78 ok"}'), [("notification", "m", {"a": "🍸 ok"})]),
    Case(
        "escaped surrogate pair",
        call(params=r'{"a":"\ud83c\udf78\ud83c \ud83c\ud83c\udf78\udf78"}'),
        [("notification", "m", {"a": "🍸� �🍸�"})],
    ),
    Case("NaN, Infinity, control characters", call(params='{"a":NaN}'), [("malformed", -32700)], [PARSE]),
    Case("NaN, Infinity, control characters", call(params='{"a":-Infinity}'), [("malformed", -32700)], [PARSE]),
    Case("NaN, Infinity, control characters", call(params='{"a":"\t"}'), [("malformed", -32700)], [PARSE]),
    Case("NaN, Infinity, control characters", call()[:-1] + b"\0\n", [("malformed", -32700)], [PARSE]),
    Case(NUMBER_ROW, call(params='{"a":1e999}'), [("notification", "m", {"a": float("inf")})]),
    *(Case(SCALAR_ROW, text + b"\n", [("malformed", -32600)], [INVALID]) for text in (b"42", b'"x"', b"true", b"null")),
    quiet(SCALAR_ROW, b'42\n"ready"\nfalse\nnull\n' + call(), *[("noise",)] * 4, NOTE),
    Case("array, empty or not, batches off", b"[]\n" + call(), [("malformed", -32600), NOTE], [INVALID]),
    Case(
        "array, empty or not, batches off",
        b"[%b,%b]\n" % (call("7")[:-1], call("8")[:-1]) + call("9"),
        [("malformed", -32600), ("request", 9, "m", {"a": 1})],
        [INVALID],
    ),
    Case("array, empty or not, batches off", b"[1]\n", [("malformed", -32600)], [INVALID], answer_noise=False),
    Case(FOREIGN_ROW, b'{}\n{"foo":1}\n', [("malformed", -32600)] * 2, [INVALID] * 2),
    Case(FOREIGN_ROW, answer('"params":{}'), [("malformed", -32600)], [INVALID], answer_noise=False),
    Case("further members", call(head='"jsonrpc":"2.0","_meta":{"t":[1]},"x":null,'), [NOTE]),
    Case(
        "other order, other spacing, escaped names",
        b' { "params" : {"a" : 1} ,\t"meth\\u006fd":"m" , "id" : 9, "jsonrpc":"2.0" } \n',
        [("request", 9, "m", {"a": 1})],
    ),
    Case("member given twice", call(head='"jsonrpc":"1.0","method":"x","id":8,"jsonrpc":"2.0",', id="9"), [("request", 9, "m", {"a": 1})]),
    Case("request, `jsonrpc` absent or not `\"2.0\"`", call("9", head=""), [("malformed", -32600)], [(-32600, 9)]),
    Case("request, `jsonrpc` absent or not `\"2.0\"`", call('"q"', head='"jsonrpc":"1.0",'), [("malformed", -32600)], [(-32600, "q")]),
    Case("request, `jsonrpc` absent or not `\"2.0\"`", call("9", head='"jsonrpc":2.0,'), [("malformed", -32600)], [(-32600, 9)]),
    Case("notification, `jsonrpc` absent or not `\"2.0\"`", call(head="") + call("9"), [("malformed", -32600), ("request", 9, "m", {"a": 1})]),
    Case("answer, `jsonrpc` absent or not `\"2.0\"`", answer('"id":1,"result":3', head=""), [("result", 1, 3)]),
    Case("answer, `jsonrpc` absent or not `\"2.0\"`", answer('"id":1,"error":{"code":5,"message":"no"}', head='"jsonrpc":2,'), [("error", 1, 5, "no")]),
    Case("method is no string", answer('"id":1,"method":5'), [("malformed", -32600)], [(-32600, 1)]),
    Case("method is no string", answer('"method":null') + answer('"id":{},"method":[]'), [("malformed", -32600)] * 2, [INVALID] * 2),
    Case("params absent or null", call(params="null") + answer('"method":"m"'), [("notification", "m", None)] * 2),
    Case("params absent or null", answer('"id":9,"method":"m"'), [("request", 9, "m", None)]),
    Case("params array", call(params="[1,2]"), [("notification", "m", [1, 2])]),
    *(
        Case("request, params scalar", call("9", params), [("malformed", -32602)], [(-32602, 9)])
        for params in ('"x"', "7", "true")
    ),
    Case("notification, params scalar", call(params='"x"') + call(), [("malformed", -32602), NOTE]),
    Case("request with result or error", call("9", head='"jsonrpc":"2.0","result":1,'), [("malformed", -32600)], [(-32600, 9)]),
    Case("request with result or error", call("1", head='"jsonrpc":"2.0","error":{},'), [("malformed", -32600)], [(-32600, 1)]),
    *(
        Case(ID_ROW, call(id), [("request", json.loads(id), "m", {"a": 1})])
        for id in ("0", "-1", '"0"', '""', '"7b1e-uuid"', '"' + "x" * 40 + '"', "9007199254740993", '"é"')
    ),
    Case("id null", call("null"), [("request", None, "m", {"a": 1})]),
    Case("whole number beyond 64 bits as id", call("18446744073709551616"), [("request", 2**64, "m", {"a": 1})]),
    Case("whole number beyond 64 bits as id", call("-" + "9" * 500), [("request", 1 - 10**500, "m", {"a": 1})]),
    *(
        Case(BAD_ID_ROW, call(id), [("malformed", -32600)], [INVALID])
        for id in ("1.5", "1.0", "1e2", "true", "{}", "[1]")
    ),
    Case("id over `Limits.id_bytes`", call('"' + "x" * 19 + '"'), [("malformed", -32600)], [INVALID], limits=SMALL),
    Case("id over `Limits.id_bytes`", call("1" * 21), [("malformed", -32600)], [INVALID], limits=SMALL),
    Case("id over `Limits.id_bytes`", call("1" * 20), [("request", int("1" * 20), "m", {"a": 1})], limits=SMALL),
    Case("id over `Limits.id_bytes`", call("9" * 9000), [("malformed", -32600)], [INVALID]),
    Case("id over `Limits.id_bytes`", call('"' + "x" * 30 + '"', "3"), [("malformed", -32602)], [(-32602, None)], limits=SMALL),
    Case("id of a request that is still open", call("9") + call("9"), [("request", 9, "m", {"a": 1}), ("malformed", -32600)], [(-32600, 9)]),
    Case("ids 1 and \"1\" at once", call("9") + call('"9"') + call("null"), [("request", id, "m", {"a": 1}) for id in (9, "9", None)]),
    Case("own id, used by the peer", call("1") + answer('"id":1,"result":0'), [("request", 1, "m", {"a": 1}), ("result", 1, 0)]),
    Case(
        "request over `Limits.inbound_requests`",
        call("7") + call("8") + call("9"),
        [("request", 7, "m", {"a": 1}), ("request", 8, "m", {"a": 1}), ("malformed", -32603)],
        [(-32603, 9)],
        limits=SMALL,
    ),
    Case("result", answer('"id":2,"result":{"x":[1]}') + answer('"id":1,"result":null'), [("result", 2, {"x": [1]}), ("result", 1, None)]),
    Case("error", answer('"id":1,"error":{"code":-32000,"message":"Login","data":"d"}'), [("error", 1, -32000, "Login")]),
    Case("result and `\"error\":null`", answer('"id":1,"result":3,"error":null'), [("result", 1, 3)]),
    Case("result and error", answer('"id":1,"result":null,"error":{"code":5,"message":"no"}'), [("error", 1, 5, "no")]),
    Case("result and error", answer('"id":1,"result":3,"error":{"code":5,"message":"no"}'), [("error", 1, 5, "no")]),
    Case("error of a wrong shape", answer('"id":1,"error":{"code":"x","message":"no"}'), [("error", 1, -32603, "no")]),
    Case("error of a wrong shape", answer('"id":1,"error":{"code":5}'), [("error", 1, 5, "The peer gave no error message")]),
    Case("error of a wrong shape", answer('"id":1,"error":"gone"'), [("error", 1, -32603, "The peer answered with an error that is not an error object")]),
    Case("answer without result and error, id of an open request", answer('"id":1') + answer('"id":2,"error":null'), [("broken answer", 1), ("broken answer", 2)]),
    Case("id alone, no open request", answer('"id":9'), [("malformed", -32600)], [INVALID]),
    Case("answer under an unknown id, or a second one", answer('"id":99999,"result":1'), [("unexpected", 99999)]),
    Case("answer under an unknown id, or a second one", answer('"id":1,"result":1') * 2, [("result", 1, 1), ("unexpected", 1)]),
    Case("answer under the right number as a string", answer('"id":"1","result":1'), [("unexpected", "1")]),
    Case("answer under the right number as a string", answer('"id":1.0,"result":1') + answer('"id":true,"result":1'), [("unexpected", None)] * 2),
    Case("error under id null or without id", answer('"id":null,"error":{"code":-32700,"message":"P"}'), [("error", None, -32700, "P")]),
    Case("error under id null or without id", answer('"error":{"code":-32600,"message":"I"}'), [("error", None, -32600, "I")]),
    Case("result under id null or without id", answer('"id":null,"result":1') + answer('"result":1'), [("unexpected", None)] * 2),
    Case("request over `Limits.message_bytes`", call("9", LONG) + call(), [("malformed", -32600), NOTE], [(-32600, 9)], limits=SMALL),
    Case("request over `Limits.message_bytes`", call(params=LONG)[:-2] + b',"id":"q"}\n', [("malformed", -32600)], [(-32600, "q")], limits=SMALL),
    Case("request over `Limits.message_bytes`", call(params=LONG), [("malformed", -32600)], [INVALID], limits=SMALL),
    Case("request over `Limits.message_bytes`", call("9", LONG)[:-1], [("malformed", -32600)], [(-32600, 9)], limits=SMALL),
    Case("answer over `Limits.message_bytes`", answer(f'"id":1,"result":{LONG}'), [("oversized", 1, "message_bytes")], limits=SMALL),
    Case("answer over `Limits.message_bytes`", answer(f'"result":{LONG},"id":2'), [("oversized", 2, "message_bytes")], limits=SMALL),
    Case("answer over `Limits.message_bytes`", answer(f'"id":7,"result":{LONG}'), [("unexpected", 7)], limits=SMALL),
    Case("noise over `Limits.message_bytes`", b"x" * 400 + b"\n", [("noise",)], [PARSE], limits=SMALL),
    Case("request over `Limits.depth`", call("9", DEEP) + call(), [("malformed", -32600), NOTE], [(-32600, 9)], limits=SMALL),
    Case("request over `Limits.depth`", call(params=DEEP)[:-2] + b',"id":"q"}\r\n', [("malformed", -32600)], [(-32600, "q")], limits=SMALL),
    Case("request over `Limits.depth`", call("9", "[[[[]]]]"), [("request", 9, "m", [[[[]]]])], limits=SMALL),
    Case("request over `Limits.depth`", call("9", "[[[[[]]]]]"), [("malformed", -32600)], [(-32600, 9)], limits=SMALL),
    Case("notification over `Limits.depth`", call(params=DEEP) + call(), [("malformed", -32600), NOTE], limits=SMALL),
    Case("notification over `Limits.depth`", call(params='[{"id":1},' + DEEP[1:]), [("malformed", -32600)], [INVALID], limits=SMALL),
    Case("answer over `Limits.depth`", answer(f'"id":1,"result":{DEEP}'), [("oversized", 1, "depth")], limits=SMALL),
    Case("brackets inside strings", call(params=r'{"a":"[[[[[[[[[[{{{{{{{\"[[[[[[[[[[[[\\"}'), [("notification", "m", {"a": '[[[[[[[[[[{{{{{{{"[[[[[[[[[[[[\\'})], limits=SMALL),
    batch("batch", b"[" + call("7")[:-1] + b" , " + call()[:-1] + b"]\n", [("request", 7, "m", {"a": 1}), NOTE], []),
    batch("batch of notifications", b"[" + call()[:-1] + b"," + call()[:-1] + b"]\n", [NOTE, NOTE], []),
    batch("batch of answers", b'[{"id":2,"result":0},{"jsonrpc":"2.0","id":1,"result":1}]\n', [("result", 2, 0), ("result", 1, 1)], []),
    batch("batch with invalid members", b"[1,{},[2]]\n", [("malformed", -32600)] * 3, [[INVALID] * 3]),
    batch("batch with invalid members", b"[1," + call()[:-1] + b"]\n", [("malformed", -32600), NOTE], [[INVALID]]),
    batch("batch with an id twice", b"[%b,%b]\n" % (call("7")[:-1], call("7")[:-1]), [("request", 7, "m", {"a": 1}), ("malformed", -32600)], []),
    batch("empty batch", b"[]\n[ ]\n", [("malformed", -32600)] * 2, [INVALID] * 2),
    batch("broken batch", b"[" + call("7")[:-1] + b",\n", [("malformed", -32700)], [PARSE]),
    batch("batch over `Limits.batch_members`", b"[1,2,3,4,5]\n", [("malformed", -32600)], [INVALID], SMALL),
    batch("batch over `Limits.batch_members`", b"[[1,1,1,1,1],2,3,{}]\n", [("malformed", -32600)] * 4, [[INVALID] * 4], SMALL),
]  # fmt: skip


def run(case: Case, chunk: int) -> tuple[list[Any], bytes]:
    engine = Engine(case.limits, batches=case.batches, answer_noise=case.answer_noise)
    engine.request("a", None)
    engine.request("b", None)
    events: list[Any] = []
    for start in range(0, len(case.data), chunk):
        events += engine.receive(case.data[start : start + chunk])
    events += engine.end()
    return [plain(event) for event in events], engine.take_replies()


@pytest.mark.req(
    *("all-framing-07", "v1-framing-01", "v2-framing-01"),
    *(f"all-jsonrpc-{row}" for row in ("01", "04", "05", "06", "09", "10", "12", "13", "15", "16", "17", "18", "19")),
    *("v1-jsonrpc-01", "v2-jsonrpc-02", "v2-jsonrpc-03", "v2-jsonrpc-06", "v2-jsonrpc-08"),
)
@pytest.mark.parametrize("chunk", [1 << 20, 7, 1])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}: {case.data[:60]!r}")
def test_input(case: Case, chunk: int) -> None:
    events, sent = run(case, chunk)
    assert events == case.events
    assert answers(sent) == case.answers


def test_every_row_of_the_documentation_has_a_case() -> None:
    text = TABLE.read_text(encoding="utf-8").split("## Table")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(set(rows))
    assert {case.row for case in CASES} == set(rows)
