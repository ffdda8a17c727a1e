"""What a child sees of its starter's environment."""

from __future__ import annotations

import os

from duologue.processes.environment import ALLOWED, ALLOWED_PREFIXES, SECRET, child_environment


def test_field_bug_170_a_child_sees_what_it_needs_to_sign_in() -> None:
    needed = {"HOME": "/h", "PATH": "/bin", "LANG": "C", "HTTPS_PROXY": "p", "no_proxy": "n", "XDG_CONFIG_HOME": "/c"}
    assert child_environment({**needed, "LC_ALL": "C", "TOKEN": "t"}) == {**needed, "LC_ALL": "C"}


def test_names_pass_when_they_are_listed_but_secrets_only_as_values() -> None:
    parent = {"EDITOR_HOME": "/e", "MY_TOKEN": "t", "PATH": "/bin", "https_proxy": "http://user:word@proxy"}
    seen = child_environment(parent, names=parent, values={"OTHER_TOKEN": "given"})
    assert seen == {"EDITOR_HOME": "/e", "PATH": "/bin", "OTHER_TOKEN": "given"}


def test_the_search_path_leads_to_no_program_of_the_project() -> None:
    assert child_environment({"PATH": "/bin:.::bin:/usr/bin"})["PATH"] == "/bin:/usr/bin"
    assert child_environment({})["PATH"] == os.defpath


def test_no_name_that_a_child_sees_is_one_of_a_secret() -> None:
    assert [name for name in (*ALLOWED, *ALLOWED_PREFIXES) if SECRET.search(name)] == []


def test_field_bug_173_a_launcher_script_of_windows_finds_its_interpreter() -> None:
    """`npx.cmd` and its like are found by PATHEXT and run by COMSPEC, below SYSTEMROOT."""
    needed = {"PATH": "/bin", "PATHEXT": ".COM;.EXE;.BAT;.CMD", "COMSPEC": "cmd.exe", "SYSTEMROOT": r"C:\Windows"}
    needed |= {"APPDATA": r"C:\Users\a\AppData", "USERPROFILE": r"C:\Users\a"}
    assert child_environment(needed) == needed
