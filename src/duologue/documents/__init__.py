"""Text documents that two sides keep in step: positions in each encoding, ranges, changes, edits."""

from duologue.documents.document import Document
from duologue.documents.edits import TextEdit, apply_edits, check_edits, difference
from duologue.documents.encodings import (
    DEFAULT_ENCODING,
    POSITION_ENCODINGS,
    choose_encoding,
    index_at,
    known_encoding,
    units,
)

__all__ = [
    "DEFAULT_ENCODING",
    "POSITION_ENCODINGS",
    "Document",
    "TextEdit",
    "apply_edits",
    "check_edits",
    "choose_encoding",
    "difference",
    "index_at",
    "known_encoding",
    "units",
]
