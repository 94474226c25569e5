"""Parse and check a command line: flags and either a command or the words of a prompt, without click."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean
from marid.faces.flags import (
    DEBUG_KEYS,
    FLAGS,
    FORCE_MARKDOWN,
    NUMBER,
    PATH,
    RIGHTS_FLAGS,
    SECONDS,
    TEXT,
    Flag,
    find_flag,
    parse_log_names,
)

if TYPE_CHECKING:
    from marid.app.app import RequestScope

# A single word is often a prompt ("go", "hello"), so only a close one is taken for a command.
_MIN_SIMILARITY = 0.75
_MIN_COMMAND = 3
MARKDOWN_PAGE_KEY = "md="
"""The key of `--debug` that names a file."""


class CommandLine(NamedTuple):
    """`given` maps a flag's name to its values, once per occurrence; after `--` (`has_separator`) all is prompt."""

    given: Mapping[str, tuple[tuple[str, ...], ...]]
    words: tuple[str, ...] = ()
    has_separator: bool = False
    command: str = ""
    rest: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether the flag was given."""
        return name in self.given

    def values(self, name: str) -> tuple[str, ...]:
        """The values of the flag's last occurrence; empty without it."""
        return self.given[name][-1] if name in self.given else ()

    def value(self, name: str) -> str:
        """The first of them, or ""."""
        return "".join(self.values(name)[:1])

    def all_values(self, name: str) -> tuple[str, ...]:
        """The first value of each occurrence."""
        return tuple(values[0] for values in self.given.get(name, ()))


class MissingValue(BadInput):
    """A flag lacks a value of this `kind`; `line` has what came before it."""

    def __init__(self, message: str, kind: str, given: Mapping[str, tuple[tuple[str, ...], ...]]) -> None:
        super().__init__(message)
        self.kind = kind
        self.line = CommandLine(given)


class UnknownFlag(BadInput):
    """No flag is spelled like this."""


class LineRun(NamedTuple):
    """A line that is carried out in the conversation `name`."""

    scope: "RequestScope"
    line: CommandLine
    name: str


def parse_command_line(args: list[str], commands: Collection[str] = ()) -> CommandLine:
    """Flags may stand before and between the words of a prompt. What follows a command's name belongs to the command,
    except `--home` and `--project-root`, which mean the same everywhere.

    Raises: BadInput for an unknown flag or a missing value; for a flag after a misspelt command, about the command.
    """
    given: dict[str, tuple[tuple[str, ...], ...]] = {}
    words: list[str] = []
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            return CommandLine(given, (*words, *rest), has_separator=True)
        if _is_flag(arg):
            try:
                _parse_flag(arg, rest, given)
            except UnknownFlag as error:
                raise (_misspelt_command(words, commands) or error) from None
        elif arg in commands and not words:
            return CommandLine(given, command=arg, rest=_extract_locations(arg, rest, given))
        else:
            words.append(arg)
    return CommandLine(given, tuple(words))


def _misspelt_command(words: list[str], commands: Collection[str]) -> BadInput | None:
    near = near_command(words[0], commands) if len(words) == 1 else ""
    return BadInput(f"unknown command '{words[0]}'{did_you_mean([f'marid {near}'])}") if near else None


def near_command(word: str, commands: Collection[str]) -> str:
    """What a word that is not a command may have meant: a command, `--help` or `--version`; "" for anything else."""
    flags = {"help": "--help", "version": "--version"}
    if not commands or len(word) < _MIN_COMMAND:
        return ""
    return flags.get(word) or next(iter(close_matches(word, commands, 1, _MIN_SIMILARITY)), "")


_LOCATION_FLAGS = ("--home", "--project-root")
# `json` has its own `--home`; `set` takes any text.
_OPAQUE_COMMANDS = ("json", "set")


def _extract_locations(command: str, args: list[str], given: dict[str, tuple[tuple[str, ...], ...]]) -> tuple[str, ...]:
    """The arguments of a command, without `--home` and `--project-root`, which are stored in `given`."""
    if command in _OPAQUE_COMMANDS:
        return tuple(args)
    kept: list[str] = []
    rest = list(args)
    while rest and rest[0] != "--":
        arg = rest.pop(0)
        if arg.partition("=")[0] in _LOCATION_FLAGS:
            _parse_flag(arg, rest, given)
        else:
            kept.append(arg)
    return (*kept, *rest)


def _is_flag(arg: str) -> bool:
    """A dash and a letter, or two dashes and a name. A lone dash, a negative number and a list item are words."""
    name = arg.partition("=")[0].removeprefix("-") if arg.startswith("--") else arg[1:2]
    return arg.startswith("-") and name.removeprefix("-")[:1].isalpha() and not any(map(str.isspace, name))


