"""A run where signals cannot be watched: it works all the same."""

from __future__ import annotations

import shlex
import signal
import threading
from pathlib import Path

import pytest
from cli_kit import scripted

from duologue.cli.exits import Exit
from duologue.cli.running import Order, run_order


def in_a_thread(order: Order) -> list[Exit]:
    ended: list[Exit] = []
    thread = threading.Thread(target=lambda: ended.append(run_order(order)))
    thread.start()
    thread.join(60)
    return ended


def test_a_run_outside_of_the_main_thread_and_without_sighup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    order = Order(request="go", command=shlex.split(scripted("say")), cwd=tmp_path)
    assert in_a_thread(order) == [Exit.DONE]
