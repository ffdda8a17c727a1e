"""One step of a remote model with the model library: the request out, its events back in the coder's words.

This module and those it imports load the library (1 to 2 s), so it is imported when a model is first asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from anthropic import AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AnthropicHttp
from openai import AsyncOpenAI
from openai import DefaultAsyncHttpxClient as OpenAIHttp
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from duologue.coder.models.base import (
    CallDelta,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ThoughtDelta,
    ToolSpec,
    Usage,
)
from duologue.coder.models.config import Wire
from duologue.coder.models.convert import to_history, to_message
from duologue.coder.models.failures import RemoteError, describe
from duologue.coder.models.guarding import guards
from duologue.coder.models.settings import RemoteSettings

# The SDKs insist on a key; a local server that needs none gets this word.
NO_KEY = "no-key"


class Backend:
    """The library's model for one set of settings. It belongs to the event loop that first asks it."""

    def __init__(self, settings: RemoteSettings) -> None:
        self._settings = settings
        build = _anthropic if settings.endpoint.wire is Wire.ANTHROPIC else _openai
        self._model: LibraryModel[Any]
        self._client: AsyncOpenAI | AsyncAnthropic
        self._model, self._client = build(settings)

    async def close(self) -> None:
        await self._client.close()

    async def step(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask once. Closing the iterator, or cancelling its reader, closes the connection.

        Raises RemoteError when the endpoint fails; it is free of secrets and of causes.
        """
        calls: dict[int, tuple[str, str]] = {}
        failure: RemoteError | None = None
        try:
            async with model_request_stream(
                self._model,
                to_history(request.messages, self._model.system),
                model_settings=_model_settings(self._settings, request.conversation),
                model_request_parameters=_parameters(request),
            ) as answer:
                async for event in answer:
                    if (translated := _translate(event, calls)) is not None:
                        yield translated
                response = answer.get()
        except Exception as error:
            failure = describe(error, self._settings)
        if failure is not None:
            raise failure
        ended = self._ended(response)
        yield self._usage(response)
        yield ended

    def _ended(self, response: ModelResponse) -> StepEnded:
        message = to_message(response)
        match response.finish_reason:
            case "content_filter":
                return StepEnded(message, "refusal")
            case "length":
                return StepEnded(message, "length")
            case "error":
                raise RemoteError(f"{self._settings.endpoint.title} ended the answer with an error", retryable=True)
            case None:
                raise self._cut_off()
            case _ if not _really_finished(response):
                raise self._cut_off()
            case _:
                # Some servers say "stop" after calls, so what was asked for decides.
                return StepEnded(message, "tool_calls" if message.calls else "stop")

    def _cut_off(self) -> RemoteError:
        return RemoteError(f"the answer of {self._settings.endpoint.title} ended before it was whole", retryable=True)

    def _usage(self, response: ModelResponse) -> Usage:
        own, usage = self._settings.endpoint.own, response.usage
        return Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            thought_tokens=usage.details.get("reasoning_tokens", 0),
            cached_read_tokens=usage.cache_read_tokens,
            cached_write_tokens=usage.cache_write_tokens,
            context_size=self._settings.context_size or (self._model.context_window if own else None),
            cost=cost_of(response) if own else None,
        )


def cost_of(response: ModelResponse) -> float | None:
    """US dollars for the answer, or None when the library's price list does not know the model."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


def _openai(settings: RemoteSettings) -> tuple[LibraryModel[Any], AsyncOpenAI]:
    endpoint = settings.endpoint
    client = AsyncOpenAI(
        api_key=endpoint.key.reveal() if endpoint.key else NO_KEY,
        base_url=endpoint.base_url,
        http_client=OpenAIHttp(**guards(settings)),
        max_retries=0,
    )
    if endpoint.provider == "openai":
        return OpenAIChatModel(settings.model, provider=OpenAIProvider(openai_client=client)), client
    provider = OpenAICompatibleProvider(endpoint.provider, openai_client=client)
    return OpenAIChatModel(settings.model, provider=provider), client


def _anthropic(settings: RemoteSettings) -> tuple[LibraryModel[Any], AsyncAnthropic]:
    endpoint = settings.endpoint
    key = endpoint.key.reveal() if endpoint.key else NO_KEY
    client = AsyncAnthropic(
        api_key=key,
        base_url=endpoint.base_url,
        http_client=AnthropicHttp(**guards(settings)),
        max_retries=0,
        # The SDK sends a bearer token; many servers that speak this format only read the older header.
        default_headers=None if endpoint.own else {"X-Api-Key": key},
    )
    return AnthropicModel(settings.model, provider=AnthropicProvider(anthropic_client=client)), client


def _model_settings(settings: RemoteSettings, conversation: str) -> ModelSettings:
    chosen = OpenAIChatModelSettings()
    if settings.endpoint.own:
        # Other servers may refuse the marks of a cache.
        chosen["cache"] = True
    if settings.endpoint.own and settings.endpoint.wire is Wire.OPENAI:
        chosen["openai_prompt_cache_key"] = conversation
    if settings.max_output_tokens is not None:
        chosen["max_tokens"] = settings.max_output_tokens
    if settings.thinking is not None:
        chosen["thinking"] = False if settings.thinking == "off" else settings.thinking
    return chosen


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[_tool(tool) for tool in request.tools],
        instruction_parts=[InstructionPart(content=request.system)] if request.system else None,
    )


def _tool(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)


def _really_finished(response: ModelResponse) -> bool:
    """False when the stream just stopped: neither a reason to end nor the usage, which comes last, was seen."""
    told = (response.provider_details or {}).get("finish_reason")
    return told is not None or response.usage.output_tokens > 0


def _translate(event: ModelResponseStreamEvent, calls: dict[int, tuple[str, str]]) -> ModelEvent | None:
    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return ThoughtDelta(text)
        case PartStartEvent(part=ToolCallPart() as part, index=index):
            calls[index] = (part.tool_call_id, part.tool_name)
            return CallDelta(part.tool_call_id, part.tool_name)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return TextDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)) if text:
            return ThoughtDelta(text)
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text)), index=index) if text:
            return CallDelta(*calls[index])
        case _:
            return None
