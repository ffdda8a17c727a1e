"""What neutral.c does, for machines without a C compiler; the same command line and figures, see there.

It is fast enough for streams. Round trips with many in flight are held back by it, so prefer the C program.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

READ = 1 << 18
BLOCK = 1 << 16
SHORT_LINE = 1024
ID = re.compile(rb'"id":\s*("(?:[^"\\]|\\.)*"|-?\d+)')
ALLOW = b'{"outcome":{"outcome":"selected","optionId":"allow"}}'


class Lines:
    """Whole lines from a file descriptor, in the groups in which they came."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.rest = bytearray()

    def group(self) -> list[bytes]:
        """At least one line. Raises EOFError."""
        while True:
            data = os.read(self.fd, READ)
            if not data:
                raise EOFError
            *lines, last = data.split(b"\n")
            if not lines:
                self.rest += last
                continue
            lines[0] = bytes(self.rest) + lines[0]
            self.rest = bytearray(last)
            return lines


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def answer(line: bytes, result: bytes) -> bytes:
    found = ID.search(line[:SHORT_LINE])
    if not found:
        sys.exit(f"neutral: a request without an id: {line[:500]!r}")
    return b'{"jsonrpc":"2.0","id":' + found[1] + b',"result":' + result + b"}\n"


# --- Agent -----------------------------------------------------------------------------------------------------------


def update(body: str) -> bytes:
    params = f'{{"sessionId":"s","update":{{"sessionUpdate":{body}}}}}'
    return f'{{"jsonrpc":"2.0","method":"session/update","params":{params}}}\n'.encode()


def ask(number: int, version: int) -> bytes:
    call = '"toolCall":{"toolCallId":"c","title":"Write a file"}'
    subject = f'"title":"Write a file","subject":{{"type":"tool_call",{call}}}' if version == 2 else call
    options = (
        '[{"optionId":"allow","name":"Allow","kind":"allow_once"},'
        '{"optionId":"reject","name":"Reject","kind":"reject_once"}]'
    )
    params = f'{{"sessionId":"s",{subject},"options":{options}}}'
    return f'{{"jsonrpc":"2.0","id":{number},"method":"session/request_permission","params":{params}}}\n'.encode()


def stream(count: int, size: int) -> None:
    text = "x" * size
    line = update(f'"agent_message_chunk","messageId":"m","content":{{"type":"text","text":"{text}"}}')
    in_block = max(1, min(count, BLOCK // len(line)))
    block = line * in_block
    for _ in range(count // in_block):
        write_all(1, block)
    write_all(1, line * (count % in_block))


def ask_often(lines: Lines, count: int, in_flight: int, version: int) -> None:
    sent = answered = 0
    while answered < count:
        due = min(count, answered + in_flight)
        write_all(1, b"".join(ask(number, version) for number in range(sent, due)))
        sent = due
        answered += len(lines.group())


def turn(lines: Lines, line: bytes, version: int) -> None:
    if version == 2:
        message = '"user_message","messageId":"u","content":[{"type":"text","text":"go"}]'
        head = answer(line, b'{"messageId":"u"}') + update(message) + update('"state_update","state":"running"')
        write_all(1, head)
    match json.loads(line)["params"]["prompt"][0]["text"][:64].split():
        case ["stream", count, size]:
            stream(int(count), int(size))
        case ["roundtrip", count, in_flight]:
            ask_often(lines, int(count), int(in_flight), version)
    idle = update('"state_update","state":"idle","stopReason":"end_turn"')
    write_all(1, idle if version == 2 else answer(line, b'{"stopReason":"end_turn"}'))


HELLO_BACK = {
    1: b'{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}',
    2: b'{"protocolVersion":2,"info":{"name":"neutral","version":"1"},"capabilities":{"session":{}}}',
}


def run_agent() -> None:
    lines = Lines(0)
    version = 1
    while True:
        try:
            group = lines.group()
        except EOFError:
            return
        for line in group:
            head = line[:SHORT_LINE]
            if b'"session/prompt"' in head:
                turn(lines, line, version)
            elif b'"session/list"' in head:
                write_all(1, answer(line, b'{"sessions":[]}'))
            elif b'"session/new"' in head:
                write_all(1, answer(line, b'{"sessionId":"s"}'))
            elif b'"initialize"' in head:
                version = 2 if re.search(rb'"protocolVersion":\s*2', head) else 1
                write_all(1, answer(line, HELLO_BACK[version]))


# --- Client ----------------------------------------------------------------------------------------------------------

HELLO = {
    1: {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "neutral", "version": "1"}},
    2: {"protocolVersion": 2, "capabilities": {}, "info": {"name": "neutral", "version": "1"}},
}


class Agent:
    """The agent under test, and what is to be read off its process."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self.to_agent = self.process.stdin.fileno()
        self.lines = Lines(self.process.stdout.fileno())

    def send(self, number: int, method: str, params: object) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        write_all(self.to_agent, json.dumps(message).encode() + b"\n")

    def call(self, number: int, method: str, params: object) -> bytes:
        self.send(number, method, params)
        while True:
            for line in self.lines.group():
                if b'"error":' in line:
                    sys.exit(f"neutral: the agent answered with an error: {line[:500]!r}")
                if b'"result":' in line:
                    return line

    def turn(self, number: int, session: str, text: str) -> int:
        """Runs a prompt to its end; how many chunks or questions came."""
        count = 0
        self.send(number, "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})
        while True:
            answers, over = [], False
            for line in self.lines.group():
                head = line[:256]
                if b'"session/update"' in head:
                    count += len(line) >= SHORT_LINE or b"agent_message_chunk" in line
                elif b"session/request_permission" in head:
                    count += 1
                    answers.append(answer(line, ALLOW))
                over = over or (len(line) < SHORT_LINE and b'"stopReason":' in line)
            write_all(self.to_agent, b"".join(answers))
            if over:
                return count

    def cpu(self) -> float:
        """Seconds of CPU time so far; the clock of a process has its id in its number, as Linux defines it."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def mebibytes(self, field: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(field))

    def finish(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()


def figures(version: int, job: str, a: int, b: int, command: list[str]) -> Iterator[tuple[str, float]]:
    began = time.monotonic()
    agent = Agent(command)
    agent.call(0, "initialize", HELLO[version])
    if job == "start":
        yield "start_ms", (time.monotonic() - began) * 1000
        yield "rss_mib", agent.mebibytes("VmRSS")
        return agent.finish()
    session = json.loads(agent.call(1, "session/new", {"cwd": "/tmp", "mcpServers": []}))["result"]["sessionId"]
    if job != "large":
        agent.turn(2, session, f"{job} {a // 10 + 1} {b}")
    cpu, wall = agent.cpu(), time.monotonic()
    count = agent.turn(3, session, "large " + "x" * a if job == "large" else f"{job} {a} {b}")
    yield "seconds", time.monotonic() - wall
    yield "cpu", agent.cpu() - cpu
    yield "count", count
    yield "peak_mib", agent.mebibytes("VmHWM")
    return agent.finish()


def main(arguments: list[str]) -> None:
    match arguments:
        case ["agent"]:
            run_agent()
        case ["client", version, job, *rest] if "--" in rest:
            split = rest.index("--")
            numbers = [int(number) for number in rest[:split]] + [0, 0]
            print(json.dumps(dict(figures(int(version), job, numbers[0], numbers[1], rest[split + 1 :]))))
        case _:
            sys.exit("usage: neutral agent | neutral client VERSION JOB [A [B]] -- COMMAND...")


if __name__ == "__main__":
    main(sys.argv[1:])
