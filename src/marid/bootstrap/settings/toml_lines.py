"""The line of each key of a TOML file, which the parser does not report."""

import re
from collections.abc import Mapping
from functools import lru_cache

_PART = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
# No possessive quantifiers: those of Python 3.11.2 have a bug.
_BLANK = re.compile(r"(?:[ \t\r\n]+|\#[^\n]*)*")
_STATEMENT = re.compile(rf"(?P<header>\[\[?[ \t]*)?(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)")
_ONE_PART = re.compile(_PART)
_TOKEN = re.compile(
    r'''(?s:"""(?:[^"\\]|\\.|"(?!""))*"{3,5})|(?s:\'\'\'.*?\'{3,5})|(?s:(?:"""|\'\'\').*)'''
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>\n)|[^"'#\n\[\]{}]+|."""
)


@lru_cache(maxsize=2)
def key_lines(text: str) -> Mapping[tuple[str, ...], int]:
    """The line, from 1, of every key and table of a TOML text, except keys of inline tables.

    If the text breaks off, the last one is the line of the incomplete statement.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    at, line = 0, 1
    while statement := _STATEMENT.match(text, _skip_blank(text, at)):
        line += text.count("\n", at, statement.start("key"))
        path = tuple(part.strip("\"'") for part in _ONE_PART.findall(statement["key"]))
        if statement["header"]:
            table, path = path, ()
        for depth in range(len(path) + 1):
            found.setdefault((*table, *path[:depth]), line)
        end = _end(text, statement.end())
        line += text.count("\n", statement.start("key"), end)
        at = end
    return found


def _skip_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _end(text: str, at: int) -> int:
    """The end of the statement at `at`: the first line end outside strings and brackets."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif token["end"] and depth <= 0:
            return token.end()
    return len(text)
