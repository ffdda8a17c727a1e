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


class RequestMessage(Wire):
    """A request; the method's table entry says what `params` holds."""

    id: RequestId
    method: str
    params: Any | UnsetType = UNSET


class ResponseMessage(Wire):
    """A response: exactly one of `result` and `error` is there."""

    id: RequestId
    result: Any | UnsetType = UNSET
    error: Error | UnsetType = UNSET


class NotificationMessage(Wire):
    """A notification; the method's table entry says what `params` holds."""

    method: str
    params: Any | UnsetType = UNSET


class AgentRequest(RequestMessage):
    """A request that the agent sends."""


class AgentResponse(ResponseMessage):
    """A response that the agent sends."""


class AgentNotification(NotificationMessage):
    """A notification that the agent sends."""


class ClientRequest(RequestMessage):
    """A request that the client sends."""


class ClientResponse(ResponseMessage):
    """A response that the client sends."""


class ClientNotification(NotificationMessage):
    """A notification that the client sends."""


class CancelRequestNotification(Extensible):
    """Asks the peer to give up a request that is still open."""

    request_id: RequestId
