"""Settings files: read whatever a stranger made of them, and every problem told with its line."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.bootstrap.layers import Findings, Layer, empty
from marid.core.checks import checked, shown_key
from marid.core.errors import BadInput
from marid.core.fields import BY_NAME, DISPLAY_BY_NAME, display_of, setting_of, suggestion
from marid.core.settings import LATER, MOST_BYTES, Setting
from marid.text.visible import shown_path
from marid.workspace.plain import plain_text

_MOST_NOTES = 50
# Of what another program takes: it may know more names of colours, and a person there needs no name.
_LOOSE = MappingProxyType({"colour": "the usual colour is used", "line": "the usual name is used"})
# The parser takes the square of the parts of a key. Quoted text like that does not occur, so it is not told apart.
_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){24}""")
_AT_END = " (at end of document)"
_AT_LINE = re.compile(r"^(.*) \(at line (\d+), column \d+\)$", re.DOTALL)


class TomlFile(NamedTuple):
    """A file that is there and was read; without a text it could not be."""

    path: str
    text: str = ""
    table: Mapping[str, Any] = MappingProxyType({})

    def place(self, key: tuple[str, ...] = ()) -> str:
        """The file and the line of a key, or of the table that it stands in, for messages."""
        from marid.bootstrap.layers_lines import key_lines  # imported when used: only a problem needs it

        lines = key_lines(self.text)
        line = next((lines[key[:depth]] for depth in range(len(key), 0, -1) if key[:depth] in lines), 0)
        return f"{shown_path(self.path)}:{line}" if line else shown_path(self.path)


class Known(NamedTuple):
    """Which keys a kind of file has, and under which name a problem with it is told."""

    find: Callable[[str], Setting | None] = setting_of
    names: Iterable[str] = BY_NAME
    others: Mapping[str, Setting] = DISPLAY_BY_NAME
    elsewhere: str = "cli.toml"
    later: frozenset[str] = LATER


class _Into(NamedTuple):
    """Where values go; with `names`, the first `cut` parts of every key stand for these."""

    layer: Layer
    known: Known
    own: bool = False
    names: tuple[str, ...] = ()
    cut: int = 0

    def name(self, at: tuple[str, ...]) -> str:
        return ".".join((*self.names, *at[self.cut :]))


SETTINGS_FILE = Known()
PROJECT_FILE = Known(later=frozenset())
DISPLAY_FILE = Known(display_of, DISPLAY_BY_NAME, BY_NAME, "config.toml")


def read_toml(path: str, findings: Findings) -> TomlFile:
    """What a file holds; nothing where there is none."""
    if not os.path.exists(path):
        return TomlFile(path)
    import tomllib  # imported when used: most users have no such file

    text = ""
    try:
        text = _text(path)
        return TomlFile(path, text, tomllib.loads(text))
    except RecursionError:
        findings.wrong_file(f"{shown_path(path)}: it is nested too deeply")
    except OSError as error:
        findings.wrong_file(f"{shown_path(path)}: {error.strerror or error}")
    except ValueError as error:
        findings.wrong_file(f"{shown_path(path)}{_why(error, text)}")
    return TomlFile(path)


def _why(error: ValueError, text: str) -> str:
    """What is wrong with a text that is no TOML, and the line, if there is one."""
    why = str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f":{line}: {why}"
    if at_line := _AT_LINE.match(why):
        return f":{at_line[2]}: {at_line[1]}"
    if why.endswith(_AT_END):
        from marid.bootstrap.layers_lines import key_lines  # imported when used: only a problem needs it

        line = max(key_lines(text).values(), default=1)
        return f":{line}: {why.removesuffix(_AT_END)}; the file ends within what begins here"
    return f": {why}"


def _text(path: str) -> str:
    """The text of a file that a project may have made anything of. Raises: OSError, ValueError."""
    text = plain_text(path, MOST_BYTES)
    if _DEEP.search(text):
        raise ValueError("a key has too many parts")
    return text


class Reader:
    """Takes values out of files. With `lenient` an unknown key is a note: another program wrote it."""

    def __init__(self, findings: Findings, *, lenient: bool = False) -> None:
        self._findings = findings
        self._lenient = lenient

    def layer(self, file: TomlFile, known: Known = SETTINGS_FILE, *, own: bool = False) -> Layer:
        """The values of a whole file; `own` is a conversation's file, which may not set everything."""
        layer = empty()
        self._walk(file, file.table, (), _Into(layer, known, own=own))
        return layer

    def table(self, file: TomlFile, at: tuple[str, ...], name: str, raw: object) -> Layer:
        """The values of a table of settings that stands elsewhere in a file: at the key `at`, as if it were `name`."""
        layer = empty()
        into = _Into(layer, SETTINGS_FILE, names=(name,), cut=len(at))
        self._take(file, at, raw, into)
        return layer

    def unknown(self, file: TomlFile, key: tuple[str, ...], why: str) -> None:
        """Tell of a key that means nothing."""
        told = f"{file.place(key)}: unknown key '{shown_key('.'.join(key))}'{why}"
        (self._findings.notes.append if self._lenient else self._findings.wrong_file)(told)

    def problem(self, file: TomlFile, key: tuple[str, ...], why: object) -> None:
        """Tell of a value that makes no sense."""
        self._findings.wrong_file(f"{file.place(key)}: {why}")

    def note(self, file: TomlFile, key: tuple[str, ...], told: str) -> None:
        """Tell of what is no problem; of a hostile file not everything."""
        if len(self._findings.notes) < _MOST_NOTES:
            self._findings.notes.append(f"{file.place(key)}: {told}")

    def _walk(self, file: TomlFile, table: Mapping[str, Any], at: tuple[str, ...], into: "_Into") -> None:
        for key, raw in table.items():
            if self._findings.full:
                return
            self._take(file, (*at, key), raw, into)

    def _take(self, file: TomlFile, at: tuple[str, ...], raw: object, into: "_Into") -> None:
        name = into.name(at)
        setting = into.known.find(name)
        if setting is None:
            self._stranger(file, at, name, into)
        elif into.own and not setting.everywhere:
            self.problem(file, at, f"'{name}' may only be set in config.toml or by MARID_{name.upper()}")
        elif setting.name != name and setting.name in file.table:
            return  # under both names: our own is the stronger
        else:
            try:
                value = checked(setting, raw)
            except BadInput as error:
                self._wrong(file, at, setting, error)
                return
            if setting.kind == "table":
                self._walk(file, cast("Mapping[str, Any]", value), at, into)
            else:
                into.layer.put(setting.name, value, file.path)

    def _wrong(self, file: TomlFile, at: tuple[str, ...], setting: Setting, why: BadInput) -> None:
        if self._lenient and setting.kind in _LOOSE:
            self.note(file, at, f"{why}; {_LOOSE[setting.kind]}")
        else:
            self.problem(file, at, why)

    def _stranger(self, file: TomlFile, at: tuple[str, ...], name: str, into: "_Into") -> None:
        if self._lenient and len(self._findings.notes) >= _MOST_NOTES:
            return
        if name in into.known.later:
            self._findings.notes.append(f"{file.place(at)}: '{name}' is not used yet")
        elif name in into.known.others:
            self.unknown(file, at, f"; it belongs into {into.known.elsewhere}")
        else:
            told = suggestion(name, into.known.names)
            # What another program wrote there on purpose is told at every start: a list of ours would not help.
            self.unknown(file, at, "" if self._lenient and "did you mean" not in told else told)
