"""`initialize`, login and logout."""

from __future__ import annotations

from collections.abc import Hashable

from duologue.protocol.changes import capabilities
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest
from duologue.protocol.changes.steps import Answer, Ask, Steps, Unspeakable
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.v1 import auth as v1
from duologue.protocol.v1 import initialize as v1_initialize
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import auth as v2
from duologue.protocol.v2 import initialize as v2_initialize
from duologue.protocol.v2 import table as v2_table


def initialize_down(memory: ConnectionMemory, request: v2_initialize.InitializeRequest, key: Hashable) -> Steps:
    memory.outbound[key] = OpenRequest(lambda result: (Answer(key, capabilities.initialized_up(memory, result)),))
    return (Ask(v1_table.INITIALIZE, capabilities.initialize_down(memory, request)),)


def initialize_up(memory: ConnectionMemory, request: v1_initialize.InitializeRequest, key: Hashable) -> Steps:
    memory.inbound[key] = OpenRequest(lambda result: (Answer(key, capabilities.initialized_down(memory, result)),))
    return (Ask(v2_table.INITIALIZE, capabilities.initialize_up(memory, request)),)


def login_down(memory: ConnectionMemory, request: v2.LoginAuthRequest, key: Hashable) -> Steps:
    memory.outbound[key] = OpenRequest(lambda result: (Answer(key, v2.LoginAuthResponse(meta=result.meta)),))
    return (Ask(v1_table.AUTHENTICATE, v1.AuthenticateRequest(method_id=request.method_id, meta=request.meta)),)


def login_up(memory: ConnectionMemory, request: v1.AuthenticateRequest, key: Hashable) -> Steps:
    memory.inbound[key] = OpenRequest(lambda result: (Answer(key, v1.AuthenticateResponse(meta=result.meta)),))
    return (Ask(v2_table.AUTH_LOGIN, v2.LoginAuthRequest(method_id=request.method_id, meta=request.meta)),)


def logout_down(memory: ConnectionMemory, request: v2.LogoutAuthRequest, key: Hashable) -> Steps:
    if not memory.agent.logout:
        raise Unspeakable(ErrorCode.METHOD_NOT_FOUND, "the agent does not offer logout")
    memory.outbound[key] = OpenRequest(lambda result: (Answer(key, v2.LogoutAuthResponse(meta=result.meta)),))
    return (Ask(v1_table.LOGOUT, v1.LogoutRequest(meta=request.meta)),)


def logout_up(memory: ConnectionMemory, request: v1.LogoutRequest, key: Hashable) -> Steps:
    memory.inbound[key] = OpenRequest(lambda result: (Answer(key, v1.LogoutResponse(meta=result.meta)),))
    return (Ask(v2_table.AUTH_LOGOUT, v2.LogoutAuthRequest(meta=request.meta)),)
