"""A file that is replaced keeps what it was beside its bytes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from duologue.local.files import replace
from duologue.local.workspace import Workspace

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def put(root: Path, mode: int) -> Path:
    file = root / "f"
    file.write_bytes(b"old")
    file.chmod(mode)
    return file


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o4755, 0o2770, 0o222])
def test_a_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = put(tmp_path, mode)
    replace(Workspace([tmp_path]).resolve("f"), b"new")
    assert mode_of(file) == mode


def test_a_mode_that_is_given_counts(tmp_path: Path) -> None:
    file = put(tmp_path, 0o644)
    replace(Workspace([tmp_path]).resolve("f"), b"new", 0o750)
    assert mode_of(file) == 0o750


@AS_ROOT
def test_a_file_keeps_its_owner_and_its_group(tmp_path: Path) -> None:
    file = put(tmp_path, 0o644)
    os.chown(file, 4321, 8765)
    file.chmod(0o6755)
    replace(Workspace([tmp_path]).resolve("f"), b"new")
    status = file.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (4321, 8765, 0o6755)


@AS_ROOT
def test_a_program_that_runs_as_its_owner_becomes_none_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(tmp_path, 0o644)
    os.chown(file, 4321, 8765)
    file.chmod(0o6755)

    def refuse(*_: int) -> None:
        raise PermissionError(errno.EPERM, "not allowed")

    monkeypatch.setattr(os, "fchown", refuse)
    replace(Workspace([tmp_path]).resolve("f"), b"new")
    assert (file.read_bytes(), mode_of(file)) == (b"new", 0o755)


def test_a_file_system_that_syncs_no_folder_takes_a_file_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def only_files(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "not here")
        sync(file)

    monkeypatch.setattr(os, "fsync", only_files)
    replace(Workspace([tmp_path]).resolve("f"), b"new")
    assert (tmp_path / "f").read_bytes() == b"new"
