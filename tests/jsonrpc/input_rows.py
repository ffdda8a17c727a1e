"""Cases for each row of the table in docs/framing.md: what goes in, which events and which answers come out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from duologue.jsonrpc import Limits

DEFAULT = Limits()
SMALL = Limits(message_bytes=300, depth=5, id_bytes=20, inbound_requests=2, batch_members=4)


@dataclass
class Case:
    """Input and outcome. Requests 1 and 2 of this side are open beforehand; the stream ends after the input."""

    data: bytes
    events: list[Any]
    answers: list[Any] = field(default_factory=list)
    batches: bool = False
    answer_noise: bool = True
    limits: Limits = DEFAULT


def quiet(data: bytes, *events: Any) -> Case:
    return Case(data, list(events), answer_noise=False)


def batch(data: bytes, events: list[Any], answers: list[Any], limits: Limits = DEFAULT) -> Case:
    return Case(data, events, answers, batches=True, limits=limits)


# Lines. Ids and params are JSON text; `head` replaces the member that names the protocol.


def call(id: str, params: str = '{"a":1}', head: str = '"jsonrpc":"2.0",') -> bytes:
    return f'{{{head}"id":{id},"method":"m","params":{params}}}\n'.encode()


def note(params: str = '{"a":1}', head: str = '"jsonrpc":"2.0",') -> bytes:
    return f'{{{head}"method":"m","params":{params}}}\n'.encode()


def answer(rest: str, head: str = '"jsonrpc":"2.0",') -> bytes:
    return f"{{{head}{rest}}}\n".encode()


DEEP = "[" * 8 + "]" * 8
LONG = '{"a":"' + "x" * 400 + '"}'

# Outcomes.

NOISE = ("noise",)
NOTE = ("notification", "m", {"a": 1})
BROKEN = ("malformed", -32700)
BAD = ("malformed", -32600)
PARSE = (-32700, None)
INVALID = (-32600, None)


def request(id: Any) -> tuple[Any, ...]:
    return ("request", id, "m", {"a": 1})


ROWS: dict[str, list[Case]] = {
    "ended by CR LF": [Case(note()[:-1] + b"\r\n" + note(), [NOTE, NOTE])],
    "blank line": [Case(b"\n\r\n \t\n\n" + note() + b"\n", [NOTE])],
    "last line without a line feed": [Case(note()[:-1], [NOTE])],
    "last line cut short": [Case(note()[:-9], [BROKEN], [PARSE]), Case(note() + b"{", [NOTE, BROKEN], [PARSE])],
    "byte order mark in front": [
        Case(b"\xef\xbb\xbf" + note(), [NOTE]),
        Case(b"\xef\xbb\xbf\r\n" + note(), [NOTE]),
        Case(b"\xef\xbb\xbf \xef\xbb\xbf" * 5000 + note() + note(), [NOTE, NOTE]),
    ],
    "noise": [
        Case(b"Welcome back\n" + note(), [NOISE, NOTE], [PARSE]),
        Case(b"caf\xe9\n", [NOISE], [PARSE]),
        quiet(b"Welcome back\n\x1b[?25l\n-\n" + note(), NOISE, NOISE, NOISE, NOTE),
    ],
    "noise with brackets, `[tool] done`, `{tool} done`": [
        Case(b"[tool] done\n{tool} done\n[1/3] x\n", [NOISE] * 3, [PARSE] * 3),
        quiet(b"[tool] done\n{tool} done\n[1/3] x\n\x1b[32m[boot]\x1b[0m ok\n", *[NOISE] * 4),
    ],
    "broken object or array of objects": [
        Case(b"{\n" + note(), [BROKEN, NOTE], [PARSE]),
        Case(b'[{"id":1\n[\n', [BROKEN] * 2, [PARSE] * 2),
        Case(note()[:-1] + note(), [BROKEN], [PARSE]),
        Case(b'{"id":5,"resu\n', [BROKEN], [PARSE], answer_noise=False),
    ],
    "invalid UTF-8 in a message": [
        Case(note('{"a":"?"}').replace(b"?", b"\xff"), [BROKEN], [PARSE]),
        Case(call("9").replace(b'"m"', b'"\xc3"') + note(), [BROKEN, NOTE], [PARSE]),
        Case(call("9").replace(b'"m"', b'"\xed\xa0\x80"'), [BROKEN], [PARSE]),
    ],
    "lone surrogate, escaped": [
        Case(note('{"a":"x\\ud800y"}'), [("notification", "m", {"a": "x�y"})]),
        Case(note('{"a":"\\uDC00"}'), [("notification", "m", {"a": "�"})]),
        Case(note('{"\\ud83d":"\\\\\\ud83d\\\\ud83d"}'), [("notification", "m", {"�": "\\�\\ud83d"})]),
    ],
    "escaped surrogate pair": [
        Case(note('{"a":"\\ud83c\\udf78 ok"}'), [("notification", "m", {"a": "🍸 ok"})]),
        Case(
            note('{"a":"\\ud83c\\udf78\\ud83c \\ud83c\\ud83c\\udf78\\udf78"}'),
            [("notification", "m", {"a": "🍸� �🍸�"})],
        ),
    ],
    "NaN, Infinity, control characters": [
        Case(note('{"a":NaN}'), [BROKEN], [PARSE]),
        Case(note('{"a":-Infinity}'), [BROKEN], [PARSE]),
        Case(note('{"a":"\t"}'), [BROKEN], [PARSE]),
        Case(note()[:-1] + b"\x00\n", [BROKEN], [PARSE]),
    ],
    "a number that no float can hold": [Case(note('{"a":1e999}'), [("notification", "m", {"a": float("inf")})])],
    "number, string, true, false, null": [
        *(Case(text + b"\n", [BAD], [INVALID]) for text in (b"42", b'"x"', b"true", b"null")),
        quiet(b'42\n"ready"\nfalse\nnull\n' + note(), *[NOISE] * 4, NOTE),
    ],
    "array, empty or not, batches off": [
        Case(b"[]\n" + note(), [BAD, NOTE], [INVALID]),
        Case(b"[%b,%b]\n" % (call("7")[:-1], call("8")[:-1]) + call("9"), [BAD, request(9)], [INVALID]),
        Case(b"[1]\n", [BAD], [INVALID], answer_noise=False),
    ],
    "`{}` and objects without a member of JSON-RPC": [
        Case(b'{}\n{"foo":1}\n', [BAD] * 2, [INVALID] * 2),
        Case(answer('"params":{}'), [BAD], [INVALID], answer_noise=False),
    ],
    "further members": [Case(note(head='"jsonrpc":"2.0","_meta":{"t":[1]},"x":null,'), [NOTE])],
    "other order, other spacing, escaped names": [
        Case(b' { "params" : {"a" : 1} ,\t"meth\\u006fd":"m" , "id" : 9, "jsonrpc":"2.0" } \n', [request(9)])
    ],
    "member given twice": [Case(call("9", head='"jsonrpc":"1.0","method":"x","id":8,"jsonrpc":"2.0",'), [request(9)])],
    'request, `jsonrpc` absent or not `"2.0"`': [
        Case(call("9", head=""), [BAD], [(-32600, 9)]),
        Case(call('"q"', head='"jsonrpc":"1.0",'), [BAD], [(-32600, "q")]),
        Case(call("9", head='"jsonrpc":2.0,'), [BAD], [(-32600, 9)]),
    ],
    'notification, `jsonrpc` absent or not `"2.0"`': [Case(note(head="") + call("9"), [BAD, request(9)])],
    'answer, `jsonrpc` absent or not `"2.0"`': [
        Case(answer('"id":1,"result":3', head=""), [("result", 1, 3)]),
        Case(answer('"id":1,"error":{"code":5,"message":"no"}', head='"jsonrpc":2,'), [("error", 1, 5, "no")]),
    ],
    "method is no string": [
        Case(answer('"id":1,"method":5'), [BAD], [(-32600, 1)]),
        Case(answer('"method":null') + answer('"id":{},"method":[]'), [BAD] * 2, [INVALID] * 2),
    ],
    "params absent or null": [
        Case(note("null") + answer('"method":"m"'), [("notification", "m", None)] * 2),
        Case(answer('"id":9,"method":"m"'), [("request", 9, "m", None)]),
    ],
    "params array": [Case(note("[1,2]"), [("notification", "m", [1, 2])])],
    "request, params scalar": [
        *(Case(call("9", params), [("malformed", -32602)], [(-32602, 9)]) for params in ('"x"', "7", "true"))
    ],
    "notification, params scalar": [Case(note('"x"') + note(), [("malformed", -32602), NOTE])],
    "request with result or error": [
        Case(call("9", head='"jsonrpc":"2.0","result":1,'), [BAD], [(-32600, 9)]),
        Case(call("1", head='"jsonrpc":"2.0","error":{},'), [BAD], [(-32600, 1)]),
    ],
    "id 0, negative, string, empty string": [
        *(
            Case(call(id), [request(json.loads(id))])
            for id in ("0", "-1", '"0"', '""', '"7b1e-uuid"', '"' + "x" * 40 + '"', "9007199254740993", '"é"')
        )
    ],
    "id null": [Case(call("null"), [request(None)])],
    "whole number beyond 64 bits as id": [
        Case(call("18446744073709551616"), [request(2**64)]),
        Case(call("-" + "9" * 500), [request(1 - 10**500)]),
    ],
    "fraction, exponent, true, object, array as id": [
        *(Case(call(id), [BAD], [INVALID]) for id in ("1.5", "1.0", "1e2", "true", "{}", "[1]"))
    ],
    "id over `Limits.id_bytes`": [
        Case(call('"' + "x" * 19 + '"'), [BAD], [INVALID], limits=SMALL),
        Case(call("1" * 21), [BAD], [INVALID], limits=SMALL),
        Case(call("1" * 20), [request(int("1" * 20))], limits=SMALL),
        Case(call("9" * 9000), [BAD], [INVALID]),
        Case(call('"' + "x" * 30 + '"', "3"), [("malformed", -32602)], [(-32602, None)], limits=SMALL),
    ],
    "id of a request that is still open": [Case(call("9") + call("9"), [request(9), BAD], [(-32600, 9)])],
    'ids 1 and "1" at once': [Case(call("9") + call('"9"') + call("null"), [request(id) for id in (9, "9", None)])],
    "own id, used by the peer": [Case(call("1") + answer('"id":1,"result":0'), [request(1), ("result", 1, 0)])],
    "request over `Limits.inbound_requests`": [
        Case(
            call("7") + call("8") + call("9"),
            [request(7), request(8), ("malformed", -32603)],
            [(-32603, 9)],
            limits=SMALL,
        )
    ],
    "result": [
        Case(
            answer('"id":2,"result":{"x":[1]}') + answer('"id":1,"result":null'),
            [("result", 2, {"x": [1]}), ("result", 1, None)],
        )
    ],
    "error": [
        Case(answer('"id":1,"error":{"code":-32000,"message":"Login","data":"d"}'), [("error", 1, -32000, "Login")])
    ],
    'result and `"error":null`': [Case(answer('"id":1,"result":3,"error":null'), [("result", 1, 3)])],
    "result and error": [
        Case(answer('"id":1,"result":null,"error":{"code":5,"message":"no"}'), [("error", 1, 5, "no")]),
        Case(answer('"id":1,"result":3,"error":{"code":5,"message":"no"}'), [("error", 1, 5, "no")]),
    ],
    "error of a wrong shape": [
        Case(answer('"id":1,"error":{"code":"x","message":"no"}'), [("error", 1, -32603, "no")]),
        Case(answer('"id":1,"error":{"code":5}'), [("error", 1, 5, "The peer gave no error message")]),
        Case(
            answer('"id":1,"error":"gone"'),
            [("error", 1, -32603, "The peer answered with an error that is not an error object")],
        ),
    ],
    "answer without result and error, id of an open request": [
        Case(answer('"id":1') + answer('"id":2,"error":null'), [("broken answer", 1), ("broken answer", 2)])
    ],
    "id alone, no open request": [Case(answer('"id":9'), [BAD], [INVALID])],
    "answer under an unknown id, or a second one": [
        Case(answer('"id":99999,"result":1'), [("unexpected", 99999)]),
        Case(answer('"id":1,"result":1') * 2, [("result", 1, 1), ("unexpected", 1)]),
    ],
    "answer under the right number as a string": [
        Case(answer('"id":"1","result":1'), [("unexpected", "1")]),
        Case(answer('"id":1.0,"result":1') + answer('"id":true,"result":1'), [("unexpected", None)] * 2),
    ],
    "error under id null or without id": [
        Case(answer('"id":null,"error":{"code":-32700,"message":"P"}'), [("error", None, -32700, "P")]),
        Case(answer('"error":{"code":-32600,"message":"I"}'), [("error", None, -32600, "I")]),
    ],
    "result under id null or without id": [
        Case(answer('"id":null,"result":1') + answer('"result":1'), [("unexpected", None)] * 2)
    ],
    "request over `Limits.message_bytes`": [
        Case(call("9", LONG) + note(), [BAD, NOTE], [(-32600, 9)], limits=SMALL),
        Case(note(LONG)[:-2] + b',"id":"q"}\n', [BAD], [(-32600, "q")], limits=SMALL),
        Case(note(LONG), [BAD], [INVALID], limits=SMALL),
        Case(call("9", LONG)[:-1], [BAD], [(-32600, 9)], limits=SMALL),
    ],
    "answer over `Limits.message_bytes`": [
        Case(answer(f'"id":1,"result":{LONG}'), [("oversized", 1, "message_bytes")], limits=SMALL),
        Case(answer(f'"result":{LONG},"id":2'), [("oversized", 2, "message_bytes")], limits=SMALL),
        Case(answer(f'"id":7,"result":{LONG}'), [("unexpected", 7)], limits=SMALL),
    ],
    "anything else that looks like a message, over `Limits.message_bytes`": [
        Case(answer(f'"id":1,"foo":{LONG}') + note(), [BAD, NOTE], [INVALID], limits=SMALL),
        Case(b"[" + answer(f'"id":1,"result":{LONG}')[:-1] + b"]\n", [BAD], [INVALID], limits=SMALL),
        Case(b"{" + b" " * 400 + b"\n", [BAD], [INVALID], limits=SMALL),
    ],
    "noise over `Limits.message_bytes`": [Case(b"x" * 400 + b"\n", [NOISE], [PARSE], limits=SMALL)],
    "request over `Limits.depth`": [
        Case(call("9", DEEP) + note(), [BAD, NOTE], [(-32600, 9)], limits=SMALL),
        Case(note(DEEP)[:-2] + b',"id":"q"}\r\n', [BAD], [(-32600, "q")], limits=SMALL),
        Case(call("9", "[[[[]]]]"), [("request", 9, "m", [[[[]]]])], limits=SMALL),
        Case(call("9", "[[[[[]]]]]"), [BAD], [(-32600, 9)], limits=SMALL),
    ],
    "notification over `Limits.depth`": [
        Case(note(DEEP) + note(), [BAD, NOTE], limits=SMALL),
        Case(note('[{"id":1},' + DEEP[1:]), [BAD], [INVALID], limits=SMALL),
    ],
    "answer over `Limits.depth`": [Case(answer(f'"id":1,"result":{DEEP}'), [("oversized", 1, "depth")], limits=SMALL)],
    "brackets inside strings": [
        Case(
            note('{"a":"[[[[[[[[[[{{{{{{{\\"[[[[[[[[[[[[\\\\"}'),
            [("notification", "m", {"a": '[[[[[[[[[[{{{{{{{"[[[[[[[[[[[[\\'})],
            limits=SMALL,
        )
    ],
    "batch": [batch(b"[" + call("7")[:-1] + b" , " + note()[:-1] + b"]\n", [request(7), NOTE], [])],
    "batch of notifications": [batch(b"[" + note()[:-1] + b"," + note()[:-1] + b"]\n", [NOTE, NOTE], [])],
    "batch of answers": [
        batch(b'[{"id":2,"result":0},{"jsonrpc":"2.0","id":1,"result":1}]\n', [("result", 2, 0), ("result", 1, 1)], [])
    ],
    "batch with invalid members": [
        batch(b"[1,{},[2]]\n", [BAD] * 3, [[INVALID] * 3]),
        batch(b"[1," + note()[:-1] + b"]\n", [BAD, NOTE], [[INVALID]]),
    ],
    "batch with an id twice": [batch(b"[%b,%b]\n" % (call("7")[:-1], call("7")[:-1]), [request(7), BAD], [])],
    "empty batch": [batch(b"[]\n[ ]\n", [BAD] * 2, [INVALID] * 2)],
    "broken batch": [batch(b"[" + call("7")[:-1] + b",\n", [BROKEN], [PARSE])],
    "batch over `Limits.batch_members`": [
        batch(b"[1,2,3,4,5]\n", [BAD], [INVALID], SMALL),
        batch(b"[[1,1,1,1,1],2,3,{}]\n", [BAD] * 4, [[INVALID] * 4], SMALL),
    ],
}

#: The rows of the protocol matrix that a row here proves.
PROVES: dict[str, tuple[str, ...]] = {
    "ended by CR LF": ("all-framing-07",),
    "last line cut short": ("all-jsonrpc-04",),
    "noise": ("all-jsonrpc-18",),
    "broken object or array of objects": ("all-jsonrpc-04", "all-jsonrpc-18"),
    "number, string, true, false, null": ("all-jsonrpc-05",),
    "array, empty or not, batches off": ("v1-jsonrpc-01", "v1-framing-01"),
    "`{}` and objects without a member of JSON-RPC": ("all-jsonrpc-05",),
    'request, `jsonrpc` absent or not `"2.0"`': ("all-jsonrpc-01",),
    'notification, `jsonrpc` absent or not `"2.0"`': ("all-jsonrpc-06",),
    "method is no string": ("all-jsonrpc-05",),
    "params absent or null": ("all-jsonrpc-17",),
    "request, params scalar": ("all-jsonrpc-16",),
    "notification, params scalar": ("all-jsonrpc-06",),
    "id null": ("all-jsonrpc-12",),
    "fraction, exponent, true, object, array as id": ("all-jsonrpc-10",),
    "own id, used by the peer": ("all-jsonrpc-13",),
    "result": ("all-jsonrpc-15",),
    "error": ("all-jsonrpc-09",),
    "answer under an unknown id, or a second one": ("all-jsonrpc-19",),
    "batch": ("v2-framing-01", "v2-jsonrpc-01"),
    "batch of notifications": ("v2-jsonrpc-06",),
    "batch of answers": ("v2-jsonrpc-08",),
    "batch with invalid members": ("v2-jsonrpc-07",),
    "empty batch": ("v2-jsonrpc-03",),
    "broken batch": ("v2-jsonrpc-02",),
}
