"""The same for the requirements on clients."""

from __future__ import annotations

import unstable_edits
from editing import Edit, again, also, asking, batched, both, move, put, raw
from specimens import HOW

OFFERED = "params.clientCapabilities"
CAN = "result.agentCapabilities"
SERVERS = "params.mcpServers"
BLOCKS = "params.prompt"
UNKNOWN = "_duologue/check"
DELETE = asking("close.a", "session/delete", sessionId="s1")
FORK = asking("close.a", "session/fork", sessionId="s1", cwd="/w", mcpServers=[])

EITHER: dict[str, Edit | dict[int, Edit]] = {
    **unstable_edits.CLIENT,
    "all-framing-01": raw("unknown", b"params", b"\xff"),
    "all-framing-02": also("unknown", True, b'{"jsonrpc":\n'),
    "all-framing-04": also("unknown", True, b"hello\n"),
    "all-jsonrpc-01": put("unknown", "jsonrpc", "1.0"),
    "all-jsonrpc-02": put("unknown2.a", "id", 77),
    "all-jsonrpc-03": put("unknown2.a", "result", {}),
    "all-jsonrpc-09": put("unknown2.a", "error.code", "many"),
    "all-jsonrpc-10": put("unknown", "id", True),
    "all-jsonrpc-11": put("unknown", "id", 1.5),
    "all-jsonrpc-14": again("unknown", "unknown"),
    "all-jsonrpc-16": put("unknown", "params", [1]),
    "all-jsonrpc-20": put("unknown", "method", "rpc.discover"),
    "all-jsonrpc-21": put("unknown", "method", "session/release"),
    "all-jsonrpc-22": put("cancel", "params.sessionId"),
    "all-versioning-05": {
        1: put("unknown", "method", "auth/login"),
        2: put("unknown", "method", "session/load"),
    },
    "all-versioning-06": put("init", "params.protocolVersion", "1"),
    "all-initialize-01": {1: put("init", "params.clientInfo.version", 5), 2: put("init", "params.info.version", 5)},
    "all-errors-03": put("unknown2.a", "error.code", -32800),
    "all-errors-06": put("unknown2.a", "error.message", "A long story. " * 30),
    "all-session-01": move("init.a", "new"),
    "all-session-03": put("new", "params.cwd", "w"),
    "all-session-21": {
        1: both(DELETE, put("init.a", f"{CAN}.sessionCapabilities.delete")),
        2: both(DELETE, put("init.a", "result.capabilities.session.delete")),
    },
    "all-session-24": {
        1: put("init.a", f"{CAN}.sessionCapabilities.additionalDirectories"),
        2: put("init.a", "result.capabilities.session.additionalDirectories"),
    },
    "all-session-15": asking("list.a", "session/list", cursor="made-up"),
    "all-session-29": put("resume", "params.additionalDirectories", ["/y"]),
    "all-session-30": put("resume", "params.cwd", "/elsewhere"),
    "all-session-25": put("new", "params.additionalDirectories", ["x"]),
    "all-session-26": put("new", "params.additionalDirectories", ["/w"]),
    "all-content-01": put("prompt", f"{BLOCKS}.0.text", 5),
    "all-content-02": put("prompt", f"{BLOCKS}.3.data", "!"),
    "all-content-03": put("prompt", f"{BLOCKS}.3", {"type": "audio", "data": "AAAA"}),
    "all-content-04": put("prompt", f"{BLOCKS}.2.resource.uri"),
    "all-content-05": put("prompt", f"{BLOCKS}.1.name"),
    "all-content-06": put("prompt", f"{BLOCKS}.1.annotations.audience", "user"),
    "all-prompt-01": {
        1: put("init.a", f"{CAN}.promptCapabilities.image", False),
        2: put("init.a", "result.capabilities.session.prompt.image", None),
    },
    "all-permissions-02": put("ask.a", "result.outcome.optionId", "maybe"),
    "all-cancellation-08": also("unknown", True, {"method": "$/cancel_request", "params": {"requestId": "77"}}),
    "all-permissions-04": put("ask2.a", "result.outcome", {"outcome": "selected", "optionId": "yes"}),
    "all-elicitation-13": put("form.a", "result.action", "maybe"),
    "all-elicitation-14": put("form.a", "result.content", {"name": {"first": "Ada"}}),
    "all-mcp-01": put("new", f"{SERVERS}.0.command", "bin/one"),
    "all-extensibility-01": put("prompt", "params._meta", 5),
    "all-extensibility-02": both(put("prompt", "params.mood", "good"), put("init", "params.mood", "good")),
    "all-extensibility-06": put("unknown", "method", "duologue/check"),
    "all-extensibility-10": put("prompt", "params.my_mood", "good"),
}

