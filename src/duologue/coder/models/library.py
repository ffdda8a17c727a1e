"""The library behind remote models, which a plain install does not have."""

from __future__ import annotations

import importlib.util

from duologue.coder.models.config import SettingsError

LIBRARY = "pydantic_ai"
INSTALL = "remote models need a library that is not installed: pip install '.[agent]' in the checkout of Duologue"


def check_library() -> None:
    """Look for it without loading it. Raises SettingsError, which says how to install it."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise SettingsError(INSTALL)
