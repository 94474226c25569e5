"""The page that `marid --help` shows, made of the table of flags and the names of the commands."""

import shutil
from collections.abc import Iterable, Mapping

from marid.faces.flags import GROUPS

_MAX_WIDTH, _MIN_WIDTH = 100, 60
_INDENT = 2
_MAX_TERM = 28

_USAGE = "Usage: {name} [FLAGS] [WORDS]...\n"
_WITH_COMMANDS = "       {name} [FLAGS] COMMAND ...\n"
_ABOUT = """
Context, memory, hands and knowledge for you and any LLM, on your own code.

  {name} "what does this project do?"       say something; -- comes before words that are no flags or command
  {name} -c review "look at this" < diff    in a conversation of its own, with a file
"""
_EXAMPLES = """\
  {name} context --copy                     a project on the clipboard
  {name} overview                           what is in it, and what to try
"""


def help_page(commands: Mapping[str, str], name: str = "marid", width: int = 0) -> str:
    """All flags by group, then the commands with their summaries, as wide as the terminal or as `width`.

    By a `name` under which it has no commands there are only flags and words.
    """
    width = width or max(_MIN_WIDTH, min(_MAX_WIDTH, shutil.get_terminal_size().columns))
    head = (_USAGE, _WITH_COMMANDS, _ABOUT, _EXAMPLES) if commands else (_USAGE, _ABOUT)
    parts = ["".join(head).format(name=name)]
    for title, flags in GROUPS:
        parts.append(f"{title}:\n{_format_rows(((flag.usage, flag.help) for flag in flags), width)}")
    if commands:
        parts.append(f"Commands:\n{_format_rows(commands.items(), width)}")
    more = f"`{name} COMMAND --help` tells more. " if commands else ""
    parts.append(f"{more}A small letter means the current conversation, a capital one names it.")
    return "\n".join(parts)


def _format_rows(rows: Iterable[tuple[str, str]], width: int) -> str:
    """Two columns; what is too long for the first stands on a line of its own."""
    import textwrap

    table = list(rows)
    left = _MAX_TERM + _INDENT + 2
    lines: list[str] = []
    for term, meaning in table:
        told = textwrap.wrap(meaning, width - left) or [""]
        head = f"{' ' * _INDENT}{term}"
        if len(head) > left - 2:
            lines.append(head)
            head = ""
        lines += [f"{head if number == 0 else '':<{left}}{line}".rstrip() for number, line in enumerate(told)]
    return "\n".join(lines) + "\n"
