"""What somebody set and the library did not send, as the service or the model would not take it."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from marid.adapters.gateway.providers import Dialect
from marid.core.model_io import Parameters

Names: TypeAlias = tuple[str, ...]

_SAMPLING = ("temperature", "top_p", "frequency_penalty", "presence_penalty")
# By dialect: the settings that are looked for, and the names of which one must be there; those without a name cannot be
# said in that dialect.
_GOOGLE: Mapping[str, Names] = MappingProxyType(
    {
        "temperature": ("temperature",),
        "top_p": ("topP",),
        "response_format": ("responseMimeType",),
        "parallel_tool_calls": (),
    }
)
_ANTHROPIC: Mapping[str, Names] = MappingProxyType(
    {
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "frequency_penalty": (),
        "presence_penalty": (),
        "seed": (),
        "response_format": ("output_config", "output_format"),
    }
)
_OPENAI: Mapping[str, Names] = MappingProxyType({name: (name,) for name in _SAMPLING})


def dropped_parameters(wanted: Parameters, dialect: Dialect, body: bytes) -> tuple[str, ...]:
    """The settings of `wanted` that a request does not hold, though somebody counts on them."""
    names = {"google": _GOOGLE, "anthropic": _ANTHROPIC}.get(dialect, _OPENAI)
    asked = [name for name in names if _is_significant(name, wanted)]
    if not asked:
        return ()
    sent: object = json.loads(body)
    fields = cast("dict[str, Any]", sent) if isinstance(sent, dict) else {}
    if "parallel_tool_calls" in asked and not fields.get("tools"):
        asked.remove("parallel_tool_calls")
    if dialect == "google":
        fields = cast("dict[str, Any]", fields.get("generationConfig") or {})
    return tuple(name for name in asked if not _has_setting(fields, name, names[name]))


def _is_significant(name: str, wanted: Parameters) -> bool:
    """Whether leaving a setting out changes anything: answers are text, and calls may be parallel, by themselves."""
    match name:
        case "response_format":
            return wanted.response_format is not None and wanted.response_format.get("type") != "text"
        case "parallel_tool_calls":
            return wanted.parallel_tool_calls is False
        case _:
            return getattr(wanted, name) is not None


def _has_setting(fields: Mapping[str, Any], name: str, words: Names) -> bool:
    """Whether a request holds the setting. Anthropic has one table for the form of an answer and for other things."""
    if name == "response_format" and isinstance(table := fields.get("output_config"), dict):
        return "format" in table
    return any(word in fields for word in words)
