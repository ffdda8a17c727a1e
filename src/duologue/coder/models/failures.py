"""What went wrong with a model, in one line for a person: who, why, what to do, and never a key."""

from __future__ import annotations

import re
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

from duologue.coder.models.base import ModelError
from duologue.coder.models.config import Wire
from duologue.coder.models.guarding import Unwanted
from duologue.coder.models.keys import address_secrets, redact
from duologue.coder.models.settings import RemoteSettings

STREAMS = {
    Wire.OPENAI: "a stream of OpenAI chat completions",
    Wire.ANTHROPIC: "a stream of Anthropic messages",
}
RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
DETAIL_LENGTH = 300


class RemoteError(ModelError):
    """A `ModelError` that also knows how many seconds the endpoint asked to wait, when it did."""

    def __init__(
        self, summary: str, *, retryable: bool = False, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(summary, retryable=retryable, status=status)
        self.retry_after = retry_after


def describe(error: Exception, settings: RemoteSettings) -> RemoteError:
    """The error to raise in place of the library's, whose text and causes may hold the key.

    Raise it outside of the `except` block, or the cause travels along as its context.
    """
    found = _described(error, settings)
    secrets = (
        *((settings.endpoint.key,) if settings.endpoint.key else ()),
        *address_secrets(settings.endpoint.base_url),
    )
    found.summary = redact(found.summary, secrets)
    found.args = (found.summary,)
    return found


def _described(error: Exception, settings: RemoteSettings) -> RemoteError:
    who = settings.endpoint.title
    if (unwanted := _unwanted(error)) is not None:
        return RemoteError(f"{who} {unwanted}")
    match error:
        case ModelContextWindowExceededError():
            return RemoteError(
                f"the conversation is longer than {settings.model!r} can take: start a new session or drop large files",
                status=getattr(error, "status_code", None),
            )
        case ModelQuotaExceededError():
            return RemoteError(
                f"{who} says that the quota or credit of this account is used up{_detail(error)}",
                status=getattr(error, "status_code", None),
            )
        case ModelHTTPError():
            return _from_status(error, settings)
        case ModelTimeoutError() if error.phase == "read":
            return RemoteError(f"{who} sent nothing for {settings.silence_timeout:g} s", retryable=True)
        case ModelConnectionError() if error.phase in ("connect", "pool"):
            return RemoteError(f"cannot reach {who}: check the base URL and the network", retryable=True)
        case ModelConnectionError():
            return RemoteError(f"the connection to {who} broke before the answer was whole", retryable=True)
        case ModelAPIError():
            reason = _message(error.body) or _line(error.message)
            return RemoteError(f"{who} failed: {reason}", retryable=error.in_stream)
        case UnexpectedModelBehavior():
            # The status was a good one: others are told above.
            return RemoteError(
                f"{who} gave no usable answer: expected {STREAMS[settings.endpoint.wire]} and got something else or "
                f"nothing (status 200); check that the base URL is that of such an API: {_line(error.message)}",
                retryable=True,
            )
        case _:
            return RemoteError(f"{who} gave an answer that is not understood ({type(error).__name__}): {_line(error)}")


def _unwanted(error: BaseException | None) -> Unwanted | None:
    """What our guards raised, which the libraries wrap."""
    while error is not None and not isinstance(error, Unwanted):
        error = error.__cause__ or error.__context__
    return error


def _from_status(error: ModelHTTPError, settings: RemoteSettings) -> RemoteError:
    status = error.status_code
    return RemoteError(
        _status_summary(error, settings),
        retryable=status in RETRYABLE_STATUS,
        status=status,
        retry_after=error.retry_after,
    )


def _status_summary(error: ModelHTTPError, settings: RemoteSettings) -> str:
    who, detail = settings.endpoint.title, _detail(error)
    match error.status_code:
        case 401 if settings.endpoint.key is None:
            return f"{who} wants a key (401): set {settings.endpoint.key_hint}"
        case 401:
            # The body is left out: providers quote parts of the key in it.
            return f"{who} refused the key (401): set {settings.endpoint.key_hint} to a valid key"
        case 403:
            return f"{who} refused access to {settings.model!r} (403): check what the key may use{detail}"
        case 404:
            return f"{who} has no model {settings.model!r}, or the base URL is wrong (404){detail}"
        case 429:
            return f"{who} gets too many requests (429): wait and try again{detail}"
        case 529 | 503:
            return f"{who} is overloaded ({error.status_code}): try again later{detail}"
        case status if status >= 500:
            return f"{who} failed ({status}): try again later{detail}"
        case status:
            return f"{who} refused the request ({status}){detail}"


def _detail(error: ModelAPIError) -> str:
    message = _message(error.body)
    return f": {message}" if message else ""


def _message(body: Any) -> str:
    """The human part of an error body; a page of HTML has none."""
    match body:
        case {"error": inner}:
            return _message(inner)
        case {"message": str(text)} | {"detail": str(text)} | str(text):
            return "" if text.lstrip().startswith("<") else _line(text)
        case _:
            return ""


def _line(text: object) -> str:
    flat = re.sub(r"\s+", " ", str(text)).strip()
    return flat if len(flat) <= DETAIL_LENGTH else flat[: DETAIL_LENGTH - 1] + "…"
