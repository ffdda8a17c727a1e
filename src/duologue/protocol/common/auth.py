"""Logging in, as far as both versions agree."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from duologue.protocol.base import Extensible, Flag, Maybe, Opt, default


class AuthEnvVar(Extensible, kw_only=True):
    """An environment variable that a login asks the user for."""

    name: str
    label: Maybe[str] = UNSET
    secret: Annotated[Opt[bool], default(True)] = UNSET
    optional: Flag = UNSET
