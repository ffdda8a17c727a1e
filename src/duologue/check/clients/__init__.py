"""Probes of clients."""

from duologue.check.clients import connections, lending, oddities, questions

__all__ = ["connections", "lending", "oddities", "questions"]
