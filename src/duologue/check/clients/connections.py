"""What a client makes of bytes, JSON-RPC and batches, while its prompt runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.check.agents.batches import empty_batch, mixed_batch, silent_batch
from duologue.check.clients.bench import SESSION, ClientBench
from duologue.check.judging import demand, left_to_others, probe
from duologue.check.record import Said
from duologue.check.watching.methods import RUMOURED
from duologue.check.wire import Wire, as_line
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side
from duologue.protocol.version import V1, V2, added

CLIENT = Side.CLIENT


async def told(wire: Wire, *messages: Any, want: Callable[[list[Said]], object] | None = None) -> list[Said]:
    """What is answered to messages before and shortly after the next answer; `want` says what is waited for."""
    since = len(wire.talk.said)
    wire.send(*messages)
    barrier = await wire.barrier()

    def others() -> list[Said]:
        return [said for said in wire.talk.heard(since) if said.answers and said.line is not barrier.line]

    if want is not None:
        await wire.look(lambda: want(others()) or None)
    return others()


@probe(CLIENT, "all-framing-06")
async def takes_bytes_one_by_one(bench: ClientBench) -> None:
    bench.pieces = 1
    bench.introduction["_meta"] = {"duologue": "é 你好 🙂"}
    wire = await bench.start()
    await wire.wait(
        lambda: any(said.method == "session/new" for said in wire.talk.theirs) or None,
        "no session is opened after an answer that came in pieces",
    )


@probe(CLIENT, "all-framing-07")
async def takes_many_at_once(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    requests = [wire.request("_duologue/check", {"number": number}) for number in range(5)]
    wire.send(*requests)
    for request in requests:
        await wire.answer(request)


@probe(CLIENT, "all-jsonrpc-06")
async def answers_no_notification(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await left_to_others(
        told(wire, wire.tell("unknown/duologue"), wire.tell("session/update", {"update": 5}))
    )
    demand(not answers, "a notification is answered", *answers)


@probe(CLIENT, "all-jsonrpc-07", "all-extensibility-07")
async def knows_not_what_it_has_not(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    own = await wire.ask("_duologue/unknown", {"anything": True})
    problem = "" if own.code == ErrorCode.METHOD_NOT_FOUND else "a method of someone else is not answered with -32601"
    bench.note("all-extensibility-07", problem, own)
    answer = await wire.ask("unknown/duologue")
    demand(answer.code == ErrorCode.METHOD_NOT_FOUND, "an unknown method is not answered with -32601", answer)


@probe(CLIENT, "all-jsonrpc-08", "all-permissions-03")
async def refuses_wrong_params(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answer = await wire.ask("session/request_permission", {"sessionId": 5})
    bad = {
        "sessionId": SESSION,
        "title": "May I?",
        "toolCall": {"toolCallId": "c1"},
        "options": [{"name": 5}],
    }
    options = await wire.ask("session/request_permission", bad)
    problem = (
        ""
        if options.code == ErrorCode.INVALID_PARAMS
        else "a question with malformed options is not answered with -32602"
    )
    bench.note("all-permissions-03", problem, options)
    demand(answer.code == ErrorCode.INVALID_PARAMS, "wrong params are not answered with -32602", answer)


@probe(CLIENT, "all-jsonrpc-12")
async def answers_under_null(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, {"jsonrpc": "2.0", "id": None, "method": "unknown/duologue"}, want=len)
    demand(answers, "a request under the id null is not answered")


@probe(CLIENT, "all-jsonrpc-18")
async def survives_bad_lines(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    wire.send(b"no json\n", b'{"jsonrpc":"2.0","method":"session/upd\n', b"\xff\xfe\n", b"\n", b"42\n", b"null\n")
    wire.send(wire.tell("session/update", {"update": 5}))
    await wire.barrier()


@probe(CLIENT, "all-jsonrpc-19")
async def passes_over_stray_answers(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, {"jsonrpc": "2.0", "id": "duologue-nobody-asked", "result": {}})
    demand(not answers, "an answer that nobody asked for is answered", *answers)


@probe(CLIENT, "all-jsonrpc-21")
async def serves_no_rumours(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    for method in RUMOURED:
        answer = await wire.ask(method, {"sessionId": SESSION})
        demand("error" in answer.json, f"{method} is served and not ACP", answer)


@probe(CLIENT, "v1-jsonrpc-01")
async def survives_a_batch(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    wire.send(as_line([wire.request("_duologue/check"), wire.request("_duologue/check")]))
    await wire.barrier()


@probe(CLIENT, "v2-framing-01")
async def takes_batches(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    request = wire.request("_duologue/check")
    wire.send(as_line([request]))
    await wire.answer(request)


@probe(CLIENT, "v2-jsonrpc-03")
async def refuses_the_empty_batch(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    await empty_batch(wire)


@probe(CLIENT, "v2-jsonrpc-04", "v2-jsonrpc-05", "v2-jsonrpc-07")
async def answers_in_one_array(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    await mixed_batch(bench, wire)


@probe(CLIENT, "v2-jsonrpc-06")
async def answers_no_notices(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    await silent_batch(wire)


@probe(CLIENT, "all-jsonrpc-05")
async def answers_what_is_no_message(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, {"jsonrpc": "2.0", "id": 901, "method": 5}, want=len)
    demand(
        [a.code for a in answers] == [ErrorCode.INVALID_REQUEST],
        "what is no message is not answered with -32600",
        *answers,
    )


@probe(CLIENT, "all-jsonrpc-13")
async def numbers_apart(bench: ClientBench) -> None:
    """A request under the id that the client's own prompt has open."""
    wire, prompt = await bench.prompted()
    id = prompt.json["id"]
    wire.send({"jsonrpc": "2.0", "id": id, "method": "_duologue/check", "params": {}})
    await wire.answer({"id": id, "method": "a request under an id that the client uses too"})


