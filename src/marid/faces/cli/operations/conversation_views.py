"""What the command line shows of conversations. Flags and commands call the same functions."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event
from typing import NamedTuple

from marid.app import conversations
from marid.app.app import RequestScope
from marid.app.conversations import ConversationListItem, Overview
from marid.core.conversation.entry import ANCHORS, MESSAGE, TOOL_CALL, TOOL_RESULT, TOOL_STARTED, Entry
from marid.core.conversation.entry_json import entry_to_dict, status_mark
from marid.core.errors import MaridError
from marid.faces.cli.argv.option_tables import LIST_OPTIONS, LOG_OPTIONS, parse_options
from marid.faces.cli.operations.conversation_actions import exists_or_notify, resolve_after_sweep, sweep
from marid.faces.cli.view.answer_output import MarkdownLook, render_markdown
from marid.faces.cli.view.console import count_text, print_line, print_note, print_untrusted
from marid.text.display import clip, format_timestamp

_PREVIEW = 60
_HIDDEN_TYPES = ANCHORS | {TOOL_STARTED}
_LINE_SEPARATORS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class LogOptions(NamedTuple):
    """How a log is shown: results in full, as JSON lines, the `whole` history instead of the window, not rendered."""

    verbose: bool = False
    as_json: bool = False
    whole: bool = False
    raw: bool = False


def quick_list(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    """What runs a plain `marid conversations`; None if click has to parse the line."""
    given = parse_options([*args], LIST_OPTIONS)
    if given is None or given["targets"] not in ((), ("list",)):
        return None
    return lambda: run_list(open_request(), as_json=given["as_json"])


def run_list(scope: RequestScope, *, as_json: bool = False) -> int:
    """`marid conversations`."""
    sweep(scope)
    list_conversations(scope, conversations.current(scope).implied, as_json=as_json)
    return 0


def quick_log(args: Sequence[str], open_request: Callable[[], RequestScope]) -> Callable[[], int] | None:
    """What runs a plain `marid log`; None if click has to parse the line."""
    given = parse_options([*args], LOG_OPTIONS)
    words = given.pop("targets") if given else ()
    if given is None or given.pop("following") or len(words) > 1 or "" in words:
        return None
    count: int = given.pop("count")
    return lambda: run_log(open_request(), "".join(words), count, LogOptions(**given))


def run_log(scope: RequestScope, word: str, count: int, options: LogOptions) -> int:
    """`marid log`. Raises: NotFound."""
    name = resolve_after_sweep(scope, word, verbose=options.verbose)
    if exists_or_notify(scope, name, unused=conversations.current(scope).implied):
        show_log(scope, name, count, options)
    return 0


def list_conversations(scope: RequestScope, working: str, *, as_json: bool = False) -> None:
    """All conversations; `working` is the one that is marked, also if it does not exist yet."""
    found = conversations.list_conversations(scope)
    if as_json:
        print_json([_conversation_fields(scope, one, working) for one in found])
        return
    rows = [_row(scope, one, working) for one in found]
    if all(one.meta.name != working for one in found):
        rows.append((f"* {working}", "not used yet", "", ""))
    for line in align_columns(sorted(rows, key=lambda row: row[0][2:])):
        print_untrusted(line)


def _row(scope: RequestScope, one: ConversationListItem, working: str) -> tuple[str, ...]:
    meta = one.meta
    mark = "* " if meta.name == working else "  "
    active = " [active]" if one.holder else ""
    archived = " [archived]" if meta.archived_ms else ""
    messages = _message_count(scope, meta.name)
    return (
        f"{mark}{meta.name}{active}{archived}",
        "unreadable" if messages is None else count_text(messages, "message"),
        format_timestamp(meta.last_message_ms or meta.created_ms),
        one_line(meta.title),
    )


def _message_count(scope: RequestScope, name: str) -> int | None:
    """How many are in the window; None if it cannot be read."""
    try:
        window = scope.stores.conversations.read(name).window()
    except MaridError:
        return None
    return sum(entry.entry_type == MESSAGE for entry in window)


def _conversation_fields(scope: RequestScope, one: ConversationListItem, working: str) -> dict[str, object]:
    state = {"current": one.meta.name == working, "active": one.holder is not None}
    return {**one.meta.public_fields(), **state, "messages": _message_count(scope, one.meta.name)}


def show_conversation(scope: RequestScope, name: str, *, as_json: bool = False) -> None:
    """A summary of one conversation."""
    found = conversations.overview(scope, name)
    if as_json:
        state = {"active": found.holder is not None, "messages": found.messages, "summary": found.summary}
        print_json({**found.meta.public_fields(), **state})
        return
    for line in _overview_lines(found):
        print_untrusted(line)


def _overview_lines(found: Overview) -> Iterable[str]:
    meta, holder, messages, summary = found
    yield f"{meta.name}{' [active]' if holder else ''}{' [archived]' if meta.archived_ms else ''}"
    rows = [
        ("messages", f"{messages:,}"),
        ("last used", format_timestamp(meta.last_message_ms)),
        ("title", one_line(meta.title)),
        ("model", f"{meta.provider}:{meta.model}".strip(":")),
        ("summary", summary),
        ("held by", f"process {holder.pid} on {holder.host}" if holder else ""),
    ]
    yield from (f"  {name:<10} {value}" for name, value in rows if value)


def show_log(scope: RequestScope, name: str, how_many: int, options: LogOptions) -> None:
    """The last entries, the first ones for a number below 0, all for 0."""
    read = conversations.transcript(scope, name)
    found = read.entries() if options.whole else conversations.visible_entries(read)
    entries = conversations.take_entries(_visible_entries(found, options), how_many)
    if not _print_entries(entries, options, _log_look(scope, name, options)) and not options.as_json:
        print_note(f"'{name}' has no entries yet" if options.whole else f"the window of '{name}' is empty")
    for problem in read.problems():
        print_note(problem)


def _log_look(scope: RequestScope, name: str, options: LogOptions) -> MarkdownLook | None:
    """How messages are rendered, on a terminal."""
    if options.raw or options.as_json or not sys.stdout.isatty():
        return None
    display = scope.within(name).settings.display
    return MarkdownLook(display.markdown_style, scope.colour) if display.render_markdown else None


def _visible_entries(entries: Iterable[Entry], options: LogOptions) -> Iterable[Entry]:
    """Those that a person reads, in a readable form; a program gets all of them as they are."""
    if options.as_json:
        return entries
    return (entry for entry in conversations.readable_entries(entries) if is_visible(entry, verbose=options.verbose))


def follow_log(scope: RequestScope, name: str, options: LogOptions, over: Callable[[], bool] = lambda: False) -> None:
    """Show new entries as they come, until Ctrl-C or `over`."""
    found = conversations.transcript(scope, name)
    look = _log_look(scope, name, options)
    seen = found.sequence()
    print_note(f"following '{name}'; Ctrl-C ends it")
    changed = Event()
    unsubscribe = conversations.subscribe(scope, name, changed.set)
    try:
        while not over():
            if changed.wait(1.0):
                changed.clear()
                new = tuple(found.entries(after=seen))
                _print_entries(_visible_entries(new, options), options, look)
                seen = max((entry.sequence for entry in new), default=seen)
    finally:
        unsubscribe()


def _print_entries(entries: Iterable[Entry], options: LogOptions, look: MarkdownLook | None = None) -> int:
    """Print entries as text, messages rendered if there is a `look`, or as JSON lines; returns how many."""
    shown = 0
    for entry in entries:
        shown += 1
        if options.as_json:
            print_json_line(entry_to_dict(entry))
        elif entry.entry_type == MESSAGE and look:
            print_untrusted(entry_text(entry._replace(content=""), verbose=False).rstrip("\n"))
            print_line(render_markdown(entry.content, look))
        else:
            words = entry_text(entry, verbose=options.verbose)
            print_untrusted(words if entry.entry_type == MESSAGE else words.removesuffix("\n"))
    return shown


def show_search_hits(scope: RequestScope, query: str, *, whole: bool = False, as_json: bool = False) -> None:
    """What a search in all conversations finds, one hit a block."""
    found = False
    words = query.split()
    for conversation, entry in conversations.search(scope, query, whole=whole, on_problem=print_note):
        for shown in [entry] if as_json else _matching_text(entry, words):
            found = True
            _print_hit(scope, conversation, shown, words, as_json=as_json)
    if not found:
        print_note(f"no conversation contains '{query}'")


def _matching_text(entry: Entry, words: list[str]) -> Iterator[Entry]:
    """The entry in its readable form, if that has the words, and not only the form in which it is stored."""
    for readable in conversations.readable_entries([entry]):
        if all(word.casefold() in readable.content.casefold() for word in words):
            yield readable


def _print_hit(scope: RequestScope, conversation: str, entry: Entry, words: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json_line({"conversation": conversation, **entry_to_dict(entry)})
        return
    text = "\n".join(f"  {line}" for line in excerpt(entry.content, words).split("\n"))
    print_untrusted(f"{conversation}  {format_timestamp(entry.time_ms)}  [{one_line(entry.sender)}]")
    print_untrusted(text + "\n", bold=words if scope.colour else ())


def print_json_line(value: object) -> None:
    """Print JSON on one line."""
    # Escape what some readers take for the end of a line.
    print_untrusted(_json(value).translate(_LINE_SEPARATORS))


def print_json(value: object) -> None:
    """Print JSON on several lines."""
    print_untrusted(_json(value, indent=2))


def _json(value: object, indent: int | None = None) -> str:
    import json  # imported when used: a list for people needs none of it

    return json.dumps(value, indent=indent, ensure_ascii=False)


def align_columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows as lines, each column as wide as its widest cell."""
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        yield "  ".join(cells).rstrip()


