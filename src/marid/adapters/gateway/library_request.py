"""Our request as objects of the gateway library, and which parameters it did not send. Imports that library."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from httpx2 import AsyncClient
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.model_io import ForcedTool, ModelRequest, Parameters
from marid.text.json_values import as_object

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# The clients insist on a key; the transport removes this one.
_NO_KEY = "no-key"
_ONE_TO_ONE = ("temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed")
_EFFORT = "openai_reasoning_effort"
_EFFORTS = frozenset({"minimal", "low", "medium", "high", "xhigh", "max"})
_PARALLEL_CALL_DIALECTS = frozenset({"openai", "openrouter", "anthropic"})
# What Anthropic accepts together with thinking, and for it.
_MIN_TOP_P, _MIN_THINKING_BUDGET = 0.95, 1024
_BUDGETS = MappingProxyType({"minimal": 512, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768})


def model_for(provider: Provider, name: str, client: AsyncClient) -> Model[Any]:
    """The library's model of that name, which sends its requests through `client`."""
    builders = {"openrouter": _openrouter_model, "anthropic": _anthropic_model, "google": _google_model}
    return builders.get(provider.dialect, _openai_model)(provider, name, client)


def _openai_client(provider: Provider, client: AsyncClient) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    key = provider.api_key or _NO_KEY
    return AsyncOpenAI(api_key=key, base_url=provider.base_url, http_client=client, max_retries=0)


def _openai_model(provider: Provider, name: str, client: AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    inner = _openai_client(provider, client)
    if not _is_compatible(provider):
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=inner))
    # Servers of open models know only `max_tokens`, the older name of this parameter.
    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    # The library sends reasoning back only to the service of the name that wrote it.
    service = f"{provider.id} at {provider.host}" if provider.is_custom else provider.id
    return OpenAIChatModel(name, provider=OpenAICompatibleProvider(service, openai_client=inner), profile=profile)


def _is_compatible(provider: Provider) -> bool:
    """Whether this is another service that speaks OpenAI's dialect."""
    return provider.dialect == "openai" and (provider.is_custom or provider.id != "openai")


def _openrouter_model(provider: Provider, name: str, client: AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    class AnyName(OpenRouterProvider):
        """Accepts every model name; the library fails on those without a slash."""

        @staticmethod
        def model_profile(model_name: str) -> ModelProfile | None:
            known = model_name if "/" in model_name else f"openrouter/{model_name}"
            return OpenRouterProvider.model_profile(known)

    inner = AnyName(openai_client=_openai_client(provider, client))
    return OpenRouterModel(name, provider=inner, profile=ModelProfile(supports_json_schema_output=True))


def _anthropic_model(provider: Provider, name: str, client: AsyncClient) -> Model[Any]:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = provider.api_key or _NO_KEY
    inner = AsyncAnthropic(api_key=key, base_url=provider.base_url, http_client=client, max_retries=0)
    # The library's list of models with structured output is out of date; the service decides.
    profile = ModelProfile(supports_json_schema_output=True)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=inner), profile=profile)


def _google_model(provider: Provider, name: str, client: AsyncClient) -> Model[Any]:
    from ssl import PROTOCOL_TLS_CLIENT, SSLContext

    from google.genai.client import Client, DebugConfig
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    # Without this it reads all certificates twice, for connections that it never makes: ours is used.
    unused = SSLContext(PROTOCOL_TLS_CLIENT)
    options = HttpOptions(
        base_url=provider.base_url,
        httpx_async_client=client,
        client_args={"verify": unused},
        async_client_args={"verify": unused, "ssl": unused},
    )
    # Without this the environment can make it replay or write recordings.
    live = DebugConfig(client_mode=None, replays_directory=None, replay_id=None)
    inner = Client(vertexai=False, api_key=provider.api_key or _NO_KEY, http_options=options, debug_config=live)
    return GoogleModel(name, provider=GoogleProvider(client=inner))


