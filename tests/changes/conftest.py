"""Lets these tests use the strategies that tests/protocol makes from the schemas."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "protocol"))
