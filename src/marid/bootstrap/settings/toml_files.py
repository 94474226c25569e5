"""Settings files: read whatever a stranger made of them, and every problem told with its line."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.bootstrap.settings.layer import SettingsDiagnostics, SettingsLayer, empty_layer
from marid.core.errors import BadInput
from marid.core.settings.schema import DISPLAY_BY_NAME, SETTINGS_BY_NAME, find_display_setting, find_setting, suggestion
from marid.core.settings.validation import check_value, printable_key
from marid.core.settings.values import MAX_SETTINGS_BYTES, UNSUPPORTED_KEYS, Setting
from marid.text.display import quote_path
from marid.workspace.small_text import read_small_text

_MAX_NOTES = 50
# Of what another program takes: it may know more names of colours, and a person there needs no name.
_LENIENT_KINDS = MappingProxyType({"colour": "the usual colour is used", "line": "the usual name is used"})
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
        from marid.bootstrap.settings.toml_lines import key_lines  # imported when used: only a problem needs it

        lines = key_lines(self.text)
        line = next((lines[key[:depth]] for depth in range(len(key), 0, -1) if key[:depth] in lines), 0)
        return f"{quote_path(self.path)}:{line}" if line else quote_path(self.path)


class FileSchema(NamedTuple):
    """Which keys a kind of file has, and under which name a problem with it is told."""

    find_setting: Callable[[str], Setting | None] = find_setting
    names: Iterable[str] = SETTINGS_BY_NAME
    other_settings: Mapping[str, Setting] = DISPLAY_BY_NAME
    other_file: str = "cli.toml"
    planned_keys: frozenset[str] = UNSUPPORTED_KEYS


class _LayerTarget(NamedTuple):
    """Where values go; with `names`, the first `cut` parts of every key stand for these."""

    layer: SettingsLayer
    schema: FileSchema
    is_conversation: bool = False
    names: tuple[str, ...] = ()
    prefix_length: int = 0

    def setting_name(self, at: tuple[str, ...]) -> str:
        return ".".join((*self.names, *at[self.prefix_length :]))


SETTINGS_FILE = FileSchema()
PROJECT_FILE = FileSchema(planned_keys=frozenset())
DISPLAY_FILE = FileSchema(find_display_setting, DISPLAY_BY_NAME, SETTINGS_BY_NAME, "config.toml")


def read_toml(path: str, findings: SettingsDiagnostics) -> TomlFile:
    """What a file holds; nothing where there is none."""
    if not os.path.exists(path):
        return TomlFile(path)
    import tomllib  # imported when used: most users have no such file

    text = ""
    try:
        text = _text(path)
        return TomlFile(path, text, tomllib.loads(text))
    except RecursionError:
        findings.add_file_problem(f"{quote_path(path)}: it is nested too deeply")
    except OSError as error:
        findings.add_file_problem(f"{quote_path(path)}: {error.strerror or error}")
    except ValueError as error:
        findings.add_file_problem(f"{quote_path(path)}{_syntax_error_text(error, text)}")
    return TomlFile(path)


def _syntax_error_text(error: ValueError, text: str) -> str:
    """What is wrong with a text that is no TOML, and the line, if there is one."""
    why = str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f":{line}: {why}"
    if at_line := _AT_LINE.match(why):
        return f":{at_line[2]}: {at_line[1]}"
    if why.endswith(_AT_END):
        from marid.bootstrap.settings.toml_lines import key_lines  # imported when used: only a problem needs it

        line = max(key_lines(text).values(), default=1)
        return f":{line}: {why.removesuffix(_AT_END)}; the file ends within what begins here"
    return f": {why}"


def _text(path: str) -> str:
    """The text of a file that a project may have made anything of. Raises: OSError, ValueError."""
    text = read_small_text(path, MAX_SETTINGS_BYTES)
    if _DEEP.search(text):
        raise ValueError("a key has too many parts")
    return text


class LayerReader:
    """Takes values out of files. With `lenient` an unknown key is a note: another program wrote it."""

    def __init__(self, findings: SettingsDiagnostics, *, lenient: bool = False) -> None:
        self._findings = findings
        self._lenient = lenient

    def read_layer(
        self, file: TomlFile, schema: FileSchema = SETTINGS_FILE, *, is_conversation: bool = False
    ) -> SettingsLayer:
        """The values of a whole file; `own` is a conversation's file, which may not set everything."""
        layer = empty_layer()
        self._walk(file, file.table, (), _LayerTarget(layer, schema, is_conversation=is_conversation))
        return layer

    def read_table(self, file: TomlFile, at: tuple[str, ...], name: str, raw: object) -> SettingsLayer:
        """The values of a table of settings that stands elsewhere in a file: at the key `at`, as if it were `name`."""
        layer = empty_layer()
        into = _LayerTarget(layer, SETTINGS_FILE, names=(name,), prefix_length=len(at))
        self._read_key(file, at, raw, into)
        return layer

    def report_unknown(self, file: TomlFile, key: tuple[str, ...], why: str) -> None:
        """Tell of a key that means nothing."""
        told = f"{file.place(key)}: unknown key '{printable_key('.'.join(key))}'{why}"
        (self._findings.notes.append if self._lenient else self._findings.add_file_problem)(told)

    def report_problem(self, file: TomlFile, key: tuple[str, ...], why: object) -> None:
        """Tell of a value that makes no sense."""
        self._findings.add_file_problem(f"{file.place(key)}: {why}")

    def add_note(self, file: TomlFile, key: tuple[str, ...], told: str) -> None:
        """Tell of what is no problem; of a hostile file not everything."""
        if len(self._findings.notes) < _MAX_NOTES:
            self._findings.notes.append(f"{file.place(key)}: {told}")

    def _walk(self, file: TomlFile, table: Mapping[str, Any], at: tuple[str, ...], into: "_LayerTarget") -> None:
        for key, raw in table.items():
            if self._findings.is_full:
                return
            self._read_key(file, (*at, key), raw, into)

    def _read_key(self, file: TomlFile, at: tuple[str, ...], raw: object, into: "_LayerTarget") -> None:
        name = into.setting_name(at)
        setting = into.schema.find_setting(name)
        if setting is None:
            self._report_unknown_key(file, at, name, into)
        elif into.is_conversation and not setting.per_conversation:
            self.report_problem(file, at, f"'{name}' may only be set in config.toml or by MARID_{name.upper()}")
        elif setting.name != name and setting.name in file.table:
            return  # under both names: our own is the stronger
        else:
            try:
                value = check_value(setting, raw)
            except BadInput as error:
                self._report_invalid(file, at, setting, error)
                return
            if setting.kind == "table":
                self._walk(file, cast("Mapping[str, Any]", value), at, into)
            else:
                into.layer.set_value(setting.name, value, file.path)

    def _report_invalid(self, file: TomlFile, at: tuple[str, ...], setting: Setting, why: BadInput) -> None:
        if self._lenient and setting.kind in _LENIENT_KINDS:
            self.add_note(file, at, f"{why}; {_LENIENT_KINDS[setting.kind]}")
        else:
            self.report_problem(file, at, why)

    def _report_unknown_key(self, file: TomlFile, at: tuple[str, ...], name: str, into: "_LayerTarget") -> None:
        if self._lenient and len(self._findings.notes) >= _MAX_NOTES:
            return
        if name in into.schema.planned_keys:
            self._findings.notes.append(f"{file.place(at)}: '{name}' is not used yet")
        elif name in into.schema.other_settings:
            self.report_unknown(file, at, f"; it belongs into {into.schema.other_file}")
        else:
            told = suggestion(name, into.schema.names)
            # What another program wrote there on purpose is told at every start: a list of ours would not help.
            self.report_unknown(file, at, "" if self._lenient and "did you mean" not in told else told)