@probe(CLIENT, "v2-versioning-04")
async def serves_one_version_only(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    for name in sorted(key.name for key in added(V2, V1) if key.receiver is CLIENT and key.answered):
        answer = await wire.ask(name, {"sessionId": SESSION, "path": "/x", "command": "true"})
        demand(answer.code == ErrorCode.METHOD_NOT_FOUND, f"{name} is served in version 2", answer)


@probe(CLIENT, "all-cancellation-09")
async def answers_once(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    request = wire.request("_duologue/check")
    wire.send(request, wire.tell("$/cancel_request", {"requestId": request["id"]}))
    await wire.answer(request)
    await wire.barrier()
    answers = [said for said in wire.talk.theirs if said.answers and said.json.get("id") == request["id"]]
    demand(len(answers) == 1, "a request that was taken back is answered twice", *answers)


@probe(CLIENT, "all-elicitation-27")
async def passes_over_completions(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, wire.tell("elicitation/complete", {"elicitationId": "duologue-nothing"}))
    demand(not answers, "a completion of what is unknown is answered", *answers)


@probe(CLIENT, "all-extensibility-08")
async def passes_over_notices_of_others(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, wire.tell("_duologue/notice", {"anything": True}))
    demand(not answers, "a notification of someone else is answered", *answers)


@probe(CLIENT, "all-cancellation-10")
async def passes_over_notices_of_the_protocol(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, wire.tell("$/duologue"))
    demand(not answers, "an unknown notification below $/ is answered", *answers)


@probe(CLIENT, "all-cancellation-11")
async def takes_back_nothing(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    answers = await told(wire, wire.tell("$/cancel_request", {"requestId": "duologue-no-request"}))
    demand(not answers, "taking back what is unknown is answered", *answers)


@probe(CLIENT, "v1-prompt-10")
async def serves_during_its_prompt(bench: ClientBench) -> None:
    wire, _ = await bench.working()
    await wire.barrier()


@probe(CLIENT, "v2-prompt-11")
async def waits_for_the_end(bench: ClientBench) -> None:
    """After the answer to its prompt the client is still there, and serves."""
    wire, _ = await bench.working()
    await wire.barrier()
    bench.say(wire, "More.")
    await wire.barrier()


@probe(CLIENT, "v2-prompt-12")
async def takes_the_message_first(bench: ClientBench) -> None:
    wire, prompt = await bench.prompted()
    bench.update(wire, "user_message", messageId="u1", content=prompt.params.get("prompt"))
    bench.update(wire, "state_update", state="running")
    wire.reply(prompt, {"result": {}})
    await wire.barrier()


@probe(CLIENT, "v2-prompt-14")
async def takes_updates_unasked(bench: ClientBench) -> None:
    """Before the prompt is even accepted."""
    wire, _ = await bench.prompted()
    bench.say(wire, "By the way.")
    bench.update(wire, "session_info_update", title="Title")
    await wire.barrier()


# --- the handshake ----------------------------------------------------------------------------------------------------


@probe(CLIENT, "all-versioning-04")
async def leaves_an_unknown_version(bench: ClientBench) -> None:
    bench.introduction["protocolVersion"] = 60000
    wire = await bench.start()
    closed = await wire.gone()
    demand(closed, "the client goes on in a version that it cannot know")


@probe(CLIENT, "v2-versioning-02")
async def goes_on_in_version_1(bench: ClientBench) -> None:
    bench.introduction["protocolVersion"] = 1
    wire = await bench.start()
    opened = await wire.wait(
        lambda: next((s for s in wire.talk.theirs if s.method == "session/new"), None) or wire.closed,
        "the client neither leaves nor goes on",
    )
    if isinstance(opened, Said):
        demand(isinstance(opened.params.get("mcpServers"), list), "session/new is not that of version 1", opened)
