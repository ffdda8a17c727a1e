"""What is told when an agent fails: the reason in words, what it last wrote, and what may help."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from duologue.cli.screen import Screen, printable
from duologue.codec import DoesNotFit
from duologue.jsonrpc.errors import RpcError
from duologue.local.masking import mask_text
from duologue.protocol.v2.auth import AuthMethod

#: Bytes of an agent's standard error that are kept.
KEPT_BYTES = 16384
#: Characters of a reason that are shown without `--verbose`.
SHOWN_CHARACTERS = 4000


class Failing:
    """Tells failures of an agent on a screen. `logins` are those that it offers; `verbose` shows its standard error as
    it comes, and errors with their numbers."""

    def __init__(self, errors: Screen, program: str, *, verbose: bool) -> None:
        self.logins: Sequence[AuthMethod] = ()
        self._errors = errors
        self._program = program
        self._verbose = verbose
        self._stderr = bytearray()

    def on_stderr(self, data: bytes) -> None:
        """Keep what the agent wrote to standard error."""
        self._stderr = (self._stderr + data)[-KEPT_BYTES:]
        if self._verbose:
            self._errors.write(printable(data.decode("utf-8", "replace")), "dim")

    def tell(self, error: Exception) -> None:
        """Tell a failure with what the agent last wrote to standard error, without secrets."""
        text = printable(mask_text(str(error) if self._verbose and isinstance(error, RpcError) else reason_of(error)))
        if len(text) > SHOWN_CHARACTERS and not self._verbose:
            text = f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters; --verbose shows all)"
        self._errors.line(f"{self._program}: {text}", "red")
        self.tell_stderr(text)

    def tell_stderr(self, told: str = "") -> None:
        """Tell what the agent last wrote to standard error, unless that has been told."""
        tail = printable(mask_text(self._stderr.decode("utf-8", "replace"))).strip()
        if tail and not self._verbose and tail[-200:] not in told:
            self._errors.line("--- last lines of the agent's standard error ---", "dim")
            self._errors.line(tail, "dim")

    def doubt_command(self) -> None:
        """A program that starts and cannot shake hands may be no agent, or not be told that it is to be one. One that
        fell over its own fault, which its traceback shows, needs no other words."""
        if b"Traceback (most recent call last)" in self._stderr:
            return
        hint = "is this the command of an ACP agent? Some need an argument for that, such as --acp"
        self._errors.line(f"  {hint}", "yellow")

    def tell_logins(self, error: Exception) -> None:
        """Say what an agent that asks for a login offers; how to do it may be told in the description alone."""
        for method in self.logins:
            name, description = getattr(method, "name", None), getattr(method, "description", None)
            told = f"{name}: {description}" if isinstance(description, str) else name
            if isinstance(told, str) and getattr(error, "message", "") not in told:
                self._errors.line(f"  to log in: {printable(told)}", "yellow")


def reason_of(error: Exception) -> str:
    """What went wrong, in the words for people: an error answer without its number, and what only its data tells."""
    if isinstance(error, DoesNotFit):
        return f"the agent's answer does not fit the protocol: {error}"
    if not isinstance(error, RpcError):
        return str(error)
    match error.data:
        case {"details": str(details)} | {"message": str(details)} | str(details):
            return error.message if details in error.message else f"{error.message}: {details}"
        case dict(told) if all(isinstance(value, str) and value in error.message for value in told.values()):
            return error.message
        case None:
            return error.message
    return error.message if error.data is UNSET else str(error)
