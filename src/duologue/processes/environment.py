"""The environment that a child gets: an allow-list and what its starter adds, never what merely happens to be set.

A model's key, a cloud token or a database password of this process must not reach an agent that does not need it, or a
command that a model wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

ALLOWED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "NVM_DIR", "NODE_ENV", "JAVA_HOME"),
        *("GOPATH", "GOROOT", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "RBENV_ROOT", "GEM_HOME"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NIX_SSL_CERT_FILE"),
        *("NIX_PATH", "DEVELOPER_DIR", "SDKROOT", "HOMEBREW_PREFIX"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
        *("PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH"),
    )
)
ALLOWED_PREFIXES = ("LC_", "XDG_")
PROXIES = frozenset(
    name for each in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (each, each.lower())
)

#: For commands that run unattended: no pager, editor or question may wait for a person who is not there.
UNATTENDED = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}

# A name that looks like this never passes by name, not even when a starter lists it; one can give it as a value.
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS(WORD|WD|PHRASE)?(_|$)|CREDENTIAL|AUTH|COOKIE|PRIVATE", re.IGNORECASE)


def child_environment(
    parent: Mapping[str, str] | None = None, *, names: Iterable[str] = (), values: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a child may see of `parent`, which is this process's environment unless given.

    `names` are further names to take from it, `values` are set as they are. The search path has no relative entries:
    these would find programs in the project.
    """
    parent = os.environ if parent is None else parent
    wanted = ALLOWED | frozenset(names)
    chosen = {name: value for name, value in parent.items() if _passes(name, value, wanted)}
    chosen["PATH"] = absolute_path(chosen.get("PATH") or os.defpath)
    return {**chosen, **(values or {})}


def _passes(name: str, value: str, wanted: frozenset[str]) -> bool:
    if SECRET.search(name):
        return False
    # A proxy is an address; with a user in it, it is a password.
    if name in PROXIES:
        return "@" not in value
    return name in wanted or name.startswith(ALLOWED_PREFIXES)


def absolute_path(path: str) -> str:
    """A search path without relative entries."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())
