"""From a person's words to steps: rules for plain English."""

from duologue.coder.models.offline.intents.compound import understand

__all__ = ["understand"]
