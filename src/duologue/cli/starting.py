"""Which agent a command starts, where and with what: the options that `run` and `sessions` share."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duologue.cli.given import add_env, command_words, seconds, variables

if TYPE_CHECKING:
    from duologue.peer.link import Trace

#: What the built-in agent is configured by; it gets these without --env, and what its config file names.
OWN_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PYTHONPATH")
OWN_PREFIX = "DUOLOGUE_"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="CMD", help="the agent's command line (the built-in agent)")
    parser.add_argument("--cwd", metavar="DIR", type=Path, default=Path(), help="the project folder (this one)")
    parser.add_argument("--protocol", choices=("1", "2", "auto"), default="1", help="the version to propose (1)")
    add_env(parser, "agent")
    parser.add_argument("--timeout", metavar="S", type=seconds, help="cancel when it takes more than S seconds")
    parser.add_argument("--log", metavar="FILE", type=Path, help="append every message to FILE, without keys")


def start_of(chosen: argparse.Namespace, program: str, *further: str) -> dict[str, Any]:
    """What was chosen, as members of a `Start`. `further` are words for the built-in agent, `program` is who logs.

    Raises ValueError that says what is wrong.
    """
    return {
        "program": program,
        "command": _command(chosen.agent, further),
        "cwd": _folder(chosen.cwd),
        "protocol": "auto" if chosen.protocol == "auto" else 2 if chosen.protocol == "2" else 1,
        "env": _environment(chosen.env, own=chosen.agent is None),
        "timeout": chosen.timeout,
        "trace": _trace(chosen.log, program),
    }


def _command(agent: str | None, further: tuple[str, ...]) -> list[str]:
    if agent is None:
        # -P: the project folder must not be searched for modules of ours.
        return [sys.executable, "-P", "-m", "duologue", "agent", *further]
    return command_words("--agent", agent)


def _trace(log: Path | None, program: str) -> Trace | None:
    if log is None:
        return None
    from duologue.cli.log import log_to

    return log_to(log.expanduser(), program)


def _folder(path: Path) -> Path:
    # Late: it is needed once the command line is right.
    from duologue.client.paths import sent_path
    from duologue.local.folders import real_folder

    folder = sent_path(path.expanduser())
    try:
        if folder.is_file():
            raise ValueError(f"--cwd: this is a file: {path}; give the folder of the project")
        if not folder.is_dir():
            raise ValueError(f"--cwd: there is no such folder: {path}")
    except PermissionError:
        raise ValueError(f"--cwd: {path}: what is there may not be seen by this user") from None
    if not os.access(folder, os.X_OK):
        raise ValueError(f"--cwd: {path}: this user may not enter the folder")
    # As a program that is started there sees it: so its sessions are found from there too.
    return sent_path(real_folder(folder))


def _environment(named: list[str], *, own: bool) -> Mapping[str, str]:
    passed = variables(named)
    if not own:
        return passed
    names = (*OWN_VARIABLES, *_key_variables())
    ours = {name: value for name, value in os.environ.items() if name in names or name.startswith(OWN_PREFIX)}
    return {**ours, **passed}


def _key_variables() -> Collection[str]:
    """The variables that hold keys, as the config file names them."""
    # Late: most have no such file, and every command line passes here.
    from duologue.coder.models.config import SettingsError, read_config

    try:
        return read_config(os.environ).key_variables
    except SettingsError:
        return ()  # the agent says what is wrong with the file
