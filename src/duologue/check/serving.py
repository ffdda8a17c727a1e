"""What the checker answers when an agent asks it something: files, terminals, permissions, as a plain client would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duologue.check import mcp_stand_in
from duologue.check.record import Json, Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode

#: A client that can do all that the checker can play.
RICH: dict[int, Json] = {
    1: {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        "elicitation": {"form": {}, "url": {}},
    },
    2: {"elicitation": {"form": {}, "url": {}}},
}
#: A client that says of each capability that it lacks it.
REFUSING: dict[int, Json] = {
    1: {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    2: {"elicitation": {"form": None, "url": None}},
}
#: An editor that shows every kind of suggestion.
EDITOR: Json = {
    "nes": {"jump": {}, "rename": {}, "searchAndReplace": {}},
    "positionEncodings": ["utf-32", "utf-16", "utf-8"],
}
#: What a terminal of the checker shows.
OUTPUT = "duologue-check\n"


class PlainClient:
    """Answers an agent. `permission` is the kind of option to pick, None to leave the question open, or any outcome."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.permission: str | Json | None = "allow"
        #: Questions that were left open.
        self.open: list[Said] = []
        #: The connections to MCP servers that were lent, by their ids.
        self.connections: list[str] = []
        self._lent: set[str] = set()
        self._terminals = 0

    def serve(self, wire: Wire, said: Said) -> None:
        """Answer a request, or leave it open."""
        if said.method == "session/request_permission" and self.permission is None:
            self.open.append(said)
            return
        try:
            answer: Json = {"result": self._answer(said)}
        except LookupError:
            answer = {"error": {"code": ErrorCode.METHOD_NOT_FOUND, "message": "Method not found"}}
        except OSError as error:
            answer = {"error": {"code": ErrorCode.RESOURCE_NOT_FOUND, "message": error.strerror or "Not found"}}
        wire.reply(said, answer)

    def lend(self, name: str) -> Json:
        """An MCP server of the checker, as session/new has it."""
        self._lent.add(f"{name}-server")
        return {"type": "acp", "name": name, "serverId": f"{name}-server"}

    def answer_open(self, wire: Wire, outcome: Json) -> None:
        """Answer all questions that were left open."""
        for said in self.open:
            wire.reply(said, {"result": {"outcome": outcome}})
        self.open.clear()

    def _answer(self, said: Said) -> Any:
        match said.method:
            case "session/request_permission":
                return {"outcome": self._outcome(said)}
            case "elicitation/create":
                return {"action": "decline"}
            case "fs/read_text_file":
                return {"content": self._excerpt(said.params)}
            case "fs/write_text_file":
                self._path(said.params).write_text(str(said.params.get("content")), encoding="utf-8")
                return {}
            case "terminal/create":
                self._terminals += 1
                return {"terminalId": f"terminal-{self._terminals}"}
            case "terminal/output":
                return {"output": OUTPUT, "truncated": False, "exitStatus": {"exitCode": 0, "signal": None}}
            case "terminal/wait_for_exit":
                return {"exitCode": 0, "signal": None}
            case "terminal/kill" | "terminal/release":
                return {}
        if (said.method or "").startswith("mcp/"):
            return self._served(said)
        raise LookupError(said.method)

    def _served(self, said: Said) -> Any:
        """What a lent server answers, or that there is none."""
        connection = said.params.get("connectionId")
        match said.method:
            case "mcp/connect" if said.params.get("serverId") in self._lent:
                self.connections.append(f"connection-{len(self.connections) + 1}")
                return {"connectionId": self.connections[-1]}
            case "mcp/message" if connection in self.connections:
                result = mcp_stand_in.answer(said.params.get("method"), said.params.get("params"))
                if result is not None:
                    return result
            case "mcp/disconnect" if connection in self.connections:
                self.connections.remove(connection)
                return {}
        raise LookupError(said.method)

    def _outcome(self, said: Said) -> Json:
        if isinstance(self.permission, dict):
            return self.permission
        options = [each for each in said.params.get("options") or [] if isinstance(each, dict)]
        wanted = f"{self.permission}_once"
        chosen = next((each for each in options if each.get("kind") == wanted), None)
        return (
            {"outcome": "selected", "optionId": chosen.get("optionId")}
            if chosen is not None
            else {"outcome": "cancelled"}
        )

    def _path(self, params: Json) -> Path:
        """A path within the working folder; an agent that asks for others gets what a careful client says."""
        path = Path(str(params.get("path"))).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise FileNotFoundError(2, "Outside of the working folder")
        return path

    def _excerpt(self, params: Json) -> str:
        lines = self._path(params).read_text(encoding="utf-8").splitlines(keepends=True)
        first = max(0, (params.get("line") or 1) - 1)
        limit = params.get("limit")
        return "".join(lines[first:] if limit is None else lines[first : first + limit])