V1: dict[str, Edit] = {
    "v1-framing-01": batched("unknown"),
    "v1-initialize-01": asking("", "_duologue/early"),
    "v1-initialize-02": put("init", "params.clientInfo", 5),
    "v1-initialize-03": put("init", "params.clientInfo"),
    "v1-initialize-06": put("init", f"{OFFERED}.fs"),
    "v1-initialize-11": put("init", f"{OFFERED}.terminal", "yes"),
    "v1-auth-03": put("login", "params.methodId", "none"),
    "v1-auth-07": both(asking("close.a", "logout"), put("init.a", f"{CAN}.auth.logout", None)),
    "v1u-auth-03": put("login", "params.methodId", "term"),
    "v1-session-01": put("new", SERVERS),
    "v1-session-03": put("init.a", f"{CAN}.loadSession", False),
    "v1-session-04": put("load", SERVERS),
    "v1-session-10": put("init.a", f"{CAN}.sessionCapabilities.resume"),
    "v1-session-12": put("resume", SERVERS),
    "v1-session-15": put("init.a", f"{CAN}.sessionCapabilities.close"),
    "v1-session-16": put("init.a", f"{CAN}.sessionCapabilities.list"),
    "v1u-session-01": FORK,
    "v1-prompt-01": put("prompt", BLOCKS, "hello"),
    "v1-modes-03": both(
        put("new.a", "result.configOptions", []),
        asking("close.a", "session/set_mode", sessionId="s1", modeId="none"),
    ),
    "v1-modes-09": asking("close.a", "session/set_mode", sessionId="s1", modeId="ask"),
    "v1-config-03": put("set", "params.value"),
    "v1-mcp-02": put("new", f"{SERVERS}.0.args"),
    "v1-mcp-03": put("new", f"{SERVERS}.1.headers"),
    "v1-mcp-04": put("init.a", f"{CAN}.mcpCapabilities.http", False),
    "v1u-mcp-01": put("init.a", f"{CAN}.mcpCapabilities.acp", False),
    "v1-fs-03": put("read.a", "result.content"),
    "v1-fs-08": put("write.a", "result", "written"),
    "v1-terminal-03": put("create.a", "result.terminalId"),
    "v1-terminal-05": put("output.a", "result.truncated"),
    "v1-terminal-09": put("wait.a", "result.exitCode", -1),
}

V2: dict[str, Edit] = {
    "v2-jsonrpc-09": batched("new"),
    "v2-jsonrpc-10": batched("unknown2.a", {"method": UNKNOWN}),
    "v2-initialize-01": put("init", "params.info"),
    "v2-initialize-04": put("init", "params.clientInfo", HOW),
    "v2-initialize-06": put("init", "params.capabilities.elicitation.form", True),
    "v2-initialize-09": put("init", "params.capabilities.fs", {}),
    "v2-auth-03": put("init.a", "result.authMethods", []),
    "v2u-auth-03": put("login", "params.methodId", "term"),
    "v2-session-01": put("new", "params.cwd"),
    "v2u-session-01": FORK,
    "v2-content-01": put("prompt", f"{BLOCKS}.0.type", "video"),
    "v2-content-03": put("prompt", f"{BLOCKS}.1.annotations.priority", 5),
    "v2-content-04": put("prompt", f"{BLOCKS}.1.icons", [{}]),
    "v2-config-02": put("set", "params.value", 5),
    "v2-mcp-01": put("new", f"{SERVERS}.1.type"),
    "v2-mcp-02": put("init.a", "result.capabilities.session.mcp.http", None),
    "v2-mcp-05": put("new", f"{SERVERS}.1.type", "pipe"),
    "v2u-mcp-01": put("init.a", "result.capabilities.session.mcp.acp"),
    "v2-extensibility-01": put("prompt", f"{BLOCKS}.1.annotations.audience", ["nobody"]),
}
