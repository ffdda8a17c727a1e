"""Stands between a client and an agent, and writes down each line that passes: `tap.py LOG -- AGENT...`."""

import json
import os
import subprocess
import sys
import threading
from typing import IO, BinaryIO


def pass_on(source: IO[bytes], target: IO[bytes], sender: str, log: BinaryIO, one_at_a_time: threading.Lock) -> None:
    for line in source:
        with one_at_a_time:
            log.write(json.dumps({"dir": sender, "msg": json.loads(line)}).encode() + b"\n")
            log.flush()
        target.write(line)
        target.flush()
    target.close()


def main() -> None:
    split = sys.argv.index("--")
    child = subprocess.Popen(sys.argv[split + 1 :], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    lock = threading.Lock()
    with open(sys.argv[1], "wb") as log:  # noqa: PTH123 (the tap stands by itself)
        given = (sys.stdin.buffer, child.stdin, "client", log, lock)
        threading.Thread(target=pass_on, args=given, daemon=True).start()
        pass_on(child.stdout, sys.stdout.buffer, "agent", log, lock)
    sys.stdout.flush()
    # The other thread waits for input that no longer matters; an orderly exit would wait for it.
    os._exit(child.wait())


if __name__ == "__main__":
    main()
