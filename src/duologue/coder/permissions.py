"""Who decides about a write or a command: rules first, then a person. Everything that is not a clear yes is a no."""

from __future__ import annotations

import json
import logging
import os
import secrets
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from duologue.coder.events import PermissionAnswer, PermissionQuestion
from duologue.local.lock import Lock
from duologue.local.rules import Effect, Rule, Subject, allowing_rule, always, checked, escape, exactly, parse_rule

Ask = Callable[[PermissionQuestion], Awaitable[PermissionAnswer]]
Verdict = Literal["allowed", "refused by a rule", "refused when asked", "cancelled"]

Ready = Callable[[], Awaitable[None]]

log = logging.getLogger(__name__)

STORE_VERSION = 1
STORE_BYTES = 1024 * 1024
#: How long another process may take to save, in seconds.
SAVE_SECONDS = 1.0


class PermissionStore:
    """The rules that hold: given ones, and those a person made with "always". One store may serve several sessions.

    With a `path` the made rules are kept in that file (owner only, replaced in one step). A file that cannot be trusted
    is ignored, which means that things are asked again, and is never written over; `notices` and the log say so in
    words for a person. Saved rules that are not understood stay in the file as they are.
    """

    def __init__(self, path: Path | None = None, *, rules: Iterable[Rule] = ()) -> None:
        self.path = path
        self.given = tuple(checked(rule) for rule in rules)
        self.notices: list[str] = []
        self._foreign: list[Any] = []
        self.kept: tuple[Rule, ...] = self._load()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.given + self.kept

    def decide(self, subject: Subject, project: Path) -> Effect | None:
        """What the rules say; a refusal is stronger than a permission. None when they say nothing."""
        if any(rule.effect == "reject" and rule.covers(subject, project) for rule in self.rules):
            return "reject"
        return None if self.allowing(subject, project) is None else "allow"

    def allowing(self, subject: Subject, project: Path) -> Rule | None:
        """The rule that allows this, where none rejects it."""
        return None if self._touches_store(subject) else allowing_rule(self.rules, subject, project)

    def remember(self, rules: Iterable[Rule]) -> None:
        """Keep rules from now on. Failing to write the file is a notice: they then hold for this run only."""
        fresh = tuple(rule for rule in rules if rule not in self.kept)
        if not fresh:
            return
        self.kept += fresh
        if self.path is None:
            return
        try:
            self._save(self.path)
        except (OSError, ValueError, RecursionError) as error:
            self._notice(f"the permission could not be saved and holds for this run only ({_reason(error)})")

    def _notice(self, text: str) -> None:
        """Said once, however often it is found."""
        notice = f"{self.path}: {text}"
        if notice not in self.notices:
            self.notices.append(notice)
            log.warning("%s", notice)

    def _touches_store(self, subject: Subject) -> bool:
        """A rule must not let anyone write the file that holds the rules."""
        if self.path is None:
            return False
        # By whatever spelling: some file systems take several for one name, as a rule that rejects does.
        itself = Rule("reject", "edit", escape(self.path.resolve().as_posix()))
        return itself.covers(subject, self.path.parent)

    def _load(self) -> tuple[Rule, ...]:
        if self.path is None:
            return ()
        try:
            return self._read(self.path)
        except (OSError, ValueError, RecursionError) as error:
            self._notice(f"saved permissions are ignored ({_reason(error)})")
            return ()

    def _read(self, path: Path) -> tuple[Rule, ...]:
        """What the file holds; nothing when there is none. Raises OSError, ValueError or RecursionError."""
        self._foreign = []
        try:
            data = _read_private(path)
        except FileNotFoundError:
            return ()
        return self._parse(json.loads(data))

    def _parse(self, data: Any) -> tuple[Rule, ...]:
        match data:
            case {"version": 1, "rules": list(items)}:
                return tuple(rule for item in items if (rule := self._parse_rule(item)))
            case _:
                raise ValueError("it is not a file of this version: move it away to begin a new one")

    def _parse_rule(self, item: Any) -> Rule | None:
        """A saved rule always belongs to a project: one that names none would hold everywhere, so it is dropped."""
        try:
            match item:
                case {"rule": str(text), "project": str(project)} if Path(project).is_absolute():
                    folder = item.get("folder")
                    rule = parse_rule(text)
                    where = Path(folder) if isinstance(folder, str) else None
                    return Rule(rule.effect, rule.kind, rule.pattern, Path(project), where)
        except ValueError as error:
            self._notice(str(error))
        else:
            self._notice("a saved permission is not understood and ignored")
        self._foreign.append(item)
        return None

    def _save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path.with_name(f".{path.name}.lock")):
            # Another session may have saved since: what the file holds now is kept. One that cannot be read is left
            # alone.
            self.kept = tuple(dict.fromkeys((*self._read(path), *self.kept)))
            rules = [*self._foreign, *(_as_json(rule) for rule in self.kept)]
            _write_private(path, json.dumps({"version": STORE_VERSION, "rules": rules}))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from saving in between. One that takes too long is not waited for."""
    end = time.monotonic() + SAVE_SECONDS
    while (lock := Lock.take(path)) is None and time.monotonic() < end:
        time.sleep(0.005)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _as_json(rule: Rule) -> dict[str, str]:
    kept = {"rule": str(rule), "project": str(rule.project)}
    return kept if rule.folder is None else {**kept, "folder": str(rule.folder)}


def _read_private(path: Path) -> bytes:
    """The bytes of a file that only its owner can have written. Raises OSError or ValueError."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        os.close(file)
        raise ValueError("others can write it, or it is not a file of yours")
    with os.fdopen(file, "rb") as stream:
        data = stream.read(STORE_BYTES + 1)
    if len(data) > STORE_BYTES:
        raise ValueError("it is too large")
    return data


