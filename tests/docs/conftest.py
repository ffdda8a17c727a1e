from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import doc_pages
import pytest


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """Loads a page of the documentation as a module."""
    folder: Path = tmp_path_factory.mktemp("pages")
    return lambda name: doc_pages.load(name, folder)
