"""Nothing that only POSIX systems have is needed to import the modules that start processes."""

from __future__ import annotations

import subprocess
import sys

# What is not there on Windows is taken away after the standard library has found its own.
CODE = """
import asyncio, contextlib, logging, os, secrets, shutil, signal, subprocess, sys, tempfile, threading
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in ("fork", "getpgid", "getuid", "killpg", "register_at_fork", "setsid", "O_NOFOLLOW", "O_DIRECTORY"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "setitimer"):
    delattr(signal, name)
sys.platform = "win32"
for name in sys.argv[1:]:
    __import__(name)
    print(name)
"""

MODULES = [
    "duologue.processes.stops",
    "duologue.processes.keeper",
    "duologue.processes.process",
    "duologue.processes.environment",
    "duologue.transports.spawn",
    "duologue.transports.claim",
    "duologue.coder.commands",
]


def test_no_module_of_posix_systems_is_needed_to_import_ours() -> None:
    done = subprocess.run([sys.executable, "-c", CODE, *MODULES], capture_output=True, text=True, check=False)
    assert done.stdout.split() == MODULES, done.stderr
