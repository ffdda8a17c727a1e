"""The envelopes of messages, and the notification that belongs to neither side."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Wire
from duologue.protocol.common.errors import Error
from duologue.protocol.common.ids import RequestId

#: Parameters and results of methods outside of the specification, whose names begin with ``_``.
ExtRequest = Any
ExtResponse = Any
ExtNotification = Any


class RequestMessage(Wire, kw_only=True):
    """A request; the method's table entry says what `params` holds."""

    id: RequestId
    method: str
    params: Any | UnsetType = UNSET


class ResponseMessage(Wire, kw_only=True):
    """A response: exactly one of `result` and `error` is there."""

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET


class NotificationMessage(Wire, kw_only=True):
    """A notification; the method's table entry says what `params` holds."""

    method: str
    params: Any | UnsetType = UNSET


class AgentRequest(RequestMessage, kw_only=True):
    """A request that the agent sends."""


class AgentResponse(ResponseMessage, kw_only=True):
    """A response that the agent sends."""


class AgentNotification(NotificationMessage, kw_only=True):
    """A notification that the agent sends."""


class ClientRequest(RequestMessage, kw_only=True):
    """A request that the client sends."""


class ClientResponse(ResponseMessage, kw_only=True):
    """A response that the client sends."""


class ClientNotification(NotificationMessage, kw_only=True):
    """A notification that the client sends."""


class CancelRequestNotification(Extensible, kw_only=True):
    """Asks the peer to give up a request that is still open."""

    request_id: RequestId
