"""Identifiers that only version 1 has."""

#: A mode of a session.
SessionModeId = str
