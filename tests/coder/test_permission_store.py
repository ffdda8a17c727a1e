"""The file of saved permissions: what it may hold, and what is never done with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from permission_kit import PROJECT, QUESTION, gate_with, run, write

from duologue.coder.permissions import PermissionStore
from duologue.local.rules import Rule, Run, Write, parse_rule
from wire import PATIENCE


async def test_field_bug_65_what_was_kept_holds_after_a_restart_in_its_project_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "permissions.json"
    gate, _ = gate_with("allow_always", store=PermissionStore(path))
    await gate.decide(run("make a"), QUESTION)
    await gate.decide(write("src/a.py"), QUESTION)
    assert path.stat().st_mode & 0o777 == 0o600
    again, person = gate_with("reject_once", store=PermissionStore(path))
    assert await again.decide(run("make a"), QUESTION) == "allowed"
    assert await again.decide(write("src/b.py"), QUESTION) == "allowed"
    assert person.questions == []
    elsewhere, person = gate_with("reject_once", store=PermissionStore(path), project=Path("/home/me/other"))
    assert await elsewhere.decide(Run("make a", Path("/home/me/other")), QUESTION) == "refused when asked"


async def test_two_sessions_keep_each_others_rules(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    one, two = PermissionStore(path), PermissionStore(path)
    one.remember([Rule("allow", "run", "make a", PROJECT, PROJECT)])
    two.remember([Rule("allow", "run", "make b", PROJECT, PROJECT)])
    assert {rule.pattern for rule in PermissionStore(path).kept} == {"make a", "make b"}


VALID = {"version": 1, "rules": [{"rule": "run:make", "project": str(PROJECT)}]}


KEEPER = """
import sys
from pathlib import Path
from duologue.coder.permissions import PermissionStore
from duologue.local.rules import Rule
store = PermissionStore(Path(sys.argv[1]))
for number in range(25):
    store.remember([Rule("reject", "run", f"{sys.argv[2]} {number}", Path("/project"))])
"""


def test_processes_that_save_at_once_lose_no_rule(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    keepers = [subprocess.Popen([sys.executable, "-c", KEEPER, str(path), name]) for name in ("one", "two", "three")]
    assert [keeper.wait(PATIENCE) for keeper in keepers] == [0, 0, 0]
    kept = {rule.pattern for rule in PermissionStore(path).kept}
    assert kept == {f"{name} {number}" for name in ("one", "two", "three") for number in range(25)}


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b" " * 2_000_000),
        *(b'{"version": 2, "rules": []}', b'{"version": 1, "rules": {"a": 1}}'),
    ],
)
def test_a_broken_file_is_ignored_with_a_notice_and_left_alone(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(data)
    path.chmod(0o600)
    store = PermissionStore(path)
    assert store.rules == ()
    assert len(store.notices) == 1
    assert str(path) in store.notices[0]
    store.remember([Rule("allow", "run", "make", PROJECT)])
    assert path.read_bytes() == data
    assert store.decide(run("make"), PROJECT) == "allow"
    assert "could not be saved and holds for this run only" in store.notices[1]
    assert all(notice in caplog.text for notice in store.notices)


@pytest.mark.parametrize(
    "item",
    [
        *(1, {}, {"rule": "run:*"}, {"rule": "run:*", "project": "relative"}),
        *({"rule": 1, "project": "/p"}, {"rule": "nonsense", "project": "/p"}, {"rule": "run:a && b", "project": "/p"}),
    ],
)
def test_a_broken_rule_is_dropped_with_a_notice_and_the_others_hold(tmp_path: Path, item: object) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"version": 1, "rules": [item, *VALID["rules"]]}))  # type: ignore[misc]
    path.chmod(0o600)
    store = PermissionStore(path)
    assert [str(rule) for rule in store.kept] == ["run:make"]
    assert len(store.notices) == 1
    store.remember([Rule("allow", "run", "make b", PROJECT)])
    assert item in json.loads(path.read_text())["rules"]
    assert len(store.notices) == 1
    assert [str(rule) for rule in PermissionStore(path).kept] == ["run:make", "run:make b"]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_trusted(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(VALID))
    path.chmod(mode)
    store = PermissionStore(path)
    assert store.kept == ()
    assert "others can write it" in store.notices[0]
    store.remember([Rule("allow", "run", "make b", PROJECT)])
    assert json.loads(path.read_text()) == VALID


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text(json.dumps(VALID))
    (tmp_path / "p.json").symlink_to(tmp_path / "real")
    assert PermissionStore(tmp_path / "p.json").kept == ()


def test_a_file_that_cannot_be_written_is_a_notice_and_the_rule_holds_for_now(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = PermissionStore(tmp_path / "file" / "p.json")
    store.remember([Rule("allow", "run", "make", PROJECT)])
    assert store.decide(run("make"), PROJECT) == "allow"
    assert "could not be saved" in store.notices[-1]


async def test_no_rule_lets_anyone_write_the_file_of_the_rules(tmp_path: Path) -> None:
    store = PermissionStore(tmp_path / "p\u00e9.json", rules=[parse_rule("edit:**"), parse_rule("delete:**")])
    gate, person = gate_with("reject_once", store=store, project=tmp_path)
    for name in ("p\u00e9.json", "P\u00c9.json", "pe\u0301.json"):
        assert await gate.decide(Write((tmp_path / "q", tmp_path / name)), QUESTION) == "refused when asked"
    assert await gate.decide(Write((tmp_path / "p\u00e9.json",), "delete"), QUESTION) == "refused when asked"
    assert await gate.decide(Write((tmp_path / "q.json",)), QUESTION) == "allowed"
    assert len(person.questions) == 4
