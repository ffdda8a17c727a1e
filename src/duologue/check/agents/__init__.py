"""Probes of agents."""

from duologue.check.agents import (
    batches,
    cancelling,
    extending,
    framing,
    handshake,
    jsonrpc,
    login,
    permissions,
    prompts,
    reopening,
    sessions,
    settings,
    withdrawing,
)

__all__ = [
    "batches",
    "cancelling",
    "extending",
    "framing",
    "handshake",
    "jsonrpc",
    "login",
    "permissions",
    "prompts",
    "reopening",
    "sessions",
    "settings",
    "withdrawing",
]
