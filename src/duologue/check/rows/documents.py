"""Documents that both sides hold."""

from __future__ import annotations

from duologue.check.row import AGENT, CLIENT, row

ROWS = (
    row(
        "allu-documents-01",
        CLIENT,
        "MUST NOT",
        "rfd-next-edit-suggestions",
        "Events of documents are those that the agent asked for.",
    ),
    row(
        "allu-documents-02",
        CLIENT,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "They are notifications with the sessionId of nes.",
    ),
    row(
        "allu-documents-03",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "document/didOpen has uri, languageId, version and the text.",
    ),
    row(
        "allu-documents-04",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "document/didChange has uri, the new version and contentChanges.",
    ),
    row(
        "allu-documents-05",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "With full syncing each change is the whole text.",
    ),
    row(
        "allu-documents-06",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "With incremental syncing each change has a range, one after the other.",
    ),
    row(
        "allu-documents-07",
        AGENT,
        "SHAPE",
        "schema-unstable",
        "A change without a range replaces the document.",
    ),
    row(
        "allu-documents-08",
        CLIENT,
        "SHAPE",
        "rfd-next-edit-suggestions",
        "document/didFocus comes with each switch to a file, with version, position and what is seen.",
    ),
    row(
        "allu-documents-09",
        CLIENT,
        "SHAPE",
        "schema-unstable",
        "document/didSave and document/didClose have sessionId and uri.",
    ),
)
