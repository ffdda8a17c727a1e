"""The scratch copy of a project: nothing that is written to it reaches a file of the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from offline_kit import Session

from duologue.coder.models.offline.repair.lab.scratch import TooBig, scratch_copy

MOST = 1_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "real").mkdir(parents=True)
    (project / "real" / "app.py").write_text("inside\n")
    (project / ".venv").mkdir()
    (project / ".venv" / "kept.py").write_text("skipped\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "app.py").write_text("outside\n")
    return project


def test_no_link_of_the_copy_leads_to_a_file_of_the_user(root: Path) -> None:
    links = {
        "absolute.py": root / "real" / "app.py",
        "relative.py": Path("real/app.py"),
        "around.py": Path("../project/real/app.py"),
        "chain.py": root / "absolute.py",
        "out.py": root.parent / "out" / "app.py",
        "up.py": Path("../out/app.py"),
        "skipped.py": Path(".venv/kept.py"),
    }
    for name, leads in links.items():
        (root / name).symlink_to(leads)
    (root / "folder").symlink_to(root / "real")
    with scratch_copy(str(root), MOST) as scratch:
        for name in [*links, "folder/app.py"]:
            place = Path(scratch, name)
            assert place.read_text() == (root / name).read_text()
            assert Path(os.path.realpath(place)).is_relative_to(scratch)


def test_what_a_link_brings_into_the_copy_counts(root: Path) -> None:
    with (root.parent / "out" / "large").open("wb") as large:
        large.truncate(MOST + 1)
    (root / "large").symlink_to(root.parent / "out" / "large")
    with pytest.raises(TooBig), scratch_copy(str(root), MOST):
        pass


def test_pipes_loops_and_links_to_nothing_are_no_hindrance(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "nothing").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "here").symlink_to(".")
    with scratch_copy(str(root), MOST) as scratch:
        assert Path(scratch, "here", "real", "app.py").read_text() == "inside\n"
        assert not Path(scratch, "pipe").exists()


async def test_a_repair_is_tried_in_no_file_that_a_link_of_the_project_names(tmp_path: Path) -> None:
    """The file is read while the repair is sought: it must never hold anything but what the user wrote."""
    source = "import unittest\n\nSUM = 1 + 1\n\n\ndef is_two(number):\n    return number != SUM\n"
    tests = "import unittest\n\nimport app\n\n\nclass AppTest(unittest.TestCase):\n"
    tests += "    def test_it(self):\n        self.assertTrue(app.is_two(2))\n\n"
    tests += "    def test_other(self):\n        self.assertFalse(app.is_two(3))\n"
    session = Session(tmp_path, {"lib/app.py": source, "test_app.py": tests})
    (tmp_path / "app.py").symlink_to(tmp_path / "lib" / "app.py")
    session.answers["edit"] = "reject_once"
    before = (tmp_path / "lib" / "app.py").stat().st_mtime_ns
    turn = await session.say("fix the failing test")
    assert "`!=` becomes `==`" in turn.said
    assert session.read("lib/app.py") == source
    assert (tmp_path / "lib" / "app.py").stat().st_mtime_ns == before
