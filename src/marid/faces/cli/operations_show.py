"""What the command line shows of conversations. Flags and commands call the same functions."""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from marid.app import conversations
from marid.app.app import App
from marid.app.conversations import Listed, Overview
from marid.core.entry import MESSAGE, Entry
from marid.core.entry_fields import fields_of
from marid.core.errors import MaridError
from marid.faces.cli.exits import print_out, say
from marid.faces.cli.operations_text import columns, count, entry_words, excerpt, is_shown, one_line, print_shown
from marid.faces.cli.rendering import Look, rendered
from marid.faces.cli.rendering import columns as width_of
from marid.text.moments import when

_ENDS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


class Manner(NamedTuple):
    """How a log is shown: calls and results whole, one object a line for a program, beyond the window, not rendered."""

    verbose: bool = False
    as_json: bool = False
    whole: bool = False
    raw: bool = False


def list_conversations(app: App, working: str, *, as_json: bool = False) -> None:
    """All conversations; `working` is the one that is marked, also when it is not there yet."""
    found = conversations.listing(app)
    if as_json:
        _print_json([_listed(app, one, working) for one in found])
        return
    rows = [_row(app, one, working) for one in found]
    if all(one.meta.name != working for one in found):
        rows.append((f"* {working}", "not used yet", "", ""))
    for line in columns(sorted(rows, key=lambda row: row[0][2:])):
        print_shown(line)


def _row(app: App, one: Listed, working: str) -> tuple[str, ...]:
    meta = one.meta
    mark = "* " if meta.name == working else "  "
    active = " [active]" if one.holder else ""
    archived = " [archived]" if meta.archived_ms else ""
    messages = _messages(app, meta.name)
    told = "unreadable" if messages is None else count(messages, "message")
    return (
        f"{mark}{meta.name}{active}{archived}",
        told,
        when(meta.last_message_ms or meta.created_ms),
        one_line(meta.title),
    )


def _messages(app: App, name: str) -> int | None:
    """How many are in the window; None where it cannot be read."""
    try:
        window = app.memory(app.settings).conversations.read(name).window()
    except MaridError:
        return None
    return sum(entry.entry_type == MESSAGE for entry in window)


def _listed(app: App, one: Listed, working: str) -> dict[str, object]:
    return {
        **one.meta.known(),
        "current": one.meta.name == working,
        "active": one.holder is not None,
        "messages": _messages(app, one.meta.name),
    }


def show_conversation(app: App, name: str, *, as_json: bool = False) -> None:
    """One conversation in short."""
    found = conversations.overview(app, name)
    if as_json:
        state = {"active": found.holder is not None, "messages": found.messages, "summary": found.summary}
        _print_json({**found.meta.known(), **state})
        return
    for line in _lines(found):
        print_shown(line)


def _lines(found: Overview) -> Iterable[str]:
    meta, holder, messages, summary = found
    yield f"{meta.name}{' [active]' if holder else ''}{' [archived]' if meta.archived_ms else ''}"
    model = f"{meta.provider}:{meta.model}".strip(":")
    rows = [
        ("messages", f"{messages:,}"),
        ("last used", when(meta.last_message_ms)),
        ("title", one_line(meta.title)),
        ("model", model),
        ("summary", summary),
        ("held by", f"process {holder.pid} on {holder.host}" if holder else ""),
    ]
    yield from (f"  {name:<10} {value}" for name, value in rows if value)


def show_log(app: App, name: str, how_many: int, manner: Manner) -> None:
    """The last entries, the first ones for a number below 0, all for 0: of the window, or of all that was ever said."""
    read = conversations.transcript(app, name)
    found = read.entries() if manner.whole else conversations.shown(read)
    entries = conversations.cut(_shown(found, manner), how_many)
    if not _print_entries(entries, manner, _look(app, name, manner)) and not manner.as_json:
        say(f"nothing was said in '{name}' yet" if manner.whole else f"there is nothing in the window of '{name}'")
    for problem in read.problems():
        say(problem)


