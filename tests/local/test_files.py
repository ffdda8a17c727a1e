"""Files that are replaced in one step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from duologue.local.files import replace
from duologue.local.workspace import Workspace


def test_what_is_written_is_of_a_later_second_than_what_was_there(tmp_path: Path) -> None:
    place = Workspace([tmp_path]).resolve(tmp_path / "file")
    replace(place, b"0")
    seen = [int(place.real.stat().st_mtime)]
    for number in range(1, 4):
        replace(place, b"%d" % number)
        seen.append(int(place.real.stat().st_mtime))
    assert seen == sorted(set(seen))


def test_python_does_not_go_on_with_what_it_compiled_before(tmp_path: Path) -> None:
    """It knows its bytecode by the second and the size of the source."""
    module = tmp_path / "module.py"
    place = Workspace([tmp_path]).resolve(module)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def said() -> str:
        command = [sys.executable, "-c", "import module; print(module.add(2, 1))"]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout

    for sign, sum in (("-", "1"), ("+", "3"), ("*", "2"), ("-", "1")):
        replace(place, b"def add(a, b):\n    return a %b b\n" % sign.encode())
        assert said() == f"{sum}\n"
