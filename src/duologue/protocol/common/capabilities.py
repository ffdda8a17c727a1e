"""What the two sides announce, as far as both versions agree."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum


class PositionEncodingKind(OpenEnum):
    """The code units that positions in a line are counted in."""

    UTF_16 = "utf-16"
    UTF_32 = "utf-32"
    UTF_8 = "utf-8"


class Implementation(Extensible, kw_only=True):
    """The name and version of a program that speaks the protocol."""

    name: str
    version: str
    title: Maybe[str] = UNSET


#: Stands for a program that does not say what it is; version 2 requires it to.
UNNAMED: Final = Implementation(name="unknown", version="unknown")


class ElicitationFormCapabilities(Extensible, kw_only=True):
    """The client can show forms."""


class ElicitationUrlCapabilities(Extensible, kw_only=True):
    """The client can send the user to a URL."""


class ElicitationCapabilities(Extensible, kw_only=True):
    """The kinds of elicitation that the client can show."""

    form: Maybe[ElicitationFormCapabilities] = UNSET
    url: Maybe[ElicitationUrlCapabilities] = UNSET


class SessionDeleteCapabilities(Extensible, kw_only=True):
    """Sessions can be deleted."""


class SessionAdditionalDirectoriesCapabilities(Extensible, kw_only=True):
    """Sessions take more roots than their working directory."""


class SessionForkCapabilities(Extensible, kw_only=True):
    """Sessions can be forked."""


class ProvidersCapabilities(Extensible, kw_only=True):
    """Model providers can be configured."""
