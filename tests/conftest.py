"""What holds for the whole suite: requirement marks must name a row, a run of all tests is shared by several processes,
and peers run only when asked for."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from duologue.check.rows import ROWS

# Real programs of others need downloads; `make peers` sets the variable.
collect_ignore = [] if os.environ.get("DUOLOGUE_PEERS") else ["peers"]


# No test asserts a time, and how long an example takes says how busy the machine is.
settings.register_profile("duologue", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("duologue")

# What programs remember between two runs must not reach the home of the person who runs the tests.
STATE = tempfile.mkdtemp(prefix="duologue-tests-")
os.environ["XDG_STATE_HOME"] = STATE
# Neither may that person's settings reach the tests.
os.environ["XDG_CONFIG_HOME"] = str(Path(STATE, "config"))
os.environ.pop("DUOLOGUE_CONFIG", None)


def pytest_unconfigure() -> None:
    shutil.rmtree(STATE, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--req-report", metavar="FILE", help="write which tests prove which requirement, as JSON")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No other process for some of the tests, where its start costs more than it saves; else one for each core."""
    return None if is_whole_run(config) and not config.getoption("collectonly") else 0


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker what only the process that started it knows: a worker is always given names of files."""
    node.workerinput["whole_run"] = is_whole_run(node.config)


def is_whole_run(config: pytest.Config) -> bool:
    """Whether nothing was said of what to run."""
    told: dict[str, bool] = getattr(config, "workerinput", {})
    narrowed = any(config.getoption(option, False) for option in ("keyword", "markexpr", "lf"))
    return told.get("whole_run", config.args_source is config.ArgsSource.TESTPATHS and not narrowed)


@pytest.fixture(scope="session")
def whole_run(request: pytest.FixtureRequest) -> bool:
    return is_whole_run(request.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuses marks that name no row, and writes the report when one is wanted."""
    proofs = proofs_by_row(items)
    unknown = proofs.keys() - ROWS.keys()
    if unknown:
        lines = [f"{row} in {', '.join(proofs[row])}" for row in sorted(unknown)]
        raise pytest.UsageError("req marks without a requirement in src/duologue/check/rows:\n  " + "\n  ".join(lines))
    report = config.getoption("--req-report")
    if report:
        Path(report).write_text(json.dumps(proofs), encoding="utf-8")


def proofs_by_row(items: list[pytest.Item]) -> dict[str, list[str]]:
    """Requirement ids with the tests that carry them, in the order of collection."""
    proofs: dict[str, list[str]] = {}
    for item in items:
        for mark in item.iter_markers("req"):
            for row in mark.args:
                proofs.setdefault(row, []).append(item.nodeid)
    return proofs
