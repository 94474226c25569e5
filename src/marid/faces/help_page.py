"""The pages that `marid --help` and `marid --help-all` show, made from the tables of flags and commands."""

import shutil
import textwrap
from collections.abc import Iterable, Mapping

from marid.faces.flags import FLAGS, GROUPS, LETTER_GROUPS, Flag

_MAX_WIDTH, _MIN_WIDTH = 120, 40
_INDENT = 2
_MAX_TERM = 30

_ABOUT = "Context, conversations and tools on your own code, for you and any LLM."
_EXAMPLES = (
    ('{name} "what does this project do?"', "ask a question"),
    ('{name} -c review "explain" < a.diff', "ask about a file, in a conversation"),
)
_COMMAND_EXAMPLES = (
    ("{name} context --copy", "copy the project to the clipboard"),
    ("{name} context . --budget 20000", "the same, in 20,000 tokens"),
    ("{name} tool get_tree --path .", "call a tool"),
    ("{name} log -n 10", "show the last 10 entries"),
)


def help_page(
    commands: Mapping[str, str], groups: Mapping[str, Iterable[str]], name: str = "marid", width: int = 0
) -> str:
    """One screen: usage, examples, the commands by group and the everyday flags.

    A program `name` without commands has no examples of them.
    """
    width = page_width(width)
    parts = [_head(commands, name), f"{_fill(_ABOUT, width)}\n", _examples(commands, name, width)]
    if commands:
        rows = ((title, " ".join(names)) for title, names in groups.items())
        parts.append(f"Commands:\n{format_rows(rows, width, 15)}")
    everyday = (flag for flag in FLAGS if flag.everyday)
    parts.append(f"Flags:\n{_format_flags(everyday, width)}")
    more = f"`{name} COMMAND --help` explains a command, " if commands else ""
    parts.append(_fill(f"{more}`{name} --help-all` lists everything.", width))
    parts.append(_fill("Put `--` before a prompt that begins with a command or a dash.", width))
    return "\n".join(parts)


def full_help_page(commands: Mapping[str, str], name: str = "marid", width: int = 0) -> str:
    """All commands with their summaries and all flags; the short forms by letter come last."""
    width = page_width(width)
    parts = [_head(commands, name)]
    if commands:
        parts.append(f"Commands:\n{format_rows(commands.items(), width)}")
    parts += [f"{_fill(title, width)}:\n{_format_flags(flags, width)}" for title, flags in GROUPS[:-LETTER_GROUPS]]
    parts.append("Short forms\n===========\n")
    note = "Flags of the chibi command line. A small letter acts on the current conversation, a capital one takes NAME."
    parts.append(_fill(note, width) + "\n")
    parts += [f"{_fill(title, width)}:\n{_format_flags(flags, width)}" for title, flags in GROUPS[-LETTER_GROUPS:]]
    return "\n".join(parts).removesuffix("\n")


def page_width(given: int) -> int:
    """The width of a page: `given`, or that of the terminal within limits."""
    return given or max(_MIN_WIDTH, min(_MAX_WIDTH, shutil.get_terminal_size().columns))


def _head(commands: Mapping[str, str], name: str) -> str:
    return f"Usage: {name} [FLAGS] [PROMPT]...\n" + (f"       {name} [FLAGS] COMMAND ...\n" if commands else "")


def _examples(commands: Mapping[str, str], name: str, width: int) -> str:
    rows = (*_EXAMPLES, *(_COMMAND_EXAMPLES if commands else ()))
    return f"Examples:\n{format_rows(((usage.format(name=name), text) for usage, text in rows), width, 38)}"


def _fill(text: str, width: int) -> str:
    return textwrap.fill(text, width - 1, break_long_words=False, break_on_hyphens=False)


def _format_flags(flags: Iterable[Flag], width: int) -> str:
    return format_rows(((flag.usage, flag.help) for flag in flags), width)


def format_rows(rows: Iterable[tuple[str, str]], width: int, longest: int = _MAX_TERM) -> str:
    """Two columns that break between words only. A term that is too long has a line to itself."""
    left = min(longest, width // 2) + _INDENT + 2
    lines: list[str] = []
    for term, meaning in rows:
        head = f"{' ' * _INDENT}{term}"
        if len(head) > left - 2:
            lines.append(head)
            head = ""
        text = textwrap.wrap(meaning, width - left, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [f"{head if number == 0 else '':<{left}}{line}".rstrip() for number, line in enumerate(text)]
    return "\n".join(lines) + "\n"
