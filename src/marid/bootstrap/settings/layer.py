"""The values that one file, the environment or the flags set: read and check them, and merge such layers."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from marid.bootstrap.settings.toml_lines import key_lines
from marid.core.errors import BadInput
from marid.core.settings.schema import (
    ADDITIVE_LISTS,
    ANY_PROVIDER,
    BUDGET,
    EFFORT,
    EXCLUSIVE_SETTINGS,
    SETTINGS,
    UNSUPPORTED_KEYS,
    Setting,
    find_setting,
    unknown_key_hint,
)
from marid.core.settings.validation import check_value, flatten, parse_and_check, printable_key
from marid.core.settings.values import MAX_SETTINGS_BYTES, BadSettingsFile
from marid.text.display import quote_path
from marid.workspace.plain_files import read_small_text

_MAX_PROBLEMS = 50


class SettingsDiagnostics:
    """The problems of all layers, which are raised together, and notes for the user."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._has_file_problem = False

    @property
    def is_full(self) -> bool:
        """Whether to stop collecting problems: a hostile file could have any number."""
        return len(self.problems) >= _MAX_PROBLEMS

    def add_file_problem(self, problem: str) -> None:
        """Add a problem of a file, as opposed to a variable or a flag."""
        self._has_file_problem = True
        self.problems.append(problem)

    def raise_problems(self) -> None:
        """Raises: BadInput with every problem; BadSettingsFile if a file has one of them."""
        if self.problems:
            lines = [*self.problems[:_MAX_PROBLEMS], *(["and perhaps more"] if self.is_full else [])]
            kind = BadSettingsFile if self._has_file_problem else BadInput
            raise kind("invalid settings:\n" + "\n".join(f"  {line}" for line in lines))


class SetValue(NamedTuple):
    """A checked value, and the file, variable or flag that set it."""

    value: Any
    origin: str


Layer = dict[str, SetValue]
"""Values by the names of settings."""


def drop_rival_effort(layer: Layer, notes: list[str]) -> Layer:
    """The layer without reasoning effort if it also has a number of tokens, with a note."""
    if EFFORT in layer and BUDGET in layer:
        notes.append(f"{layer[BUDGET].origin}: {BUDGET} overrides {EFFORT}")
        del layer[EFFORT]
    return layer


def merge_layers(layers: Iterable[Layer]) -> Layer:
    """The layers, weak to strong, as one."""
    merged: Layer = {}
    for layer in layers:
        for name, (value, origin) in layer.items():
            if rival := EXCLUSIVE_SETTINGS.get(name):
                merged.pop(rival, None)
            below = merged.get(name)
            if below and name in ADDITIVE_LISTS:
                merged[name] = SetValue(add_items(below.value, value), join_origins(below.origin, origin))
            elif below and name == "policy":
                merged[name] = SetValue(_merge_policy(below.value, value), join_origins(below.origin, origin))
            else:
                merged[name] = SetValue(value, origin)
    return merged


def add_items(below: Iterable[str], above: Iterable[str]) -> tuple[str, ...]:
    """Both lists as one without duplicates."""
    return tuple(dict.fromkeys((*below, *above)))


def join_origins(below: str, above: str) -> str:
    """The origin of a value that two layers made together."""
    return f"{below}, {above}" if below != above else above


def _merge_policy(below: Mapping[str, object], above: Mapping[str, object]) -> Mapping[str, object]:
    tools = {**_table(below.get("tools")), **_table(above.get("tools"))}
    return MappingProxyType({**below, **above, **({"tools": tools} if tools else {})})


