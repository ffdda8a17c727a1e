"""Stands in for a paid model: a local server that speaks the streaming formats of OpenAI (chat completions and
responses), Anthropic messages and Gemini, and does what directives in the last user message say.

    [[say TEXT]]             the answer's text
    [[think TEXT]]           a thought before it
    [[call NAME JSON]]       call a tool; the n-th one is called after n results
    [[slow COUNT SECONDS]]   COUNT pieces of text, with a pause before each
    [[fail STATUS]]          an HTTP error

Requests that offer no tools (titles, classifiers) get a plain answer.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Json = dict[str, Any]

_DIRECTIVE = re.compile(r"\[\[(say|think|call|slow|fail) (.*?)\]\](?!\])", re.DOTALL)
_numbers = count(1)


@dataclass
class Reply:
    """What one request is answered with."""

    text: str = "Hello from the scripted model."
    thought: str = ""
    call: tuple[str, Json] | None = None
    pieces: int = 2
    pause: float = 0.0
    status: int = 200

    def parts(self) -> Iterator[str]:
        """The text in pieces, each after its pause."""
        if self.pause:
            for number in range(self.pieces):
                time.sleep(self.pause)
                yield f"piece {number} "
            return
        middle = len(self.text) // 2
        yield from (part for part in (self.text[:middle], self.text[middle:]) if part)


def reply_to(text: str, results: int, tools: bool) -> Reply:
    """The reply to a last user message that `results` tool results have followed."""
    reply = Reply()
    if not tools:
        return reply
    calls = []
    for kind, value in _DIRECTIVE.findall(text):
        if kind == "say":
            reply.text = value
        elif kind == "think" and results == 0:
            reply.thought = value
        elif kind == "call":
            name, _, arguments = value.partition(" ")
            calls.append((name, json.loads(arguments or "{}")))
        elif kind == "slow":
            pieces, pause = value.split()
            reply.pieces, reply.pause = int(pieces), float(pause)
        elif kind == "fail":
            reply.status = int(value)
    if results < len(calls):
        reply.call, reply.text = calls[results], "I use a tool."
    return reply


def _id(prefix: str) -> str:
    return f"{prefix}_{next(_numbers)}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


# --- the formats: how to read a request, and how to stream a reply ----------------------------------------------------

Send = Callable[..., None]


def read_chat(body: Json) -> tuple[str, int, bool]:
    text, results = "", 0
    for message in body["messages"]:
        if message["role"] == "user":
            text, results = _text(message.get("content")), 0
        elif message["role"] == "tool":
            results += 1
    return text, results, bool(body.get("tools"))


def stream_chat(body: Json, reply: Reply, send: Send) -> None:
    head = {"id": _id("chat"), "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}

    def delta(finish: str | None = None, **members: Any) -> None:
        send({**head, "choices": [{"index": 0, "delta": members, "finish_reason": finish}]})

    delta(role="assistant", content="")
    if reply.thought:
        delta(reasoning_content=reply.thought)
    for part in reply.parts():
        delta(content=part)
    if reply.call:
        name, arguments = reply.call
        function = {"name": name, "arguments": json.dumps(arguments)}
        delta(tool_calls=[{"index": 0, "id": _id("call"), "type": "function", "function": function}])
    delta("tool_calls" if reply.call else "stop")
    send({**head, "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
    send("[DONE]")


def whole_chat(body: Json, reply: Reply) -> Json:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    head = {"id": _id("chat"), "object": "chat.completion", "created": 1, "model": body.get("model")}
    return {**head, "choices": [choice], "usage": usage}


def read_responses(body: Json) -> tuple[str, int, bool]:
    text, results = "", 0
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    for item in items:
        if item.get("type", "message") == "message" and item.get("role") == "user":
            text, results = _text(item["content"]), 0
        elif str(item.get("type")).endswith("_call_output"):
            results += 1
    return text, results, bool(body.get("tools"))


def stream_responses(body: Json, reply: Reply, send: Send) -> None:
    response: Json = {"id": _id("resp"), "object": "response", "created_at": 1, "model": body.get("model")}
    response["output"] = []
    sequence = count()
    output: list[Json] = []

    def event(type: str, **members: Any) -> None:
        send({"type": type, "sequence_number": next(sequence), **members}, type)

    def item(whole: Json, begun: Json | None = None, between: Callable[[int], None] | None = None) -> None:
        index = len(output)
        event("response.output_item.added", output_index=index, item=begun or whole)
        if between:
            between(index)
        event("response.output_item.done", output_index=index, item=whole)
        output.append(whole)

    def speak(index: int) -> None:
        at = {"item_id": message["id"], "output_index": index, "content_index": 0}
        event("response.content_part.added", **at, part={"type": "output_text", "text": "", "annotations": []})
        for part in reply.parts():
            said.append(part)
            event("response.output_text.delta", **at, delta=part)
        event("response.output_text.done", **at, text="".join(said))
        message["content"] = [{"type": "output_text", "text": "".join(said), "annotations": []}]

    def think(index: int) -> None:
        at = {"item_id": thought["id"], "output_index": index, "summary_index": 0}
        event("response.reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""})
        event("response.reasoning_summary_text.delta", **at, delta=reply.thought)

    event("response.created", response={**response, "status": "in_progress"})
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        thought: Json = {"type": "reasoning", "id": _id("rs"), "summary": summary}
        item(thought, {**thought, "summary": []}, think)
    said: list[str] = []
    message: Json = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": []}
    item(message, {**message, "status": "in_progress"}, speak)
    if reply.call:
        name, arguments = reply.call
        call = {"id": _id("fc"), "call_id": _id("call"), "name": name, "status": "completed"}
        if isinstance(arguments.get("input"), str) and len(arguments) == 1:
            item({"type": "custom_tool_call", **call, "input": arguments["input"]})
        else:
            item({"type": "function_call", **call, "arguments": json.dumps(arguments)})
    usage: Json = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    event("response.completed", response={**response, "status": "completed", "output": output, "usage": usage})


def read_messages(body: Json) -> tuple[str, int, bool]:
    text, results = "", 0
    for message in body["messages"]:
        content = message["content"]
        if message["role"] != "user":
            continue
        answers = 0 if isinstance(content, str) else sum(part.get("type") == "tool_result" for part in content)
        if answers:
            results += answers
        else:
            text, results = _text(content), 0
    return text, results, bool(body.get("tools"))


def stream_messages(body: Json, reply: Reply, send: Send) -> None:
    usage = {"input_tokens": 100, "output_tokens": 1}
    blocks = count()

    def event(type: str, **members: Any) -> None:
        send({"type": type, **members}, type)

    def block(begun: Json, *deltas: Json) -> None:
        index = next(blocks)
        event("content_block_start", index=index, content_block=begun)
        for delta in deltas:
            event("content_block_delta", index=index, delta=delta)
        event("content_block_stop", index=index)

    message: Json = {"id": _id("msg"), "type": "message", "role": "assistant", "model": body.get("model")}
    message["content"] = []
    event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if reply.thought:
        thinking = {"type": "thinking_delta", "thinking": reply.thought}
        signature = {"type": "signature_delta", "signature": "c2ln"}
        block({"type": "thinking", "thinking": "", "signature": ""}, thinking, signature)
    index = next(blocks)
    event("content_block_start", index=index, content_block={"type": "text", "text": ""})
    for part in reply.parts():
        event("content_block_delta", index=index, delta={"type": "text_delta", "text": part})
    event("content_block_stop", index=index)
    if reply.call:
        name, arguments = reply.call
        begun = {"type": "tool_use", "id": _id("toolu"), "name": name, "input": {}}
        block(begun, {"type": "input_json_delta", "partial_json": json.dumps(arguments)})
    end = {"stop_reason": "tool_use" if reply.call else "end_turn", "stop_sequence": None}
    event("message_delta", delta=end, usage={"output_tokens": 20})
    event("message_stop")


def whole_messages(body: Json, reply: Reply) -> Json:
    message = {"id": _id("msg"), "type": "message", "role": "assistant", "model": body.get("model")}
    content = [{"type": "text", "text": reply.text}]
    usage = {"input_tokens": 100, "output_tokens": 20}
    return {**message, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def read_gemini(body: Json) -> tuple[str, int, bool]:
    text, results = "", 0
    for content in body.get("contents", ()):
        if content.get("role") not in ("user", "function"):
            continue
        parts = content.get("parts", ())
        answers = sum("functionResponse" in part for part in parts)
        if answers:
            results += answers
        else:
            text, results = _text(parts), 0
    return text, results, any("functionDeclarations" in tool for tool in body.get("tools") or ())


def _gemini(parts: list[Json], finish: str | None = None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def stream_gemini(body: Json, reply: Reply, send: Send) -> None:
    if reply.thought:
        send(_gemini([{"text": reply.thought, "thought": True}]))
    for part in reply.parts():
        send(_gemini([{"text": part}]))
    name, arguments = reply.call or ("", {})
    last: Json = {"functionCall": {"name": name, "args": arguments, "id": _id("fc")}} if reply.call else {"text": ""}
    send(_gemini([last], "STOP"))


def whole_gemini(body: Json, reply: Reply) -> Json:
    settings = body.get("generationConfig") or {}
    wants_json = settings.get("responseMimeType") == "application/json" or settings.get("responseJsonSchema")
    answer = {"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1}
    return _gemini([{"text": json.dumps(answer) if wants_json else reply.text}], "STOP")


@dataclass(frozen=True)
class Format:
    """One wire format; `whole` answers requests that ask for no stream."""

    read: Callable[[Json], tuple[str, int, bool]]
    stream: Callable[[Json, Reply, Send], None]
    whole: Callable[[Json, Reply], Json] | None = None

    def streams(self, path: str, body: Json) -> bool:
        return "stream" in path.lower() or bool(body.get("stream")) or self.whole is None


FORMATS = {
    "/chat/completions": Format(read_chat, stream_chat, whole_chat),
    "/responses": Format(read_responses, stream_responses),
    "/messages": Format(read_messages, stream_messages, whole_messages),
    "generatecontent": Format(read_gemini, stream_gemini, whole_gemini),
}


def format_of(path: str) -> Format | None:
    path = path.split("?")[0].lower()
    return next((form for end, form in FORMATS.items() if path.endswith(end)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._whole({})

    def do_GET(self) -> None:
        model = {"id": "scripted-model", "object": "model", "type": "model", "display_name": "Scripted", "created": 1}
        models = [{"slug": "scripted-model", "name": "models/scripted-model"}]
        self._whole({"object": "list", "data": [model], "models": models, "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        form = format_of(self.path)
        if form is None:
            self._whole({"input_tokens": 10, "totalTokens": 10})
            return
        text, results, tools = form.read(body)
        self.owner.asked.append({"path": self.path, "text": text[-500:], "results": results, "body": body})
        reply = reply_to(self.owner.understand(text), results, tools)
        try:
            if reply.status != 200:
                self._whole({"error": {"message": "scripted failure", "type": "scripted"}}, reply.status)
            elif form.whole is not None and not form.streams(self.path, body):
                self._whole(form.whole(body, reply))
            else:
                self._begin_stream()
                form.stream(body, reply, self._event)
        except OSError:
            # The agent cancelled its request.
            self.close_connection = True

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().strip() or b"0", 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(pieces)
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body

    def _whole(self, value: Json, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _begin_stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def _event(self, value: Json | str, name: str = "") -> None:
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())
        self.wfile.flush()


@dataclass
class ModelServer:
    """The running server. `asked` holds what it was asked, in order; `understand` makes directives of other words."""

    understand: Callable[[str], str] = lambda text: text
    asked: list[Json] = field(default_factory=list)

    def __enter__(self) -> ModelServer:
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"