def _parse_flag(arg: str, rest: list[str], given: dict[str, tuple[tuple[str, ...], ...]]) -> None:
    """Parse a flag, or several letters after one dash, and take its values from `rest`."""
    if arg.startswith("--"):
        name, equals, attached = arg.partition("=")
        flag = _find_flag(name)
        if equals and not flag.values:
            raise BadInput(f"{name} takes no value")
        _take_values(name, [attached] if equals else [], rest, given)
        return
    letters = arg[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        takes_rest = bool(_find_flag(name, arg).values and letters)
        _take_values(name, [letters] if takes_rest else [], rest, given)
        letters = "" if takes_rest else letters


def _take_values(name: str, found: list[str], rest: list[str], given: dict[str, tuple[tuple[str, ...], ...]]) -> None:
    flag = _find_flag(name)
    for value in flag.values[len(found) :]:
        if not rest or not _may_be_value(rest[0], value.kind):
            raise MissingValue(f"{name} needs {' '.join(one.metavar for one in flag.values)}", value.kind, given)
        found.append(rest.pop(0))
    given[flag.name] = (*given.get(flag.name, ()), tuple(found))


def _may_be_value(word: str, kind: str) -> bool:
    """Whether a word may be a value. Most values cannot begin with a dash, so a following flag is not swallowed."""
    return kind in (TEXT, PATH, NUMBER, SECONDS) or not _is_flag(word)


def parse_debug_keys(text: str) -> frozenset[str]:
    """The known keys of a comma-separated list; `all` means both logs."""
    words = text.split(",")
    return parse_log_names(words) | ({word.strip().replace("_", "-") for word in words} & {FORCE_MARKDOWN})


def parse_count(text: str) -> int:
    """A number of entries. A number too large to be one means all, as 0 does."""
    return int(text) if len(text) < 18 else 0


def unknown_key_warnings(text: str) -> Iterator[str]:
    """A warning for each unknown key of a list; these keys are ignored."""
    words = (word.strip().replace("_", "-") for word in text.split(","))
    for word in words:
        if not word or word in DEBUG_KEYS or word.startswith(MARKDOWN_PAGE_KEY):
            continue
        yield f"--debug: unknown key '{word}'{did_you_mean(close_matches(word, DEBUG_KEYS)) or ', ignored'}"


def _find_flag(name: str, whole: str = "") -> Flag:
    """Raises: BadInput that suggests the closest flag."""
    if found := next((flag for flag in FLAGS if name in flag.spellings), None):
        return found
    flags = [spelling for flag in FLAGS if flag.name not in RIGHTS_FLAGS for spelling in flag.spellings]
    hint = did_you_mean(close_matches(whole or name, flags)) or "; `marid --help-all` lists all flags."
    inside = f" (in {whole})" if whole and whole != name else ""
    raise UnknownFlag(f"unknown flag {name}{inside}{hint} Put `--` before words that begin with a dash")


def flag_spellings(line: CommandLine, names: Iterable[str]) -> list[str]:
    """The first spelling of each of the flags that was given."""
    return [find_flag(name).spellings[0] for name in names if line.has(name)]


def flag_values(line: CommandLine) -> dict[str, Any]:
    """The flags by name as commands take them: booleans, texts or None, and tuples if repeatable."""
    found: dict[str, Any] = {}
    for flag in FLAGS:
        if flag.many:
            found[flag.name] = line.all_values(flag.name)
        elif flag.values:
            found[flag.name] = line.value(flag.name) if line.has(flag.name) else None
        else:
            found[flag.name] = line.has(flag.name)
    return found


def settings_from(given: Mapping[str, Any]) -> dict[str, object]:
    """The settings by key; a flag for one setting is stronger than `-s`. Raises: BadInput for `-s` without a value."""
    found: dict[str, object] = dict(map(parse_assignment, given.get("sets", ())))
    if given.get("model"):
        found["model"] = given["model"]
    if given.get("username") is not None:
        found["username"] = given["username"]
    if given.get("no_tool_calls"):
        found["no_tool_calls"] = True
    for name in ("include", "exclude"):
        if tools := tuple(tool for words in given.get(name, ()) for tool in words.split(",") if tool):
            found[f"tools.{name}"] = tools
    return found


def parse_assignment(text: str) -> tuple[str, str]:
    """Split KEY=VALUE. Raises: BadInput."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise BadInput("-s takes KEY=VALUE")  # without the text itself, which may be a secret
    return key, value


def parse_lock_timeout(text: str) -> float:
    """The seconds of `--wait-lock`; 0 without a value. Raises: BadInput."""
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise BadInput(f"--wait-lock takes a number of seconds, not '{text}'")
    return seconds