def _table(raw: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", raw) if isinstance(raw, Mapping) else {}


def nest_tables(layer: Layer) -> dict[str, Any]:
    """The values by top-level key, with tables in place of names with dots."""
    nested: dict[str, Any] = {}
    for name, (value, _) in layer.items():
        *above, last = name.split(".")
        table = nested
        for part in above:
            table = table.setdefault(part, {})
        table[last] = value
    return {
        key: MappingProxyType(cast("Any", value)) if isinstance(value, dict) else value for key, value in nested.items()
    }


FLAG = "flag"
_PREFIX = "MARID_"
_PROVIDERS = f"{_PREFIX}PROVIDERS_"


def variable_name(setting: Setting) -> str:
    """Our own name of a setting in the environment."""
    return f"{_PREFIX}{setting.name.upper().replace('.', '_')}"


def environment_layer(environ: Mapping[str, str], ids: Iterable[str], findings: SettingsDiagnostics) -> Layer:
    """What variables set; an empty one sets nothing. `ids` are the providers of config.toml."""
    layer: Layer = {}
    for setting in SETTINGS:
        if setting.kind == "table" or ANY_PROVIDER in setting.name:
            continue
        # Our own name overrides the aliases.
        for name in (*reversed(setting.aliases), variable_name(setting)):
            if environ.get(name):
                _add_value(layer, setting, environ[name], name, findings)
    for name, setting in _provider_variables(environ, ids):
        _add_value(layer, setting, environ[name], name, findings)
    return layer


def _provider_variables(environ: Mapping[str, str], ids: Iterable[str]) -> Iterator[tuple[str, Setting]]:
    by_spelling = {id.upper().replace("-", "_"): id for id in ids}
    for name in environ:
        if not name.startswith(_PROVIDERS) or not environ[name]:
            continue
        for field in ("base_url", "api_key", "model"):
            spelling = name.removeprefix(_PROVIDERS).removesuffix(f"_{field.upper()}")
            if name == f"{_PROVIDERS}{spelling}_{field.upper()}" and (
                setting := find_setting(f"providers.{by_spelling.get(spelling, spelling.lower())}.{field}")
            ):
                yield name, setting


def flag_layer(flags: Mapping[str, object], findings: SettingsDiagnostics) -> Layer:
    """What flags set, by key. Later ones are stronger; None sets nothing."""
    layer: Layer = {}
    for name, raw in flatten(flags):
        setting = find_setting(name)
        if raw is None:
            continue
        if setting is None:
            _report_unknown_flag(name, findings)
        elif not setting.per_conversation:
            findings.problems.append(f"{FLAG}: '{name}' may only be set in config.toml or by {variable_name(setting)}")
        else:
            _add_value(layer, setting, raw, FLAG, findings)
    return layer


def _report_unknown_flag(name: str, findings: SettingsDiagnostics) -> None:
    if name in UNSUPPORTED_KEYS:
        findings.notes.append(f"{FLAG}: '{name}' is not supported yet")
    elif not findings.is_full:
        findings.problems.append(f"{FLAG}: unknown key '{printable_key(name)}'{unknown_key_hint(name)}")


def _add_value(layer: Layer, setting: Setting, raw: object, origin: str, findings: SettingsDiagnostics) -> None:
    try:
        layer[setting.name] = SetValue(parse_and_check(setting, raw), origin)
    except BadInput as error:
        findings.problems.append(f"{origin}: {error}")


_MAX_NOTES = 50
# Kinds for which a home that Chibi shares may hold values that only Chibi accepts.
_LENIENT_KINDS = MappingProxyType({"colour": "the default colour is used", "line": "the default name is used"})
# tomllib takes time quadratic in the parts of a key. Quoted strings with that many dots do not occur in practice.
_DEEP = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){24}""")
_AT_END = " (at end of document)"
_AT_LINE = re.compile(r"^(.*) \(at line (\d+), column \d+\)$", re.DOTALL)


class TomlFile(NamedTuple):
    """The content of a file, empty if it does not exist or has a problem."""

    path: str
    text: str = ""
    table: Mapping[str, Any] = MappingProxyType({})
    problem: str = ""


def read_toml(path: str) -> TomlFile:
    """Read a file that a stranger may have written. A problem is part of the result."""
    if not path or not os.path.exists(path):
        return TomlFile(path)
    text = ""
    try:
        text = read_small_text(path, MAX_SETTINGS_BYTES)
        if not _DEEP.search(text):
            return TomlFile(path, text, tomllib.loads(text))
        problem = ": a key has too many parts"
    except RecursionError:
        problem = ": nested too deeply"
    except OSError as error:
        problem = f": {error.strerror or error}"
    except ValueError as error:
        problem = _syntax_error_text(error, text)
    return TomlFile(path, problem=f"{quote_path(path)}{problem}")


def _syntax_error_text(error: ValueError, text: str) -> str:
    """The line, if it is known, and what is wrong there."""
    why = str(error)
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f":{line}: {why}"
    if at_line := _AT_LINE.match(why):
        return f":{at_line[2]}: {at_line[1]}"
    if why.endswith(_AT_END):
        line = max(key_lines(text).values(), default=1)
        return f":{line}: {why.removesuffix(_AT_END)}; the file ends before it is complete"
    return f": {why}"


class LayerReader:
    """Takes the layer out of one file. If `lenient`, unknown keys are notes: another program shares the file."""

    def __init__(
        self,
        file: TomlFile,
        findings: SettingsDiagnostics,
        kind: Literal["config", "project", "local", "cli"] = "config",
        *,
        lenient: bool = False,
    ) -> None:
        self.file = file
        self._findings = findings
        self._kind = kind
        self._lenient = lenient
        if file.problem:
            findings.add_file_problem(file.problem)

    def read_layer(self) -> Layer:
        """The values of the whole file."""
        layer: Layer = {}
        self._walk(self.file.table, (), "", layer)
        return layer

    def read_table(self, at: tuple[str, ...], name: str, raw: object) -> Layer:
        """The values of the settings table `name` that is at the key `at` of this file."""
        layer: Layer = {}
        self._read_key(at, name, raw, layer)
        return layer

    def report_unknown(self, at: tuple[str, ...], hint: str) -> None:
        """Report an unknown key."""
        message = f"{self._place(at)}: unknown key '{printable_key('.'.join(at))}'{hint}"
        (self._findings.notes.append if self._lenient else self._findings.add_file_problem)(message)

    def report_problem(self, at: tuple[str, ...], problem: object) -> None:
        """Report an invalid value."""
        self._findings.add_file_problem(f"{self._place(at)}: {problem}")

    def add_note(self, at: tuple[str, ...], note: str) -> None:
        """Add a note about a key, unless a hostile file has caused many already."""
        if len(self._findings.notes) < _MAX_NOTES:
            self._findings.notes.append(f"{self._place(at)}: {note}")

    def _place(self, at: tuple[str, ...]) -> str:
        """The file, and the line of a key or of the table that it is in."""
        lines = key_lines(self.file.text)
        line = next((lines[at[:depth]] for depth in range(len(at), 0, -1) if at[:depth] in lines), 0)
        return f"{quote_path(self.file.path)}:{line}" if line else quote_path(self.file.path)

    def _walk(self, table: Mapping[str, Any], at: tuple[str, ...], prefix: str, layer: Layer) -> None:
        for key, raw in table.items():
            if self._findings.is_full:
                return
            self._read_key((*at, key), f"{prefix}{key}", raw, layer)

    def _read_key(self, at: tuple[str, ...], name: str, raw: object, layer: Layer) -> None:
        setting = find_setting(name)
        if setting is None or setting.display != (self._kind == "cli"):
            self._report_unknown_setting(at, name, setting)
        elif self._kind == "local" and not setting.per_conversation:
            self.report_problem(at, f"'{name}' may only be set in config.toml or by MARID_{name.upper()}")
        elif setting.name != name and setting.name in self.file.table:
            return  # set under both names: our own overrides the other
        else:
            try:
                value = check_value(setting, raw)
            except BadInput as error:
                self._report_invalid(at, setting, error)
                return
            if setting.kind == "table":
                self._walk(cast("Mapping[str, Any]", value), at, f"{name}.", layer)
            else:
                layer[setting.name] = SetValue(value, self.file.path)

    def _report_invalid(self, at: tuple[str, ...], setting: Setting, error: BadInput) -> None:
        if self._lenient and setting.kind in _LENIENT_KINDS:
            self.add_note(at, f"{error}; {_LENIENT_KINDS[setting.kind]}")
        else:
            self.report_problem(at, error)

    def _report_unknown_setting(self, at: tuple[str, ...], name: str, other: Setting | None) -> None:
        if self._lenient and len(self._findings.notes) >= _MAX_NOTES:
            return
        if name in UNSUPPORTED_KEYS and self._kind != "project":
            self._findings.notes.append(f"{self._place(at)}: '{name}' is not supported yet")
        elif other:
            self.report_unknown(at, f"; it belongs in {'cli' if other.display else 'config'}.toml")
        else:
            # Notes appear at every start, where a list of all keys would not help.
            self.report_unknown(at, unknown_key_hint(name, display=self._kind == "cli", list_known=not self._lenient))
