"""What the two sides announce, as far as both versions agree."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum


class PositionEncodingKind(OpenEnum):
    """The code units that positions in a line are counted in."""

    UTF_16 = "utf-16"
    UTF_32 = "utf-32"
    UTF_8 = "utf-8"


class Implementation(Extensible):
    """The name and version of a program that speaks the protocol."""

    name: str
    version: str
    title: Maybe[str] = UNSET


class ElicitationFormCapabilities(Extensible):
    """The client can show forms."""


class ElicitationUrlCapabilities(Extensible):
    """The client can send the user to a URL."""


class ElicitationCapabilities(Extensible):
    """The kinds of elicitation that the client can show."""

    form: Maybe[ElicitationFormCapabilities] = UNSET
    url: Maybe[ElicitationUrlCapabilities] = UNSET


class SessionDeleteCapabilities(Extensible):
    """Sessions can be deleted."""


class SessionAdditionalDirectoriesCapabilities(Extensible):
    """Sessions take more roots than their working directory."""


class SessionForkCapabilities(Extensible):
    """Sessions can be forked."""


class ProvidersCapabilities(Extensible):
    """Model providers can be configured."""
