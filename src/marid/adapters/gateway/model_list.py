"""The models that a provider lists. Imports the HTTP library."""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import httpx2

from marid.adapters.gateway.options import RetryPolicy
from marid.adapters.gateway.providers import Provider, error_message
from marid.adapters.gateway.transport import ProviderTransport
from marid.core.errors import MaridError, NotFound, Refused, Unavailable
from marid.core.model_io import ModelInfo
from marid.text.json_values import as_object, as_objects, is_object
from marid.text.secrets.masker import Redactor

_WINDOW_NAMES = (
    *("context_length", "loaded_context_length", "max_model_len", "max_input_tokens", "inputTokenLimit"),
    *("max_context_length", "context_window"),
)
_OUTPUT_NAMES = ("outputTokenLimit", "max_tokens", "max_output_tokens", "max_completion_tokens")
_NAMES = ("display_name", "displayName", "name")
_MAX_PAGES = 20
_MAX_MESSAGE = 300


async def list_models(provider: Provider, retry_policy: RetryPolicy) -> tuple[ModelInfo, ...]:
    """The provider's models. Raises: Refused, NotFound, Unavailable."""
    failed: MaridError = NotFound(f"'{provider.host}' has no list of models")
    async with httpx2.AsyncClient(transport=ProviderTransport(provider, retry_policy)) as client:
        for address in _list_urls(provider):
            try:
                return tuple(_infos(provider, await _fetch_pages(client, address, provider)))
            except NotFound as cause:
                failed = cause
            except httpx2.HTTPError as cause:
                reason = Redactor(*provider.secrets).redact_text(str(cause) or type(cause).__name__)
                raise Unavailable(f"cannot list the models of '{provider.host}': {reason}") from cause
    raise failed


def _list_urls(provider: Provider) -> tuple[str, ...]:
    """LM Studio's native lists come first: they hold more than the compatible one."""
    root = provider.base_url
    match provider.dialect:
        case "anthropic":
            return (f"{root.removesuffix('/v1')}/v1/models?limit=1000",)
        case "google":
            return (f"{root}/v1beta/models?pageSize=1000",)
        case "openai" if provider.id == "lmstudio":
            bare = root.removesuffix("/v1")
            return (f"{bare}/api/v1/models", f"{bare}/api/v0/models", f"{bare}/v1/models")
        case "openai" | "openrouter":
            return (f"{root}/models",)


async def _fetch_pages(client: httpx2.AsyncClient, address: str, provider: Provider) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    more = ""
    for _ in range(_MAX_PAGES):
        page = await _fetch_page(client, address + more, provider)
        entries += _entries(page)
        if token := page.get("nextPageToken"):
            more = f"&pageToken={token}"
        elif page.get("has_more") and (last := page.get("last_id")):
            more = f"&after_id={last}"
        else:
            break
    return entries


async def _fetch_page(client: httpx2.AsyncClient, address: str, provider: Provider) -> Mapping[str, Any]:
    answer = await client.get(address, headers={"anthropic-version": "2023-06-01"})
    host = f"'{provider.host}'"
    if answer.status_code in (401, 403):
        raise Refused(f"{host} refused the key; check api_key (status {answer.status_code})")
    if answer.status_code == 404:
        raise NotFound(f"{host} has no list of models")
    if answer.status_code != 200:
        raise Unavailable(f"cannot list the models of {host}: status {answer.status_code}")
    try:
        page: object = json.loads(answer.content)
    except (ValueError, RecursionError) as cause:
        raise Unavailable(f"{host} sent a list of models that is not JSON") from cause
    if not is_object(page):
        raise Unavailable(f"{host} sent a list of models in an unknown format")
    if page.get("error") and not _entries(page):
        # LM Studio answers so, with status 200, on every path that it does not know.
        reason = Redactor(*provider.secrets).redact_text(" ".join(error_message(page).split()))[:_MAX_MESSAGE]
        raise NotFound(f"{host} has no list of models: {reason or 'it answers with an error'}")
    return page


def _entries(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    return as_objects(page.get("data") or page.get("models"))


def _infos(provider: Provider, entries: Iterable[Mapping[str, Any]]) -> Iterable[ModelInfo]:
    for entry in entries:
        id = entry.get("id") or entry.get("key") or str(entry.get("name") or "").removeprefix("models/")
        if not isinstance(id, str) or not id:
            continue
        price = as_object(entry.get("pricing"))
        # LM Studio may have loaded a model with a smaller window than its maximum, or with several.
        configs = (instance.get("config") for instance in as_objects(entry.get("loaded_instances")))
        loaded = min(filter(None, (_number(config, "context_length") for config in configs)), default=0)
        yield ModelInfo(
            id=id,
            provider=provider.id,
            name=next((str(entry[name]) for name in _NAMES if entry.get(name)), ""),
            context_window=loaded or _number(entry, *_WINDOW_NAMES),
            max_output=_number(entry, *_OUTPUT_NAMES) or _number(entry.get("top_provider"), *_OUTPUT_NAMES),
            input_price=_price_per_million(price, "prompt"),
            output_price=_price_per_million(price, "completion"),
            more=entry,
        )


def _number(entry: object, *names: str) -> int:
    """The first of these fields that is a number above zero."""
    fields = as_object(entry)
    return next((value for name in names if isinstance(value := fields.get(name), int) and value > 0), 0)


def _price_per_million(price: Mapping[str, Any], name: str) -> float | None:
    """None if unknown: OpenRouter's -1 means that the price varies."""
    try:
        million = float(price[name]) * 1_000_000
    except (KeyError, TypeError, ValueError):
        return None
    return round(million, 6) if million >= 0 and isfinite(million) else None
