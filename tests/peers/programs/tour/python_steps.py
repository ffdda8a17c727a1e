"""What the Python SDK's programs of the tour share: names in Python, and what earlier answers gave."""

import json
import os
import re
from pathlib import Path
from typing import Any

STEPS = json.loads(Path(os.environ["TOUR"]).read_text(encoding="utf-8"))["v1"]

#: Functions of the SDK by method.
AGENT = {
    "initialize": "initialize",
    "authenticate": "authenticate",
    "session/new": "new_session",
    "session/load": "load_session",
    "session/list": "list_sessions",
    "session/set_mode": "set_session_mode",
    "session/set_config_option": "set_config_option",
    "session/prompt": "prompt",
    "session/fork": "fork_session",
    "session/resume": "resume_session",
    "session/close": "close_session",
    "session/cancel": "cancel",
}
CLIENT = {
    "session/request_permission": "request_permission",
    "session/update": "session_update",
    "fs/write_text_file": "write_text_file",
    "fs/read_text_file": "read_text_file",
    "terminal/create": "create_terminal",
    "terminal/output": "terminal_output",
    "terminal/release": "release_terminal",
    "terminal/wait_for_exit": "wait_for_terminal_exit",
    "terminal/kill": "kill_terminal",
    "elicitation/create": "create_elicitation",
    "elicitation/complete": "complete_elicitation",
}


class Kept(dict[str, Any]):
    """What `$name` stands for."""

    def filled(self, value: Any) -> Any:
        """A value with what its names stand for. Raises `KeyError` for one that is not known."""
        match value:
            case str() if re.fullmatch(r"\$\w+", value):
                return self[value[1:]]
            case dict():
                return {name: self.filled(each) for name, each in value.items()}
            case list():
                return [self.filled(each) for each in value]
        return value

    def keep(self, method: str, result: Any) -> None:
        """Remember what later steps name."""
        if method == "session/new":
            self["session"] = result.session_id
        if method == "terminal/create":
            self["terminal"] = result.terminal_id


def arguments(params: dict[str, Any]) -> dict[str, Any]:
    """Members as the arguments of a function."""
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): value for name, value in params.items()}
