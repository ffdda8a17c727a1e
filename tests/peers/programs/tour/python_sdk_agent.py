"""An agent on the official Python SDK that answers all it can, and asks for all it can when it is prompted."""

import asyncio
from typing import Any

import acp
import acp.schema as schema
from python_steps import AGENT, CLIENT, STEPS, Kept, arguments

RESULTS = {step["method"]: step["result"] for step in STEPS["agent"] if "result" in step}
MODELS = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
    "session/fork": schema.ForkSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/close": schema.CloseSessionResponse,
}
#: The SDK has no functions for these; a client that heard of them would ask.
NOT_HAD = ("nes", "providers", "auth", "positionEncoding", "mcpCapabilities")


def answer(method: str) -> Any:
    async def handle(self: "TourAgent", cwd: str | None = None, **_: Any) -> Any:
        if cwd:
            self.kept.update(cwd=cwd, file=f"{cwd}/tour.txt")
        return MODELS[method].model_validate(self.kept.filled(result(method)))

    return handle


def result(method: str) -> Any:
    if method != "initialize":
        return RESULTS[method]
    told = RESULTS[method]
    offered = {name: value for name, value in told["agentCapabilities"].items() if name not in NOT_HAD}
    sessions = {name: value for name, value in offered["sessionCapabilities"].items() if name != "delete"}
    return {**told, "agentCapabilities": {**offered, "sessionCapabilities": sessions}}


class TourAgent(acp.Agent):
    client: Any

    def __init__(self) -> None:
        self.kept = Kept()

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def cancel(self, session_id: str, **_: Any) -> None: ...

    async def prompt(self, session_id: str, **_: Any) -> Any:
        self.kept["session"] = session_id
        for step in STEPS["client"]:
            if step["method"] in CLIENT:
                await self.ask(step["method"], self.kept.filled(step["params"]))
        return schema.PromptResponse(stop_reason="end_turn")

    async def ask(self, method: str, params: dict[str, Any]) -> None:
        if method == "elicitation/create":
            kind = schema.ElicitationUrlSessionMode if params["mode"] == "url" else schema.ElicitationFormSessionMode
            mode = kind.model_validate({name: each for name, each in params.items() if name not in ("mode", "message")})
            await self.client.create_elicitation(message=params["message"], mode=mode)
            return
        given = arguments(params)
        if method == "session/update":
            given["update"] = schema.SessionNotification.model_validate(params).update
        self.kept.keep(method, await getattr(self.client, CLIENT[method])(**given))


for name in MODELS:
    setattr(TourAgent, AGENT[name], answer(name))

asyncio.run(acp.run_agent(TourAgent(), use_unstable_protocol=True))
