"""Ways to log in: `id` and no tag in v1, `methodId` and a tag in v2, and another form of environment."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Unknown
from duologue.protocol.changes.renaming import raw_renamed
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.v1 import auth as v1
from duologue.protocol.v2 import auth as v2


def method_down(method: v2.AuthMethod) -> Any:
    match method:
        case v2.AgentAuthMethod():
            return v1.AgentAuthMethod(**_base_down(method))
        case v2.EnvVarAuthMethod(vars=variables, link=link):
            return v1.EnvVarAuthMethod(**_base_down(method), vars=variables, link=link)
        case v2.TerminalAuthMethod(args=args, env=env):
            return v1.TerminalAuthMethod(**_base_down(method), args=args, env=_env_down(env))
        case Unknown():
            return raw_renamed(method, "methodId", "id")


def method_up(method: v1.AuthMethod) -> Any:
    match method:
        case v1.AgentAuthMethod():
            return v2.AgentAuthMethod(**_base_up(method))
        case v1.EnvVarAuthMethod(vars=variables, link=link):
            return v2.EnvVarAuthMethod(**_base_up(method), vars=variables, link=link)
        case v1.TerminalAuthMethod(args=args, env=env):
            return v2.TerminalAuthMethod(**_base_up(method), args=args, env=_env_up(env))
        case Unknown():
            return raw_renamed(method, "id", "methodId")


def _base_down(method: Any) -> dict[str, Any]:
    return {"id": method.method_id, "name": method.name, "description": method.description, "meta": method.meta}


def _base_up(method: Any) -> dict[str, Any]:
    return {"method_id": method.id, "name": method.name, "description": method.description, "meta": method.meta}


def _env_down(env: list[EnvVariable] | UnsetType) -> dict[str, str] | UnsetType:
    return {variable.name: variable.value for variable in env} if isinstance(env, list) else UNSET


def _env_up(env: dict[str, str] | UnsetType) -> list[EnvVariable] | UnsetType:
    return [EnvVariable(name=name, value=value) for name, value in env.items()] if isinstance(env, dict) else UNSET
