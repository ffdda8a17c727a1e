"""The chat of examples/: what its user sees of a form and of a page before the answer goes out."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from duologue import codec
from duologue.protocol import v2

EXAMPLE = Path(__file__).parents[2] / "examples" / "chat.py"


@pytest.fixture
def chat() -> ModuleType:
    spec = importlib.util.spec_from_file_location("chat_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answering(chat: ModuleType, monkeypatch: pytest.MonkeyPatch, *typed: str | None) -> list[str]:
    """Type these lines one after the other, None for the end of input; the questions that are asked."""
    lines, asked = list(typed), list[str]()

    def read(question: str) -> str:
        sys.stdout.write(question)
        asked.append(question)
        line = lines.pop(0)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr(chat, "typed", read)
    return asked


FORM: Any = {
    "mode": "form",
    "sessionId": "S",
    "message": "Who \x1b[2Jare you?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


@pytest.mark.req("all-elicitation-20", "all-elicitation-21")
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (("Ada", "y"), v2.AcceptElicitation(content={"name": "Ada"})),
        (("Ada", "n"), v2.DeclineElicitation()),
        (("Ada", ""), v2.CancelElicitation()),
        (("Ada", None), v2.CancelElicitation()),
    ],
)
async def test_a_form_is_shown_with_who_asks_and_what_would_be_sent(
    chat: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: Any,
    answer: v2.CreateElicitationResponse,
) -> None:
    asked = answering(chat, monkeypatch, *typed)
    form = codec.convert(v2.CreateElicitationRequest, FORM)
    session = SimpleNamespace(connection=SimpleNamespace(info=v2.Implementation(name="painter", version="1")))
    assert codec.encode(await chat.Chat().fill_form(session, form)) == codec.encode(answer)
    screen = capsys.readouterr().out
    assert screen.index("painter asks: Who ?[2Jare you?") < screen.index(asked[0])
    assert screen.index("  name: Ada\n") < screen.index(asked[1])


@pytest.mark.req("all-elicitation-21", "all-elicitation-33", "all-elicitation-34")
async def test_a_page_is_shown_whole_and_alone_can_be_visited(
    chat: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user opens it elsewhere; a link hidden in the message loses what would make it one."""
    started: list[str] = []
    for name in ("subprocess.Popen", "webbrowser.open"):
        monkeypatch.setattr(name, lambda *given, **more: started.append(str(given)))
    asked = answering(chat, monkeypatch, "y")
    url = f"https://login.example.org/{'x' * 300}?next=/a"
    hidden = "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\"
    request = codec.convert(
        v2.CreateElicitationRequest,
        {"mode": "url", "sessionId": "S", "elicitationId": "e", "message": f"Go {hidden}", "url": url},
    )
    await chat.Chat().open_url(None, request)
    screen = capsys.readouterr().out
    assert screen.index(f"\n{url}\n") < screen.index(asked[0])
    assert "\x1b" not in screen
    assert not started
