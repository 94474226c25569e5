"""The gateway library's own objects for one request. Imported when a model is asked: it takes seconds to load."""

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from marid.adapters.gateway.library_logging import silence_libraries
from marid.adapters.gateway.providers import Dialect, Provider
from marid.core.model_io import ForcedTool, ModelRequest, Parameters

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_MODULES = MappingProxyType(
    {
        "openai": ("models.openai", "providers.openai_compatible", "providers.openai"),
        "openrouter": ("models.openrouter",),
        "anthropic": ("models.anthropic",),
        "google": ("models.google",),
    }
)
# The clients want some key; the wire takes it off again.
_NO_KEY = "no-key"
_ONE_TO_ONE = ("temperature", "max_tokens", "top_p", "frequency_penalty", "presence_penalty", "seed")
_EFFORT = "openai_reasoning_effort"
_EFFORTS = frozenset({"minimal", "low", "medium", "high", "xhigh", "max"})
_PARALLEL_CALL_DIALECTS = frozenset({"openai", "openrouter", "anthropic"})
# What Anthropic takes beside thoughts, and for them.
_MIN_TOP_P, _MIN_THINKING_BUDGET = 0.95, 1024
_BUDGETS = MappingProxyType({"minimal": 512, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768})


def model_for(provider: Provider, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    """The model of that name, asked through `client`."""
    match provider.dialect:
        case "openai":
            return _openai_model(provider, name, client)
        case "openrouter":
            return _openrouter_model(provider, name, client)
        case "anthropic":
            return _anthropic_model(provider, name, client)
        case "google":
            return _google_model(provider, name, client)


def import_library(provider: Provider) -> None:
    """Import what the provider needs."""
    silence_libraries()
    import_module("marid.adapters.gateway.attempt")
    for module in _MODULES[provider.dialect]:
        import_module(f"pydantic_ai.{module}")


def _openai_client(provider: Provider, client: "httpx2.AsyncClient") -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=provider.api_key or _NO_KEY, base_url=provider.base_url, http_client=client, max_retries=0
    )


def _openai_model(provider: Provider, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    inner = _openai_client(provider, client)
    if not _is_compatible(provider):
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=inner))
    # Those who serve open models know the older of the two names of this parameter.
    older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(
        name, provider=OpenAICompatibleProvider(_service(provider), openai_client=inner), profile=older
    )


def _is_compatible(provider: Provider) -> bool:
    """Whether somebody else than OpenAI speaks its dialect."""
    return provider.dialect == "openai" and (provider.is_custom or provider.id != "openai")


def _service(provider: Provider) -> str:
    """The name under which a service gets its own thoughts back: what another one wrote is not sent to it."""
    return f"{provider.id} at {provider.host}" if provider.is_custom else provider.id


def _openrouter_model(provider: Provider, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    class AnyName(OpenRouterProvider):
        """Leaves it to the service which names there are; the library fails on those without a slash."""

        @staticmethod
        def model_profile(model_name: str) -> ModelProfile | None:
            known = model_name if "/" in model_name else f"openrouter/{model_name}"
            return OpenRouterProvider.model_profile(known)

    inner = AnyName(openai_client=_openai_client(provider, client))
    return OpenRouterModel(name, provider=inner, profile=ModelProfile(supports_json_schema_output=True))


def _anthropic_model(provider: Provider, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = provider.api_key or _NO_KEY
    inner = AsyncAnthropic(api_key=key, base_url=provider.base_url, http_client=client, max_retries=0)
    # Which models take a form for their answers is the service's to say: the library only knows yesterday's.
    forms = ModelProfile(supports_json_schema_output=True)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=inner), profile=forms)


