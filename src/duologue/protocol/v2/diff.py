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


class DiffPatch(Wire, kw_only=True):
    """The changes as text."""

    format: DiffPatchFormat
    text: str


class DiffPathChange(Wire, kw_only=True):
    """A change that names one path."""

    path: AbsolutePath


class DiffPathPairChange(Wire, kw_only=True):
    """A change that names an old and a new path."""

    old_path: AbsolutePath
    path: AbsolutePath


class PathChange(DiffPathChange, kw_only=True):
    """A change of one path, with what is known of the file."""

    file_type: Maybe[DiffFileType] = UNSET
    mime_type: Maybe[MediaType] = UNSET
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class PathPairChange(DiffPathPairChange, kw_only=True):
    """A change from one path to another, with what is known of the file."""

    file_type: Maybe[DiffFileType] = UNSET
    mime_type: Maybe[MediaType] = UNSET
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class AddChange(PathChange, tag_field="operation", tag="add", kw_only=True):
    """A new file."""


class DeleteChange(PathChange, tag_field="operation", tag="delete", kw_only=True):
    """A file that goes away."""


class ModifyChange(PathChange, tag_field="operation", tag="modify", kw_only=True):
    """A file with new contents."""


class MoveChange(PathPairChange, tag_field="operation", tag="move", kw_only=True):
    """A file with a new path."""


class CopyChange(PathPairChange, tag_field="operation", tag="copy", kw_only=True):
    """A copy of a file."""


#: A change of one file.
if TYPE_CHECKING:
    DiffChange = AddChange | DeleteChange | ModifyChange | MoveChange | CopyChange | Unknown
else:
    DiffChange = Annotated[AddChange | DeleteChange | ModifyChange | MoveChange | CopyChange, OPEN]


class Diff(Extensible, kw_only=True):
    """Changes of files, with the patch when there is one."""

    changes: Items[DiffChange]
    patch: Maybe[DiffPatch] = UNSET
