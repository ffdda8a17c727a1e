"""Paths: what is inside, what is not, and what a link may do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duologue.coder.files import Disk
from duologue.coder.limits import CoderLimits
from duologue.local.errors import NotText, PathRefused, TooLarge
from duologue.local.files import open_folder
from duologue.local.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "web").mkdir()
    return tmp_path / "web"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "web-old").mkdir()
    (tmp_path / "web-old" / "secret").write_text("secret")
    return tmp_path / "web-old"


@pytest.mark.req("all-session-04")
def test_relative_paths_start_at_the_working_folder_wherever_the_process_is(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outside)
    place = Workspace([root]).resolve("a/b.txt")
    assert place.shown == root / "a" / "b.txt"
    assert place.name == "a/b.txt"


@pytest.mark.parametrize(
    "path", ["../web-old/secret", "../web/../web-old/secret", "/etc/passwd", "..", "/", "a/../../x"]
)
@pytest.mark.req("all-session-31")
def test_what_is_not_below_a_root_is_refused_by_whole_names(root: Path, outside: Path, path: str) -> None:
    (root / "a").mkdir()
    with pytest.raises(PathRefused):
        Workspace([root]).resolve(path)


def test_a_sibling_with_the_same_beginning_is_outside(root: Path, outside: Path) -> None:
    with pytest.raises(PathRefused, match="outside the workspace"):
        Workspace([root]).resolve(outside / "secret")


def test_a_link_that_leads_out_is_refused_and_one_that_stays_is_followed(root: Path, outside: Path) -> None:
    (root / "out").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    (root / "real.txt").write_text("x")
    (root / "in").symlink_to("real.txt")
    workspace = Workspace([root])
    for path in ("out", "folder/secret", "folder/new.txt", "folder"):
        with pytest.raises(PathRefused):
            workspace.resolve(path)
    assert workspace.resolve("in").shown == root / "real.txt"


async def test_a_dangling_link_is_not_written_through(root: Path, outside: Path) -> None:
    (root / "dangling").symlink_to(outside / "new")
    with pytest.raises(PathRefused):
        await Disk(Workspace([root])).write_text(root / "dangling", "x")
    assert not (outside / "new").exists()


def test_dots_after_a_link_are_the_operating_systems(root: Path) -> None:
    (root / "p" / "q").mkdir(parents=True)
    (root / "jump").symlink_to(root / "p" / "q")
    assert Workspace([root]).resolve("jump/../n.txt").shown == root / "p" / "n.txt"


def test_dots_after_a_folder_that_is_not_there_lead_nowhere(root: Path) -> None:
    with pytest.raises(PathRefused, match="does not exist"):
        Workspace([root]).resolve("missing/../x")


def test_a_path_through_a_file_is_refused(root: Path) -> None:
    (root / "file").write_text("")
    with pytest.raises(PathRefused):
        Workspace([root]).resolve("file/x")


@pytest.mark.parametrize("path", ["", "a\0b", "x/" * 2000, "y" * 5000])
def test_paths_that_are_none_are_refused(root: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        Workspace([root]).resolve(path)


def test_a_link_that_leads_to_itself_is_refused(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(PathRefused):
        Workspace([root]).resolve("loop/x")


@pytest.mark.req("all-session-32")
def test_additional_folders_are_in_scope_the_same_way(root: Path, outside: Path) -> None:
    workspace = Workspace([root, outside])
    assert workspace.resolve(outside / "secret").name == str(outside / "secret")
    assert workspace.resolve("../web-old/secret").shown == outside / "secret"


def test_paths_are_shown_below_the_root_as_it_was_named(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    place = Workspace([tmp_path / "alias"]).resolve("a.txt")
    assert place.shown == tmp_path / "alias" / "a.txt"
    assert place.real == root / "a.txt"


def test_a_nested_root_wins(root: Path) -> None:
    (root / "sub").mkdir()
    place = Workspace([root, root / "sub"]).resolve("sub/x")
    assert (place.root, place.name) == (root / "sub", "sub/x")


@pytest.mark.parametrize("roots", [[], ["relative"], ["/no/such/folder"]])
def test_roots_must_be_absolute_folders(roots: list[str]) -> None:
    with pytest.raises(ValueError, match="folder"):
        Workspace(roots)


def test_a_folder_swapped_for_a_link_after_the_check_is_not_entered(root: Path, outside: Path) -> None:
    (root / "sub").mkdir()
    place = Workspace([root]).resolve("sub/secret")
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    with pytest.raises(PathRefused), open_folder(place.root, place.parts[:-1]):
        pass


async def test_a_file_swapped_for_a_link_after_the_check_is_not_opened(root: Path, outside: Path) -> None:
    (root / "f").write_text("mine")
    disk = Disk(Workspace([root]))
    place = disk.workspace.resolve("f")
    (root / "f").unlink()
    (root / "f").symlink_to(outside / "secret")
    with pytest.raises(PathRefused):
        disk._read(place)


async def test_text_comes_and_goes_byte_for_byte(root: Path) -> None:
    disk = Disk(Workspace([root]))
    data = b"\xef\xbb\xbfa\r\nb\nc\r"
    (root / "f").write_bytes(data)
    text = await disk.read_text(root / "f")
    assert text == "\ufeffa\r\nb\nc\r"
    await disk.write_text(root / "f", text)
    assert (root / "f").read_bytes() == data


async def test_a_write_keeps_the_mode_and_a_new_file_gets_the_usual_one(root: Path) -> None:
    disk = Disk(Workspace([root]))
    script = root / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    await disk.write_text(script, "new")
    await disk.write_text(root / "deep" / "er" / "new.txt", "new")
    umask = os.umask(0)
    os.umask(umask)
    assert script.stat().st_mode & 0o7777 == 0o751
    assert (root / "deep" / "er" / "new.txt").stat().st_mode & 0o7777 == 0o666 & ~umask
    assert os.listdir(root / "deep" / "er") == ["new.txt"]  # noqa: PTH208


async def test_a_write_through_a_link_keeps_the_link(root: Path) -> None:
    (root / "real").write_text("old")
    (root / "link").symlink_to("real")
    await Disk(Workspace([root])).write_text(root / "link", "new")
    assert (root / "link").is_symlink()
    assert (root / "real").read_text() == "new"


async def test_a_write_that_fails_leaves_the_old_text_and_no_draft(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "f").write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        await Disk(Workspace([root])).write_text(root / "f", "new")
    assert (root / "f").read_text() == "old"
    assert os.listdir(root) == ["f"]  # noqa: PTH208


async def test_a_read_only_file_is_not_replaced(root: Path) -> None:
    (root / "f").write_text("old")
    (root / "f").chmod(0o444)
    with pytest.raises(PathRefused, match="read-only"):
        await Disk(Workspace([root])).write_text(root / "f", "new")


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"a\0b", "binary"), (b"\xff\xfea\0", "UTF-16"), (b"caf\xe9", "not UTF-8"), (b"\xff\xfe\0\0", "UTF-32")],
)
async def test_what_is_no_text_is_refused_with_the_reason(root: Path, data: bytes, reason: str) -> None:
    (root / "f").write_bytes(data)
    with pytest.raises(NotText, match=reason):
        await Disk(Workspace([root])).read_text(root / "f")


async def test_sizes_have_limits(root: Path) -> None:
    disk = Disk(Workspace([root]), CoderLimits(file=10))
    (root / "f").write_text("x" * 11)
    with pytest.raises(TooLarge, match="10"):
        await disk.read_text(root / "f")
    with pytest.raises(TooLarge, match="10"):
        await disk.write_text(root / "g", "x" * 11)
    assert not (root / "g").exists()


async def test_a_pipe_and_a_folder_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    disk = Disk(Workspace([root]))
    for name in ("pipe", "folder"):
        with pytest.raises(PathRefused):
            await disk.read_text(root / name)
        with pytest.raises(PathRefused):
            await disk.write_text(root / name, "x")
    with pytest.raises(PathRefused):
        await disk.delete(root)
