"""A conversation as one document: markdown, JSON or a page that needs nothing else."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from marid.app.app import RequestScope
from marid.app.conversations import readable_entries, transcript
from marid.core.conversation.entry import MESSAGE, NEVER_IN_WINDOW, TOOL_CALL, TOOL_RESULT, TOOL_STARTED, Entry
from marid.core.conversation.entry_json import entry_to_dict, status_mark
from marid.core.conversation.records import ConversationMeta
from marid.core.errors import BadInput
from marid.text.display import escape_text, format_timestamp

# A call has its result, so its start is not shown.
_HIDDEN_TYPES = frozenset({TOOL_STARTED, *NEVER_IN_WINDOW})
_STYLE = """
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; } time, .note { color: #767676; font-weight: normal; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: inherit; }
details pre { font: 13px/1.4 ui-monospace, monospace; background: #8881; padding: .6rem; }
""".strip()


def export(scope: RequestScope, key: str, form: str = "markdown", *, whole: bool = False) -> str:
    """The window of a conversation, or with `whole` its whole transcript.

    Raises: NotFound; BadInput for an unknown format; Unavailable.
    """
    if form not in FORMS:
        raise BadInput(f"unknown format '{form}': use {', '.join(FORMS)}")
    found = transcript(scope, key)
    entries = found.entries() if whole else found.window()
    return FORMS[form](found.meta(), entries)


def _markdown(meta: ConversationMeta, entries: Iterable[Entry]) -> str:
    parts = [f"# {escape_text(meta.title or meta.name)}"]
    for entry in readable_entries(entries):
        if entry.entry_type == MESSAGE:
            parts.append(
                f"## {escape_text(entry.sender)} · {format_timestamp(entry.time_ms)}{status_mark(entry)}\n\n"
                f"{entry.content.strip()}"
            )
        elif entry.entry_type in (TOOL_CALL, TOOL_RESULT):
            parts.append(f"{_heading(entry)}{status_mark(entry)}\n\n{_fence_block(entry.content)}")
        elif entry.entry_type not in _HIDDEN_TYPES:
            parts.append(f"---\n\n*{_heading(entry)}, {format_timestamp(entry.time_ms)}*")
    return "\n\n".join(parts) + "\n"


def _fence_block(text: str) -> str:
    """A code block with a fence longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"


def _heading(entry: Entry) -> str:
    if entry.entry_type == TOOL_CALL:
        return f"Call of {escape_text(entry.to)}"
    if entry.entry_type == TOOL_RESULT:
        return f"Result of {escape_text(entry.sender)}"
    return escape_text(entry.entry_type).replace("_", " ")


def _json(meta: ConversationMeta, entries: Iterable[Entry]) -> str:
    import json

    whole = {"conversation": meta.public_fields(), "entries": [entry_to_dict(entry) for entry in entries]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _html(meta: ConversationMeta, entries: Iterable[Entry]) -> str:
    from html import escape

    title = escape(meta.title or meta.name)
    parts = [
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n<h1>{title}</h1>"
    ]
    for entry in readable_entries(entries):
        text, at = escape(entry.content.strip("\n")), format_timestamp(entry.time_ms)
        if entry.entry_type == MESSAGE:
            head = f"{escape(entry.sender)} <time>{at}{escape(status_mark(entry))}</time>"
            parts.append(f"<h2>{head}</h2>\n<pre>{text}</pre>")
        elif entry.entry_type in (TOOL_CALL, TOOL_RESULT):
            head = escape(_heading(entry) + status_mark(entry))
            parts.append(f"<details><summary>{head}</summary>\n<pre>{text}</pre>\n</details>")
        elif entry.entry_type not in _HIDDEN_TYPES:
            parts.append(f'<p class="note">{escape(_heading(entry))}, {at}</p>')
    return "\n".join(parts) + "\n"


FORMS: Mapping[str, Callable[[ConversationMeta, Iterable[Entry]], str]] = MappingProxyType(
    {"markdown": _markdown, "json": _json, "html": _html}
)
