"""Every event that stderr may hold, and its fields: the docs are made of this, and a test holds the code against it."""

from collections.abc import Mapping
from types import MappingProxyType

EVENT_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "load_summary": ("builtin_count", "builtin_names", "plugin_count", "plugin_names"),
        "note": ("text",),
        "auto_destroyed": ("count", "names"),
        "system_prompt_set": ("context", "own"),
        "model_set": ("model", "context"),
        "inbox_processing": ("count", "context"),
        "inbox_injected": ("count",),
        "inbox_empty": ("context",),
        "inbox_failed": ("context", "code", "message"),
        "inboxes_processed": ("count",),
        "all_inboxes_empty": (),
        "tool_start": ("name", "summary", "id"),
        "tool_result": ("name", "result", "cached", "id", "failed"),
        "tool_diagnostic": ("tool", "message"),
        "approval": ("id", "kind", "tool", "answer"),
        "fuel_status": ("remaining", "total", "event", "prompt_preview"),
        "fuel_exhausted": ("total",),
        "context_warning": ("tokens_remaining", "limit"),
        "usage": ("model", "input", "output", "cached", "reasoning", "estimated"),
        "retrying": ("attempt", "seconds", "why"),
        "round_ended": ("reason", "round"),
        "done": ("ok", "code", "message"),
    }
)
EVENT_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "load_summary": "which tools there are",
        "note": "what you should know about the request or the settings",
        "auto_destroyed": "conversations whose time had come",
        "system_prompt_set": "it has a system prompt of its own, or, with `own` false, the usual one",
        "model_set": "it asks this model from now on",
        "inbox_processing": "a conversation is about to act on so many messages",
        "inbox_injected": "they stand before its prompt now",
        "inbox_empty": "nothing waits for it",
        "inbox_failed": "it could not; the others go on, and the first failure is that of `done`",
        "inboxes_processed": "so many conversations have acted",
        "all_inboxes_empty": "nothing waits for anybody",
        "tool_start": "a call of the model is made; `summary` may be null",
        "tool_result": "what it came to, as the model reads it",
        "tool_diagnostic": "a call that went wrong, and how long it took",
        "approval": "a question: `id`, `kind`, `tool`; then its answer: `id`, `answer`",
        "fuel_status": (
            "`event` is `entering_turn`, `after_tool_batch`, `empty_response` or `after_continuation`, which has "
            "`prompt_preview`: empty when the model goes on without a prompt of its own"
        ),
        "fuel_exhausted": "the round ends with what there is",
        "context_warning": "the window is nearly full",
        "usage": "what one request has cost, in tokens",
        "retrying": "the service failed and is asked again",
        "round_ended": "why a round is over",
        "done": "the last line; `code` and `message` when `ok` is false",
    }
)
