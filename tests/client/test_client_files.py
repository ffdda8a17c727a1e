"""The client's files as an agent of version 1 uses them: what is read, what is written, and what is refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from client_kit import Host

from duologue.client import Client, LocalFiles, Policy, Session
from duologue.client.files import READS
from duologue.local import files as disk
from duologue.local.rules import Subject
from duologue.local.workspace import Place
from wire import settle, until

READ, WRITE = "fs/read_text_file", "fs/write_text_file"


class Editor:
    """Open buffers in memory."""

    def __init__(self, **texts: str) -> None:
        self.texts: dict[str, str] = dict(texts)

    def read(self, path: Path) -> str | None:
        return self.texts.get(path.name)

    def write(self, path: Path, text: str) -> bool:
        if path.name not in self.texts:
            return False
        self.texts[path.name] = text
        return True


class Files(Client):
    """Serves files, and writes in the folder of the session without a question."""

    def __init__(self, files: LocalFiles | None = None, *rules: str) -> None:
        self.files = files or LocalFiles()
        self.policy = Policy(*(rules or ("allow edit:**",)))


async def begin(root: Path, client: Client | None = None, **more: Any) -> Host:
    return await Host.begin(1, client or Files(), cwd=root, **more)


def code(reply: dict[str, Any]) -> int:
    return int(reply["error"]["code"])


# --- what is offered --------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-fs-10", "v1-initialize-11")
async def test_nothing_is_offered_until_the_author_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    host = await begin(tmp_path, Client())
    assert host.introduced["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert code(await host.replies(READ, path=str(tmp_path / "a"))) == -32601
    assert code(await host.replies(WRITE, path=str(tmp_path / "a"), content="y")) == -32601


@pytest.mark.req("v1-fs-10")
async def test_reading_alone_can_be_offered(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    host = await begin(tmp_path, Files(LocalFiles(write=False)))
    assert host.introduced["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert (await host.replies(READ, path=str(tmp_path / "a")))["result"] == {"content": "x"}
    assert code(await host.replies(WRITE, path=str(tmp_path / "a"), content="y")) == -32601
    assert (tmp_path / "a").read_text() == "x"


@pytest.mark.req("v2-fs-01", "v2-versioning-04", "v2-initialize-09")
async def test_version_2_knows_no_files(tmp_path: Path) -> None:
    host = await Host.begin(2, Files(), cwd=tmp_path)
    assert "fs" not in host.introduced["capabilities"]
    assert code(await host.replies(READ, path=str(tmp_path / "a"))) == -32601


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-fs-03", "v1-fs-04")
@pytest.mark.parametrize(
    "text", ["a\nb\nc\nd\ne\n", "a\nb\nc\nd\ne", "a\r\nb\r\nc\x0b\x0c\u2028\nd\n", "", "\ufeffa\n"]
)
@pytest.mark.parametrize(
    "window", [{}, {"line": 2}, {"limit": 1}, {"line": 2, "limit": 2}, {"line": 9}, {"line": 1, "limit": 0}]
)
async def test_field_bug_129_lines_count_from_one_and_keep_their_ends(
    tmp_path: Path, text: str, window: dict[str, Any]
) -> None:
    (tmp_path / "a").write_bytes(text.encode())
    host = await begin(tmp_path)
    reply = await host.replies(READ, path=str(tmp_path / "a"), **window)
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    first = window.get("line", 1) - 1
    assert reply["result"]["content"] == "".join(lines[first:][: window.get("limit")])


@pytest.mark.req("v1-fs-03")
async def test_null_is_like_absent(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\ny\n")
    host = await begin(tmp_path)
    reply = await host.replies(READ, path=str(tmp_path / "a"), line=None, limit=None)
    assert reply["result"] == {"content": "x\ny\n"}


@pytest.mark.req("v1-fs-05")
async def test_an_unsaved_buffer_is_read_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("saved")
    (tmp_path / "b").write_text("b")
    host = await begin(tmp_path, Files(LocalFiles(Editor(a="one\nunsaved\n"))))
    assert (await host.replies(READ, path=str(tmp_path / "a"), line=2))["result"] == {"content": "unsaved\n"}
    assert (await host.replies(READ, path=str(tmp_path / "b")))["result"] == {"content": "b"}


async def test_a_buffer_is_named_by_the_folder_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "given").symlink_to("real")
    seen: list[Path] = []

    class Watching(Editor):
        def read(self, path: Path) -> str | None:
            seen.append(path)
            return "x"

    host = await begin(tmp_path / "given", Files(LocalFiles(Watching())))
    await host.replies(READ, path=str(tmp_path / "real" / "a"))
    assert seen == [tmp_path / "given" / "a"]


@pytest.mark.req("v1-fs-09")
@pytest.mark.parametrize(
    ("path", "expected"), [("missing", -32002), ("no/such/folder", -32002), ("folder", -32602), ("binary", -32603)]
)
async def test_what_cannot_be_read_is_an_error(tmp_path: Path, path: str, expected: int) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"a\0b")
    host = await begin(tmp_path)
    reply = await host.replies(READ, path=str(tmp_path / path))
    assert code(reply) == expected
    assert path in reply["error"]["message"]


@pytest.mark.req("v1-fs-09")
async def test_a_relative_path_and_an_unknown_session_are_errors(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    host = await begin(tmp_path)
    for reply in (await host.replies(READ, path="a"), await host.replies(WRITE, path="a", content="")):
        assert (code(reply), reply["error"]["data"]) == (-32602, {"path": "$.params.path"})
    assert code(await host.replies(READ, path=str(tmp_path / "a"), sessionId="ghost")) == -32002
    assert code(await host.replies(WRITE, path=str(tmp_path / "a"), content="", sessionId="ghost")) == -32002


async def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 101)
    host = await begin(tmp_path, Files(LocalFiles(file_bytes=100)))
    assert "limit" in (await host.replies(READ, path=str(tmp_path / "a")))["error"]["message"]
    assert "limit" in (await host.replies(WRITE, path=str(tmp_path / "b"), content="x" * 101))["error"]["message"]
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("bad", [1.5, -1, "2", True, 1e30])
async def test_field_bug_130_a_line_that_is_no_count_touches_no_file(tmp_path: Path, bad: Any) -> None:
    (tmp_path / "a").write_text("x\ny\n")
    host = await begin(tmp_path)
    for member in ("line", "limit"):
        reply = await host.replies(READ, path=str(tmp_path / "a"), **{member: bad})
        # The schema lets a bad optional value count as absent.
        assert reply.get("result") == {"content": "x\ny\n"} or code(reply) == -32602


# --- the folders of the session ---------------------------------------------------------------------------------------


@pytest.mark.req("v1-fs-11")
async def test_field_bug_131_133_135_nothing_outside_of_the_folders_is_touched(tmp_path: Path) -> None:
    root, outside = tmp_path / "web", tmp_path / "web-old"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "link").symlink_to(outside / "secret")
    (root / "way").symlink_to(outside)
    (root / "inner").symlink_to("own")
    (root / "own").write_text("own")
    host = await begin(root, Files(None, "allow edit:**", f"allow edit:{tmp_path}/**"))
    for path in (
        outside / "secret",
        root / "link",
        root / "way" / "secret",
        f"{root}/../web-old/secret",
        "/etc/passwd",
    ):
        assert code(await host.replies(READ, path=str(path))) == -32602
        assert code(await host.replies(WRITE, path=str(path), content="x")) == -32602
    assert (outside / "secret").read_text() == "secret"
    assert (await host.replies(READ, path=str(root / "inner")))["result"] == {"content": "own"}


@pytest.mark.req("v1-fs-11")
async def test_additional_directories_belong_to_the_folders(tmp_path: Path) -> None:
    for name in ("main", "more", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text(name)
    host = await begin(tmp_path / "main", folders=[tmp_path / "more"])
    assert (await host.replies(READ, path=str(tmp_path / "more" / "a")))["result"] == {"content": "more"}
    assert code(await host.replies(READ, path=str(tmp_path / "other" / "a"))) == -32602


async def test_field_bug_134_dots_are_followed_as_the_system_does(tmp_path: Path) -> None:
    (tmp_path / "p" / "q").mkdir(parents=True)
    (tmp_path / "jump").symlink_to(tmp_path / "p" / "q")
    (tmp_path / "n").write_text("wrong")
    host = await begin(tmp_path)
    assert "result" in await host.replies(WRITE, path=f"{tmp_path}/jump/../n", content="right")
    assert (tmp_path / "p" / "n").read_text() == "right"
    assert (tmp_path / "n").read_text() == "wrong"


async def test_a_link_that_leads_elsewhere_once_it_is_allowed_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("notes")
    (tmp_path / ".env").write_text("secret")
    (tmp_path / "link").symlink_to("notes")

    class Swapped(Files):
        async def confirm(self, session: Session, subject: Subject) -> bool:
            (tmp_path / "link").unlink()
            (tmp_path / "link").symlink_to(".env")
            return True

    host = await begin(tmp_path, Swapped(None, "reject edit:.env"))
    reply = await host.replies(WRITE, path=str(tmp_path / "link"), content="x")
    assert code(reply) == -32602 and "leads elsewhere" in reply["error"]["message"]
    assert (tmp_path / ".env").read_text() == "secret" and (tmp_path / "notes").read_text() == "notes"


async def test_a_link_put_in_between_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, outside = tmp_path / "root", tmp_path / "out"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "a").write_text("outside")
    (root / "sub" / "a").write_text("inside")
    client = Files()
    host = await begin(root, client)
    real_open = disk.open_parent

    def swapping(place: Any, **more: Any) -> Any:
        (root / "sub").rename(root / "was")
        (root / "sub").symlink_to(outside)
        return real_open(place, **more)

    monkeypatch.setattr(disk, "open_parent", swapping)
    assert code(await host.replies(READ, path=str(root / "sub" / "a"))) == -32602
    monkeypatch.undo()
    assert (outside / "a").read_text() == "outside"


async def test_a_session_in_a_folder_that_is_not_here_reads_nothing(tmp_path: Path) -> None:
    host = await begin(tmp_path / "elsewhere")
    assert code(await host.replies(READ, path=str(tmp_path / "elsewhere" / "a"))) == -32602


# --- writing ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-fs-06", "v1-fs-07", "v1-fs-08")
async def test_a_write_makes_a_file_and_replaces_it(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    path = tmp_path / "new" / "a"
    assert (await host.replies(WRITE, path=str(path), content="long text\n"))["result"] == {}
    assert path.read_text() == "long text\n"
    path.chmod(0o750)
    assert (await host.replies(WRITE, path=str(path), content="é\r\n"))["result"] == {}
    assert path.read_bytes() == "é\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o750
    assert [entry.name for entry in os.scandir(path.parent)] == ["a"]


async def test_a_write_into_an_open_buffer_leaves_the_file_to_the_editor(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("saved")
    editor = Editor(a="unsaved")
    host = await begin(tmp_path, Files(LocalFiles(editor)))
    assert "result" in await host.replies(WRITE, path=str(tmp_path / "a"), content="new")
    assert (editor.texts["a"], (tmp_path / "a").read_text()) == ("new", "saved")
    assert "result" in await host.replies(WRITE, path=str(tmp_path / "b"), content="new")
    assert (tmp_path / "b").read_text() == "new"


@pytest.mark.parametrize("rules", [["ask edit:**"], ["reject edit:**"], ["allow edit:other/**"], ["reject kind:edit"]])
async def test_a_write_that_nobody_allowed_is_refused(tmp_path: Path, rules: list[str]) -> None:
    (tmp_path / "a").write_text("old")
    editor = Editor(a="old")
    for buffers in (None, editor):
        host = await begin(tmp_path, Files(LocalFiles(buffers), *rules))
        reply = await host.replies(WRITE, path=str(tmp_path / "a"), content="new")
        assert "not allowed" in reply["error"]["message"]
    assert ((tmp_path / "a").read_text(), editor.texts["a"]) == ("old", "old")


@pytest.mark.parametrize("answer", [True, False, None, "yes", OSError("no")])
async def test_what_the_policy_asks_about_is_for_the_client_to_confirm(tmp_path: Path, answer: Any) -> None:
    asked: list[Subject] = []

    class Confirming(Files):
        async def confirm(self, session: Session, subject: Subject) -> bool:
            asked.append(subject)
            if isinstance(answer, OSError):
                raise answer
            return answer  # type: ignore[no-any-return]

    host = await begin(tmp_path, Confirming(None, "ask edit:**"))
    reply = await host.replies(WRITE, path=str(tmp_path / "a"), content="x")
    assert ("result" in reply) == (tmp_path / "a").exists() == (answer is True)
    assert [subject.paths for subject in asked] == [(tmp_path / "a",)]  # type: ignore[union-attr]


async def test_writes_to_one_file_happen_in_the_order_they_came(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    path = str(tmp_path / "a")
    for number in range(30):
        params = {"sessionId": "S", "path": path, "content": f"{number}\n"}
        host.send({"id": f"w{number}", "method": WRITE, "params": params})
    assert (await host.replies(READ, path=path))["result"] == {"content": "29\n"}


async def test_a_cancelled_turn_refuses_what_waits_to_be_confirmed(tmp_path: Path) -> None:
    asked = asyncio.Event()

    class Slow(Files):
        async def confirm(self, session: Session, subject: Subject) -> bool:
            asked.set()
            await asyncio.Event().wait()
            return True

    host = await begin(tmp_path, Slow(None, "ask edit:**"))
    run, request = await host.prompt()
    host.send({"id": "w", "method": WRITE, "params": {"sessionId": "S", "path": str(tmp_path / "a"), "content": "x"}})
    await until(asked.is_set)
    await run.turn.cancel()
    assert "not allowed" in (await host.wire.read_answer("w"))["error"]["message"]
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"
    assert not (tmp_path / "a").exists()


# --- an agent that asks and does not read -----------------------------------------------------------------------------


async def test_texts_for_an_agent_that_does_not_read_do_not_pile_up(tmp_path: Path) -> None:
    class Counting(LocalFiles):
        read_so_far = 0

        def _read(self, place: Place) -> str:
            self.read_so_far += 1
            return super()._read(place)

    (tmp_path / "a").write_text("x" * 1_000_000)
    files = Counting()
    host = await begin(tmp_path, Files(files))
    host.wire.near.pause_reading()
    calls = [host.wire.call(READ, {"sessionId": "S", "path": str(tmp_path / "a")}) for _ in range(40)]
    host.wire.send(*calls)
    await until(lambda: host.connection.peer.link.outbound.blocked)
    await settle()
    # What was begun before the agent stopped may still be made.
    assert files.read_so_far <= 2 * READS
    host.wire.near.resume_reading()
    # Some are read at once, so answers may overtake each other.
    answers = [await host.wire.read() for _ in calls]
    assert {answer["id"] for answer in answers} == {call["id"] for call in calls}
    assert all(len(answer["result"]["content"]) == 1_000_000 for answer in answers)