def _write_private(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(file)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


async def at_once() -> None:
    """Nothing to wait for before a question."""


class Gate:
    """Decides about each call that has an effect. There is one for a session, and every tool call goes through it."""

    def __init__(self, store: PermissionStore, ask: Ask, project: Path) -> None:
        self.store = store
        self.ask = ask
        self.project = project

    def scope(self, subject: Subject) -> str:
        """What "always" would cover, in words; empty when only this once can be answered."""
        offer = always(subject, self.project)
        return offer.scope if offer else ""

    def rule(self, subject: Subject) -> Rule | None:
        """The rule that allows this without a question, if there is one."""
        if self.store.decide(subject, self.project) != "allow":
            return None
        return self.store.allowing(subject, self.project)

    async def decide(self, subject: Subject, question: PermissionQuestion, ready: Ready = at_once) -> Verdict:
        """Apply the rules, else wait for `ready` and ask. A failing or unknown answer is a refusal."""
        match self.store.decide(subject, self.project):
            case "allow":
                return "allowed"
            case "reject":
                return "refused by a rule"
        await ready()
        answer = await self._answer(question)
        if self.store.decide(subject, self.project) == "reject":
            return "cancelled" if answer == "cancelled" else "refused by a rule"  # The rules changed meanwhile.
        match answer:
            case "allow_once":
                return "allowed"
            case "allow_always":
                self._remember("allow", subject)
                return "allowed"
            case "reject_always":
                self._remember("reject", subject)
                return "refused when asked"
            case "cancelled":
                return "cancelled"
            case _:
                return "refused when asked"

    async def _answer(self, question: PermissionQuestion) -> object:
        try:
            return await self.ask(question)
        except Exception as error:
            # Nobody said yes. The text may hold what was asked, so only the kind of failure is logged.
            log.warning("a permission question failed (%s); it counts as a refusal", type(error).__name__)
            return "reject_once"

    def _remember(self, effect: Effect, subject: Subject) -> None:
        """A permission that cannot be given for good holds this once; a refusal then holds for exactly this."""
        offer = always(subject, self.project)
        rules = offer.rules if offer else exactly(subject) if effect == "reject" else ()
        self.store.remember(Rule(effect, kind, text, self.project, where) for kind, text, where in rules)
