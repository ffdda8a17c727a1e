"""What a member has to look like beyond its type: an absolute path, base64, a time, a URI."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

Look = Callable[[Any], str]


def looks_wrong(owner: str, name: str, value: Any, version: int) -> str:
    """What is wrong with the look of a member's value; empty where nothing is."""
    place = f"{owner}.{name}"
    look = LOOKS_V2.get(place, LOOKS.get(place)) if version == 2 else LOOKS.get(place)
    return look(value) if look is not None and value is not None else ""


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on the one or the other kind of system."""
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()


def _absolute(value: str) -> str:
    return "" if is_absolute(value) else f"{value!r} is not absolute"


def _all_absolute(value: list[str]) -> str:
    return next((text for each in value if (text := _absolute(each))), "")


def _base64(value: str) -> str:
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        return "is not padded base64"
    return ""


def _moment(value: str) -> str:
    """RFC 3339, which is also ISO 8601."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", value):
        return f"{value!r} is no RFC 3339 time"
    return ""


def _iso(value: str) -> str:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return f"{value!r} is no ISO 8601 time"
    return ""


def _uri(value: str) -> str:
    return "" if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", value) else f"{value!r} is no absolute URI"


def _first_is_one(value: int) -> str:
    return "" if value >= 1 else "lines are counted from 1"


def _share(value: float) -> str:
    return "" if 0 <= value <= 1 else f"{value} is not between 0 and 1"


def _currency(value: str) -> str:
    return "" if re.fullmatch(r"[A-Z]{3}", value) else f"{value!r} is not three capital letters"


#: By type and member; what version 2 alone asks for stands in `LOOKS_V2`.
LOOKS: dict[str, Look] = {
    **dict.fromkeys(
        (
            *("SessionInfo.cwd", "ToolDiff.path", "ToolCallLocation.path", "CommandSubject.cwd"),
            *("TerminalUpdateEvent.cwd", "CreateTerminalRequest.cwd", "ReadTextFileRequest.path"),
            *("WriteTextFileRequest.path", "NewSessionRequest.cwd", "LoadSessionRequest.cwd"),
            *("ResumeSessionRequest.cwd", "ListSessionsRequest.cwd", "StdioMcpServer.command"),
            *(f"{change}Change.path" for change in ("Add", "Delete", "Modify", "Move", "Copy")),
            *("MoveChange.oldPath", "CopyChange.oldPath"),
        ),
        _absolute,
    ),
    **dict.fromkeys(
        (
            *("SessionInfo.additionalDirectories", "NewSessionRequest.additionalDirectories"),
            *("LoadSessionRequest.additionalDirectories", "ResumeSessionRequest.additionalDirectories"),
        ),
        _all_absolute,
    ),
    **dict.fromkeys(
        (
            *("ImageBlock.data", "AudioBlock.data", "BlobResourceContents.blob"),
            *("TerminalOutput.data", "TerminalOutputChunkEvent.data"),
        ),
        _base64,
    ),
    **dict.fromkeys(("UrlElicitation.url", "FilePlan.uri"), _uri),
    "ToolCallLocation.line": _first_is_one,
    "SessionInfo.updatedAt": _iso,
}
LOOKS_V2: dict[str, Look] = {
    **dict.fromkeys(
        ("TextResourceContents.uri", "BlobResourceContents.uri", "ResourceLinkBlock.uri", "ImageBlock.uri"), _uri
    ),
    "Annotations.lastModified": _moment,
    "Annotations.priority": _share,
    "SessionInfo.updatedAt": _moment,
    "Cost.currency": _currency,
}