def is_visible(entry: Entry, *, verbose: bool) -> bool:
    """Whether a log shows this entry; started calls and anchors only if `verbose`."""
    return verbose or entry.entry_type not in _HIDDEN_TYPES


def entry_text(entry: Entry, *, verbose: bool) -> str:
    """An entry of a log: messages in full, calls and results shortened unless `verbose`."""
    if entry.entry_type == MESSAGE:
        return f"[{one_line(entry.sender)}]{status_mark(entry)}\n{entry.content.rstrip()}\n"
    if entry.entry_type == TOOL_CALL:
        words = entry.content if verbose else _preview(entry.content)
        return f"[call: {one_line(entry.to)}] {words}{status_mark(entry)}\n"
    if entry.entry_type == TOOL_RESULT:
        size = count_text(len(entry.content.encode("utf-8", "surrogatepass")), "byte")
        return f"[result: {one_line(entry.sender)}] {entry.content if verbose else size}{status_mark(entry)}\n"
    if entry.entry_type == TOOL_STARTED:
        return f"[started: {one_line(entry.to)}]\n"
    return f"[{one_line(entry.entry_type)}] {entry.content if verbose else _preview(entry.content)}".rstrip() + "\n"


def one_line(text: str) -> str:
    """`text` on one line."""
    return " ".join(text.split())


def _preview(text: str) -> str:
    return clip(one_line(text), _PREVIEW + 1)


def excerpt(text: str, words: Iterable[str], around: int = 200) -> str:
    """The text around the first of `words`: its line, cut to `around` characters on each side."""
    low = text.casefold()
    places = [at for word in words if (at := low.find(word.casefold())) >= 0]
    at = min(places, default=0)
    begin = max(0, text.rfind("\n", 0, at) + 1, at - around)
    end = text.find("\n", at)
    end = min(len(text) if end < 0 else end, at + around)
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text.rstrip()) else ''}"
