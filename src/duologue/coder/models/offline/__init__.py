"""A model of rules that needs no network: to try an editor's set-up, for demos and for tests."""

from duologue.coder.models.offline.model import OfflineModel
from duologue.coder.models.offline.settings import Settings

__all__ = ["OfflineModel", "Settings"]
