"""Probes of clients."""

from duologue.check.clients import connections, oddities, questions

__all__ = ["connections", "oddities", "questions"]
