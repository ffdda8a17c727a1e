"""What the two sides announce about suggested edits."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum, UInt32


class TextDocumentSyncKind(OpenEnum):
    """Whether a change comes as the whole text or in pieces."""

    FULL = "full"
    INCREMENTAL = "incremental"


class NesDocumentDidOpenCapabilities(Extensible, kw_only=True):
    """The agent wants to hear of opened documents."""


class NesDocumentDidChangeCapabilities(Extensible, kw_only=True):
    """The agent wants to hear of changes, whole or in pieces."""

    sync_kind: TextDocumentSyncKind


class NesDocumentDidCloseCapabilities(Extensible, kw_only=True):
    """The agent wants to hear of closed documents."""


class NesDocumentDidSaveCapabilities(Extensible, kw_only=True):
    """The agent wants to hear of saved documents."""


class NesDocumentDidFocusCapabilities(Extensible, kw_only=True):
    """The agent wants to hear which document has the focus."""


class NesDocumentEventCapabilities(Extensible, kw_only=True):
    """The document events that the agent wants to hear."""

    did_open: Maybe[NesDocumentDidOpenCapabilities] = UNSET
    did_change: Maybe[NesDocumentDidChangeCapabilities] = UNSET
    did_close: Maybe[NesDocumentDidCloseCapabilities] = UNSET
    did_save: Maybe[NesDocumentDidSaveCapabilities] = UNSET
    did_focus: Maybe[NesDocumentDidFocusCapabilities] = UNSET


class NesEventCapabilities(Extensible, kw_only=True):
    """The events that the agent wants to hear."""

    document: Maybe[NesDocumentEventCapabilities] = UNSET


class NesRecentFilesCapabilities(Extensible, kw_only=True):
    """The agent uses recently edited files."""

    max_count: Maybe[UInt32] = UNSET


class NesRelatedSnippetsCapabilities(Extensible, kw_only=True):
    """The agent uses related pieces of code."""


class NesEditHistoryCapabilities(Extensible, kw_only=True):
    """The agent uses the latest edits."""

    max_count: Maybe[UInt32] = UNSET


class NesUserActionsCapabilities(Extensible, kw_only=True):
    """The agent uses the latest actions of the user."""

    max_count: Maybe[UInt32] = UNSET


class NesOpenFilesCapabilities(Extensible, kw_only=True):
    """The agent uses the list of open files."""


class NesDiagnosticsCapabilities(Extensible, kw_only=True):
    """The agent uses diagnostics."""


class NesContextCapabilities(Extensible, kw_only=True):
    """The context that the agent wants with a request for suggestions."""

    recent_files: Maybe[NesRecentFilesCapabilities] = UNSET
    related_snippets: Maybe[NesRelatedSnippetsCapabilities] = UNSET
    edit_history: Maybe[NesEditHistoryCapabilities] = UNSET
    user_actions: Maybe[NesUserActionsCapabilities] = UNSET
    open_files: Maybe[NesOpenFilesCapabilities] = UNSET
    diagnostics: Maybe[NesDiagnosticsCapabilities] = UNSET


class NesCapabilities(Extensible, kw_only=True):
    """How the agent suggests edits."""

    events: Maybe[NesEventCapabilities] = UNSET
    context: Maybe[NesContextCapabilities] = UNSET


class NesJumpCapabilities(Extensible, kw_only=True):
    """The client can show a jump."""


class NesRenameCapabilities(Extensible, kw_only=True):
    """The client can show a rename."""


class NesSearchAndReplaceCapabilities(Extensible, kw_only=True):
    """The client can show a search and replace."""


class ClientNesCapabilities(Extensible, kw_only=True):
    """The kinds of suggestion that the client can show, apart from edits."""

    jump: Maybe[NesJumpCapabilities] = UNSET
    rename: Maybe[NesRenameCapabilities] = UNSET
    search_and_replace: Maybe[NesSearchAndReplaceCapabilities] = UNSET