def _google_model(provider: Provider, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from ssl import PROTOCOL_TLS_CLIENT, SSLContext

    from google.genai.client import Client, DebugConfig
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    # It would read all certificates twice for connections that it never makes: ours is used.
    nobody = SSLContext(PROTOCOL_TLS_CLIENT)
    options = HttpOptions(
        base_url=provider.base_url,
        httpx_async_client=client,
        client_args={"verify": nobody},
        async_client_args={"verify": nobody, "ssl": nobody},
    )
    # It would play or write recordings instead of asking, if the environment said so.
    live = DebugConfig(client_mode=None, replays_directory=None, replay_id=None)
    inner = Client(vertexai=False, api_key=provider.api_key or _NO_KEY, http_options=options, debug_config=live)
    return GoogleModel(name, provider=GoogleProvider(client=inner))


def parameters_for(request: ModelRequest, dialect: Dialect = "openai") -> "ModelRequestParameters":
    """The tools that are offered, and the form that the answer must have."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema))
        for tool in request.tools
    ]
    wanted = request.parameters.response_format or {}
    if wanted.get("type") == "json_schema":
        inner: dict[str, Any] = wanted.get("json_schema") or {}
        form = OutputObjectDefinition(
            json_schema=inner.get("schema") or {}, name=inner.get("name") or "answer", strict=inner.get("strict")
        )
        return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=form)
    if dialect == "google" and wanted.get("type") == "json_object":
        return ModelRequestParameters(function_tools=tools, output_mode="prompted", allow_text_output=True)
    return ModelRequestParameters(function_tools=tools, allow_text_output=True)


def settings_for(provider: Provider, request: ModelRequest) -> "ModelSettings":
    """The parameters in the library's words; what the dialect has no word for is left out."""
    wanted = request.parameters
    settings: dict[str, Any] = {name: value for name in _ONE_TO_ONE if (value := getattr(wanted, name)) is not None}
    if wanted.stop:
        settings["stop_sequences"] = list(wanted.stop)
    if request.tools:
        settings |= _tool_settings(provider, wanted)
    if wanted.prompt_caching:
        settings["cache"] = True
    if wanted.response_format and wanted.response_format.get("type") == "json_object":
        settings |= _json_settings(provider)
    settings |= _thinking_settings(provider, wanted)
    if provider.dialect == "anthropic" and (settings.get("thinking") or "anthropic_thinking" in settings):
        _fit_anthropic_thinking(settings)
    return _to_model_settings(settings)


def _fit_anthropic_thinking(settings: dict[str, Any]) -> None:
    """Of a model that thinks, Anthropic takes no temperature, and counts its thoughts as a part of the answer."""
    from pydantic_ai.profiles.anthropic import ANTHROPIC_THINKING_BUDGET_MAP

    settings.pop("temperature", None)
    if settings.get("top_p", 1.0) < _MIN_TOP_P:
        del settings["top_p"]
    own = settings.get("anthropic_thinking")
    budget = own["budget_tokens"] if own else ANTHROPIC_THINKING_BUDGET_MAP[settings["thinking"]]
    if settings.get("max_tokens", budget + 1) <= budget:
        settings["max_tokens"] += budget


def _to_model_settings(settings: dict[str, Any]) -> "ModelSettings":
    from pydantic_ai.settings import ModelSettings

    return ModelSettings(**settings)


def _tool_settings(provider: Provider, wanted: Parameters) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if isinstance(wanted.tool_choice, ForcedTool):
        settings["tool_choice"] = [wanted.tool_choice.name]
    elif wanted.tool_choice:
        settings["tool_choice"] = wanted.tool_choice
    if wanted.parallel_tool_calls is not None and provider.dialect in _PARALLEL_CALL_DIALECTS:
        settings["parallel_tool_calls"] = wanted.parallel_tool_calls
    return settings


def _json_settings(provider: Provider) -> dict[str, Any]:
    if provider.dialect in ("openai", "openrouter"):
        return {"extra_body": {"response_format": {"type": "json_object"}}}
    return {}


def _thinking_settings(provider: Provider, wanted: Parameters) -> dict[str, Any]:
    thinking = wanted.reasoning
    if thinking.enabled is False or (thinking.effort == "none" and thinking.max_tokens is None):
        return {_EFFORT: "none"} if _is_compatible(provider) else {"thinking": False}
    if thinking.max_tokens is not None:
        return _budget_settings(provider, thinking.max_tokens, shown=not thinking.exclude)
    effort = thinking.effort if thinking.effort in _EFFORTS else "medium" if thinking.enabled else None
    if effort is None:
        return {"openrouter_reasoning": {"exclude": True}} if _should_hide_reasoning(provider, wanted) else {}
    if _should_hide_reasoning(provider, wanted):
        return {"openrouter_reasoning": {"effort": effort, "exclude": True}}
    return _effort_settings(provider, effort)


def _should_hide_reasoning(provider: Provider, wanted: Parameters) -> bool:
    """Whether thoughts are to be kept back, by a service that can be told so."""
    return bool(wanted.reasoning.exclude) and provider.dialect == "openrouter"


def _effort_settings(provider: Provider, effort: str) -> dict[str, Any]:
    """Of a service that we do not know, nobody knows which models think: it is asked, and may say no."""
    return {_EFFORT if _is_compatible(provider) else "thinking": effort}


def _budget_settings(provider: Provider, tokens: int, *, shown: bool) -> dict[str, Any]:
    """A number of tokens for thoughts, where the dialect counts them; else the effort that comes nearest."""
    match provider.dialect:
        case "anthropic":
            return {"anthropic_thinking": {"type": "enabled", "budget_tokens": max(tokens, _MIN_THINKING_BUDGET)}}
        case "google":
            return {"google_thinking_config": {"thinking_budget": tokens, "include_thoughts": shown}}
        case "openrouter":
            return {"openrouter_reasoning": {"max_tokens": tokens, "exclude": not shown}}
        case "openai":
            return _effort_settings(provider, min(_BUDGETS, key=lambda effort: abs(_BUDGETS[effort] - tokens)))
