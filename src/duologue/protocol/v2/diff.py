"""Changes of files, as tool calls of version 2 show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, ExtensionMeta, Items, Maybe, OpenEnum, Unknown, Wire
from duologue.protocol.v2.ids import AbsolutePath, MediaType


class DiffFileType(OpenEnum):
    """What sort of file has changed."""

    TEXT = "text"
    BINARY = "binary"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


class DiffPatchFormat(OpenEnum):
    """The format of a patch."""

    GIT_PATCH = "git_patch"


class DiffPatch(Wire):
    """The changes as text."""

    format: DiffPatchFormat
    text: str


class DiffPathChange(Wire):
    """A change that names one path."""

    path: AbsolutePath


class DiffPathPairChange(Wire):
    """A change that names an old and a new path."""

    old_path: AbsolutePath
    path: AbsolutePath


class PathChange(DiffPathChange):
    """A change of one path, with what is known of the file."""

    file_type: Maybe[DiffFileType] = UNSET
    mime_type: Maybe[MediaType] = UNSET
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class PathPairChange(DiffPathPairChange):
    """A change from one path to another, with what is known of the file."""

    file_type: Maybe[DiffFileType] = UNSET
    mime_type: Maybe[MediaType] = UNSET
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class AddChange(PathChange, tag_field="operation", tag="add"):
    """A new file."""


class DeleteChange(PathChange, tag_field="operation", tag="delete"):
    """A file that goes away."""


class ModifyChange(PathChange, tag_field="operation", tag="modify"):
    """A file with new contents."""


class MoveChange(PathPairChange, tag_field="operation", tag="move"):
    """A file with a new path."""


class CopyChange(PathPairChange, tag_field="operation", tag="copy"):
    """A copy of a file."""


#: A change of one file.
if TYPE_CHECKING:
    DiffChange = AddChange | DeleteChange | ModifyChange | MoveChange | CopyChange | Unknown
else:
    DiffChange = Annotated[AddChange | DeleteChange | ModifyChange | MoveChange | CopyChange, OPEN]


class Diff(Extensible):
    """Changes of files, with the patch when there is one."""

    changes: Items[DiffChange]
    patch: Maybe[DiffPatch] = UNSET