def _look(app: App, name: str, manner: Manner) -> Look | None:
    """How messages are rendered, where a person reads them on a terminal."""
    if manner.raw or manner.as_json or not sys.stdout.isatty():
        return None
    display = app.resolve(name, {}).display
    return Look(display.markdown_style, app.colour) if display.render_markdown else None


def _shown(entries: Iterable[Entry], manner: Manner) -> Iterable[Entry]:
    """Those that a person reads, as they are read; a program reads all of them."""
    if manner.as_json:
        return entries
    return (entry for entry in conversations.told(entries) if is_shown(entry, verbose=manner.verbose))


def follow(app: App, name: str, manner: Manner, over: Callable[[], bool] = lambda: False) -> None:
    """What is said from now on, until it is `over`: a person ends it with Ctrl-C."""
    found = conversations.transcript(app, name)
    look = _look(app, name, manner)
    seen = found.sequence()
    say(f"what is said in '{name}' is shown as it comes; Ctrl-C ends it")
    while not over():
        new = found.follow(seen, wait=1.0)
        _print_entries(_shown(new, manner), manner, look)
        seen = max((entry.sequence for entry in new), default=seen)


def _print_entries(entries: Iterable[Entry], manner: Manner, look: Look | None = None) -> int:
    """Entries as words, messages rendered if they are to have a look, or one JSON object a line; how many."""
    shown = 0
    for entry in entries:
        shown += 1
        if manner.as_json:
            print_object(fields_of(entry))
        elif entry.entry_type == MESSAGE and look:
            print_shown(entry_words(entry._replace(content=""), verbose=False).rstrip("\n"))
            print_out(rendered(entry.content, width_of(1), look))
        else:
            words = entry_words(entry, verbose=manner.verbose)
            print_shown(words if entry.entry_type == MESSAGE else words.removesuffix("\n"))
    return shown


def show_thing(app: App, name: str, thing: str, *, as_json: bool = False) -> None:
    """One thing of a conversation. Raises: BadInput when there is no such thing."""
    from marid.app.inspection import inspect

    found = inspect(app, name, thing)
    if as_json:
        _print_json({"conversation": name, "thing": thing, "content": found})
    else:
        print_shown(found)


def show_hits(app: App, query: str, *, whole: bool = False, as_json: bool = False) -> None:
    """What was said in any conversation, one hit a block."""
    found = False
    words = query.split()
    for conversation, entry in conversations.search(app, query, whole=whole, tell=say):
        for shown in [entry] if as_json else _read_as_said(entry, words):
            found = True
            _print_hit(app, conversation, shown, words, as_json=as_json)
    if not found:
        say(f"'{query}' was found in no conversation")


def _read_as_said(entry: Entry, words: list[str]) -> Iterator[Entry]:
    """As a person reads it, if the words are in that, and not only in the form in which it is stored."""
    for told in conversations.told([entry]):
        if all(word.casefold() in told.content.casefold() for word in words):
            yield told


def _print_hit(app: App, conversation: str, entry: Entry, words: list[str], *, as_json: bool) -> None:
    if as_json:
        print_object({"conversation": conversation, **fields_of(entry)})
        return
    text = "\n".join(f"  {line}" for line in excerpt(entry.content, words).split("\n"))
    print_shown(f"{conversation}  {when(entry.time_ms)}  [{one_line(entry.sender)}]")
    print_shown(text + "\n", bold=words if app.colour else ())


def print_object(value: object) -> None:
    """For a program, on one line."""
    # What some readers take for the end of a line stands in it as an escape.
    print_shown(_json(value).translate(_ENDS))


def _print_json(value: object) -> None:
    print_shown(_json(value, indent=2))


def _json(value: object, indent: int | None = None) -> str:
    import json  # imported when used: a list for people needs none of it

    return json.dumps(value, indent=indent, ensure_ascii=False)
