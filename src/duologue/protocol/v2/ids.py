"""Identifiers and strings that only version 2 names."""

#: An absolute path of the agent's file system.
AbsolutePath = str

#: A media type, such as ``image/png``.
MediaType = str

#: Where the next page of a listing begins; only the agent can read it.
SessionListCursor = str