def parameters_for(request: ModelRequest, dialect: Dialect = "openai") -> ModelRequestParameters:
    """The tools on offer and the output format."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema))
        for tool in request.tools
    ]
    wanted = request.parameters.response_format or {}
    if wanted.get("type") == "json_schema":
        inner: dict[str, Any] = wanted.get("json_schema") or {}
        output = OutputObjectDefinition(
            json_schema=inner.get("schema") or {}, name=inner.get("name") or "answer", strict=inner.get("strict")
        )
        return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=output)
    if dialect == "google" and wanted.get("type") == "json_object":
        return ModelRequestParameters(function_tools=tools, output_mode="prompted", allow_text_output=True)
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def settings_for(provider: Provider, request: ModelRequest) -> ModelSettings:
    """The parameters as the library names them, without those that the dialect does not have."""
    wanted = request.parameters
    settings: dict[str, Any] = {name: value for name in _ONE_TO_ONE if (value := getattr(wanted, name)) is not None}
    if wanted.stop:
        settings["stop_sequences"] = list(wanted.stop)
    if request.tools:
        settings |= _tool_settings(provider, wanted)
    if wanted.prompt_caching:
        settings["cache"] = True
    if (wanted.response_format or {}).get("type") == "json_object" and provider.dialect in ("openai", "openrouter"):
        settings["extra_body"] = {"response_format": {"type": "json_object"}}
    settings |= _thinking_settings(provider, wanted)
    if provider.dialect == "anthropic" and (settings.get("thinking") or "anthropic_thinking" in settings):
        _fit_anthropic_thinking(settings)
    return ModelSettings(**settings)


def _fit_anthropic_thinking(settings: dict[str, Any]) -> None:
    """With thinking, Anthropic rejects a temperature and counts the thinking as part of the answer."""
    from pydantic_ai.profiles.anthropic import ANTHROPIC_THINKING_BUDGET_MAP

    settings.pop("temperature", None)
    if settings.get("top_p", 1.0) < _MIN_TOP_P:
        del settings["top_p"]
    explicit = settings.get("anthropic_thinking")
    budget = explicit["budget_tokens"] if explicit else ANTHROPIC_THINKING_BUDGET_MAP[settings["thinking"]]
    if settings.get("max_tokens", budget + 1) <= budget:
        settings["max_tokens"] += budget


def _tool_settings(provider: Provider, wanted: Parameters) -> dict[str, Any]:
    choice = wanted.tool_choice
    settings: dict[str, Any] = {}
    if choice:
        settings["tool_choice"] = [choice.name] if isinstance(choice, ForcedTool) else choice
    if wanted.parallel_tool_calls is not None and provider.dialect in _PARALLEL_CALL_DIALECTS:
        settings["parallel_tool_calls"] = wanted.parallel_tool_calls
    return settings


def _thinking_settings(provider: Provider, wanted: Parameters) -> dict[str, Any]:
    thinking = wanted.reasoning
    if thinking.enabled is False or (thinking.effort == "none" and thinking.max_tokens is None):
        return {_EFFORT: "none"} if _is_compatible(provider) else {"thinking": False}
    if thinking.max_tokens is not None:
        return _budget_settings(provider, thinking.max_tokens, shown=not thinking.exclude)
    effort = thinking.effort if thinking.effort in _EFFORTS else "medium" if thinking.enabled else None
    if thinking.exclude and provider.dialect == "openrouter":
        return {"openrouter_reasoning": {"exclude": True, **({"effort": effort} if effort else {})}}
    return _effort_settings(provider, effort) if effort else {}


def _effort_settings(provider: Provider, effort: str) -> dict[str, Any]:
    """An unknown service gets the effort unchanged, since we do not know which of its models reason."""
    return {_EFFORT if _is_compatible(provider) else "thinking": effort}


def _budget_settings(provider: Provider, tokens: int, *, shown: bool) -> dict[str, Any]:
    """A number of reasoning tokens, where the dialect has one; else the nearest effort."""
    match provider.dialect:
        case "anthropic":
            return {"anthropic_thinking": {"type": "enabled", "budget_tokens": max(tokens, _MIN_THINKING_BUDGET)}}
        case "google":
            return {"google_thinking_config": {"thinking_budget": tokens, "include_thoughts": shown}}
        case "openrouter":
            return {"openrouter_reasoning": {"max_tokens": tokens, "exclude": not shown}}
        case "openai":
            return _effort_settings(provider, min(_BUDGETS, key=lambda effort: abs(_BUDGETS[effort] - tokens)))


# By dialect: the parameters to look for in a request, and the fields of which it must have one. A parameter without
# fields does not exist in that dialect.
_PENALTIES = ("frequency_penalty", "presence_penalty")
_SENT_AS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "openai": {name: (name,) for name in ("temperature", "top_p", *_PENALTIES)},
        "anthropic": {name: (name,) for name in ("temperature", "top_p")}
        | dict.fromkeys((*_PENALTIES, "seed"), ())
        | {"response_format": ("output_config", "output_format")},
        "google": {"temperature": ("temperature",), "top_p": ("topP",), "response_format": ("responseMimeType",)}
        | {"parallel_tool_calls": ()},
    }
)


def dropped_parameters(wanted: Parameters, dialect: Dialect, body: bytes) -> tuple[str, ...]:
    """The parameters of `wanted` that make a difference and that the request `body` does not hold."""
    names = _SENT_AS.get(dialect, _SENT_AS["openai"])
    asked = [name for name in names if _is_significant(name, wanted)]
    if not asked:
        return ()
    fields = as_object(json.loads(body))
    if "parallel_tool_calls" in asked and not fields.get("tools"):
        asked.remove("parallel_tool_calls")
    if dialect == "google":
        fields = as_object(fields.get("generationConfig"))
    return tuple(name for name in asked if not _has_parameter(fields, name, names[name]))


def _is_significant(name: str, wanted: Parameters) -> bool:
    """Whether leaving a parameter out changes anything: by default answers are text and calls may be parallel."""
    match name:
        case "response_format":
            return wanted.response_format is not None and wanted.response_format.get("type") != "text"
        case "parallel_tool_calls":
            return wanted.parallel_tool_calls is False
        case _:
            return getattr(wanted, name) is not None


def _has_parameter(fields: Mapping[str, Any], name: str, sent_as: tuple[str, ...]) -> bool:
    """Anthropic's `output_config` holds the response format and other things."""
    if name == "response_format" and isinstance(table := fields.get("output_config"), dict):
        return "format" in table
    return any(field in fields for field in sent_as)
