"""The project's own tests: how to run them, and what their output says."""

from duologue.coder.models.offline.suite.detect import Suite, find_suite
from duologue.coder.models.offline.suite.report import Failure, Report
from duologue.coder.models.offline.suite.run import run_tests

__all__ = ["Failure", "Report", "Suite", "find_suite", "run_tests"]
