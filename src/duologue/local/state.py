"""The folder in which a person's programs keep what they remember between two runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(env: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Where this project keeps its state; None when the environment names neither a state folder nor a home.

    `XDG_STATE_HOME` counts on every system.
    """
    base = _base(env, platform)
    return base / "duologue" if base is not None and base.is_absolute() else None


def _base(env: Mapping[str, str], platform: str) -> Path | None:
    if base := env.get("XDG_STATE_HOME"):
        return Path(base)
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return Path(local) if local else None
    home = env.get("HOME")
    if not home:
        return None
    below = ("Library", "Application Support") if platform == "darwin" else (".local", "state")
    return Path(home, *below)
