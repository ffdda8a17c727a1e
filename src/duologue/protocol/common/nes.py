"""Requests for suggested edits, as far as both versions agree."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Int64, Maybe, OpenEnum, UInt32, UInt64
from duologue.protocol.common.documents import Position, Range
from duologue.protocol.common.ids import SessionId


class NesTriggerKind(OpenEnum):
    """Why suggestions are asked for."""

    AUTOMATIC = "automatic"
    DIAGNOSTIC = "diagnostic"
    MANUAL = "manual"


class NesDiagnosticSeverity(OpenEnum):
    """How bad a diagnostic is."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class NesRejectReason(OpenEnum):
    """Why a suggestion was not taken."""

    REJECTED = "rejected"
    IGNORED = "ignored"
    REPLACED = "replaced"
    CANCELLED = "cancelled"


class WorkspaceFolder(Extensible, kw_only=True):
    """A root folder of the workspace."""

    uri: str
    name: str


class NesRepository(Extensible, kw_only=True):
    """The repository that the workspace belongs to."""

    name: str
    owner: str
    remote_url: str


class StartNesRequest(Extensible, kw_only=True):
    """Opens a session for suggested edits."""

    workspace_uri: Maybe[str] = UNSET
    workspace_folders: list[WorkspaceFolder] | UnsetType | None = UNSET
    repository: Maybe[NesRepository] = UNSET


class StartNesResponse(Extensible, kw_only=True):
    """The session that was opened."""

    session_id: SessionId


class CloseNesRequest(Extensible, kw_only=True):
    """Closes a session for suggested edits."""

    session_id: SessionId


class CloseNesResponse(Extensible, kw_only=True):
    """The session is closed."""


class NesRecentFile(Extensible, kw_only=True):
    """A file that was edited lately."""

    uri: str
    language_id: str
    text: str


class NesExcerpt(Extensible, kw_only=True):
    """A stretch of a file, by line."""

    start_line: UInt32
    end_line: UInt32
    text: str


class NesRelatedSnippet(Extensible, kw_only=True):
    """Pieces of a file that bear on the present one."""

    uri: str
    excerpts: list[NesExcerpt]


class NesEditHistoryEntry(Extensible, kw_only=True):
    """An earlier edit, as a diff."""

    uri: str
    diff: str


class NesUserAction(Extensible, kw_only=True):
    """Something the user did; the time is in milliseconds since 1970."""

    action: str
    uri: str
    position: Position
    timestamp_ms: UInt64


class NesOpenFile(Extensible, kw_only=True):
    """A file open in the editor; the time of its last focus is in milliseconds since 1970."""

    uri: str
    language_id: str
    visible_range: Maybe[Range] = UNSET
    last_focused_ms: Maybe[UInt64] = UNSET


class NesDiagnostic(Extensible, kw_only=True):
    """A diagnostic of the editor."""

    uri: str
    range: Range
    severity: NesDiagnosticSeverity
    message: str


class NesSuggestContext(Extensible, kw_only=True):
    """What the client adds to a request, as the agent's capabilities ask."""

    recent_files: list[NesRecentFile] | UnsetType | None = UNSET
    related_snippets: list[NesRelatedSnippet] | UnsetType | None = UNSET
    edit_history: list[NesEditHistoryEntry] | UnsetType | None = UNSET
    user_actions: list[NesUserAction] | UnsetType | None = UNSET
    open_files: list[NesOpenFile] | UnsetType | None = UNSET
    diagnostics: list[NesDiagnostic] | UnsetType | None = UNSET


class SuggestNesRequest(Extensible, kw_only=True):
    """Asks for edits that are likely to come next."""

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    trigger_kind: NesTriggerKind
    selection: Range | UnsetType | None = UNSET
    context: NesSuggestContext | UnsetType | None = UNSET


class NesTextEdit(Extensible, kw_only=True):
    """New text for a range."""

    range: Range
    new_text: str
