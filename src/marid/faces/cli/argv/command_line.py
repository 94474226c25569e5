"""Parse and check a command line: flags and either a command or the words of a prompt, without click."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean
from marid.faces.flags import (
    ANY,
    DEBUG_KEYS,
    FLAGS,
    FORCE_MARKDOWN,
    NAME,
    NUMBER,
    PATH,
    PREVIOUS,
    SECONDS,
    TEXT,
    THING,
    Flag,
    Value,
    find_flag,
    parse_log_names,
)
from marid.text.conversation_names import check_conversation_name

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


def parse_command_line(args: list[str], commands: Collection[str] = ()) -> CommandLine:
    """Flags may stand before and between the words of a prompt. What follows a command's name belongs to the command,
    except `--home` and `--project-root`, which mean the same everywhere.

    Raises: BadInput for an unknown flag or a missing value.
    """
    given: dict[str, tuple[tuple[str, ...], ...]] = {}
    words: list[str] = []
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            return CommandLine(given, (*words, *rest), has_separator=True)
        if _is_flag(arg):
            _parse_flag(arg, rest, given)
        elif arg in commands and not words:
            return CommandLine(given, command=arg, rest=_extract_locations(arg, rest, given))
        else:
            words.append(arg)
    return CommandLine(given, tuple(words))


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
        _store_values(given, flag, _take_values(name, flag, [attached] if equals else [], rest))
        return
    letters = arg[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        flag = _find_flag(name, arg)
        if flag.values:
            _store_values(given, flag, _take_values(name, flag, [letters] if letters else [], rest))
            return
        _store_values(given, flag, ())


def _store_values(given: dict[str, tuple[tuple[str, ...], ...]], flag: Flag, values: tuple[str, ...]) -> None:
    given[flag.name] = (*given.get(flag.name, ()), values)


def _take_values(name: str, flag: Flag, found: list[str], rest: list[str]) -> tuple[str, ...]:
    for value in flag.values[len(found) :]:
        if not rest or not _may_be_value(rest[0], value.kind):
            wanted = " ".join(one.metavar for one in flag.values)
            raise BadInput(f"{name} needs {wanted}")
        found.append(rest.pop(0))
    return tuple(found)


_MAX_DIGITS = 18


def _may_be_value(word: str, kind: str) -> bool:
    """Whether a word may be a value. Most values cannot begin with a dash, so a following flag is not swallowed."""
    return kind in (TEXT, PATH, NUMBER, SECONDS) or not _is_flag(word)


def parse_debug_keys(text: str) -> frozenset[str]:
    """The known keys of a comma-separated list; `all` means both logs."""
    words = text.split(",")
    return parse_log_names(words) | ({word.strip().replace("_", "-") for word in words} & {FORCE_MARKDOWN})


def parse_count(text: str) -> int:
    """A number of entries. A number too large to be one means all, as 0 does."""
    return int(text) if len(text) < _MAX_DIGITS else 0


def unknown_key_warnings(text: str) -> Iterator[str]:
    """A warning for each unknown key of a list; these keys are ignored."""
    words = (word.strip().replace("_", "-") for word in text.split(","))
    for word in words:
        if not word or word in DEBUG_KEYS or word.startswith(MARKDOWN_PAGE_KEY):
            continue
        yield f"--debug: unknown key '{word}'{did_you_mean(close_matches(word, DEBUG_KEYS)) or ', ignored'}"


def flags_by_spelling() -> dict[str, Flag]:
    """All flags by each of their spellings."""
    return {spelling: flag for flag in FLAGS for spelling in flag.spellings}


def _find_flag(name: str, whole: str = "") -> Flag:
    """Raises: BadInput that suggests the closest flag."""
    flags = flags_by_spelling()
    if name in flags:
        return flags[name]
    hint = did_you_mean(close_matches(whole or name, flags)) or "; `marid --help-all` lists all flags."
    inside = f" (in {whole})" if whole and whole != name else ""
    raise BadInput(f"unknown flag {name}{inside}{hint} Put `--` before words that begin with a dash")


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


def check_line(line: CommandLine) -> None:
    """Raises: BadInput for flags that exclude each other, and for invalid values."""
    for flag, values in _given_flags(line):
        for value, word in zip(flag.values, values, strict=False):
            _check_value(flag, value.kind, word)
    _check_prompt_flags(line)
    if line.has("as_json") and not any(flag.for_json for flag, _ in _given_flags(line)):
        raise BadInput("--json needs a flag that lists something or calls a tool; for JSON input use `marid json`")
    if line.has("yes") and not any(flag.destroys for flag, _ in _given_flags(line)):
        raise BadInput("--yes works only with -d and -D")
    settings_from(flag_values(line))
    parse_lock_timeout(line.value("wait_lock"))


def _given_flags(line: CommandLine) -> Iterator[tuple[Flag, tuple[str, ...]]]:
    for flag in FLAGS:
        for values in line.given.get(flag.name, ()):
            yield flag, values


def _check_value(flag: Flag, kind: str, word: str) -> None:
    if kind in (ANY, PREVIOUS):
        # Imported when used: a line without a prompt or -c may not need the store.
        from marid.app.conversations import check_selector

        check_selector(word, allow_new=kind == ANY)
    elif kind == NAME:
        check_conversation_name(word)
    elif kind == THING:
        # Imported when used: few lines have -n or -N.
        from marid.app.inspection import check_inspectable

        check_inspectable(word)
    elif kind in (NUMBER, SECONDS) and not (word.removeprefix("-") if kind == NUMBER else word).isdecimal():
        raise BadInput(f"{flag.spellings[0]} takes a whole number, not '{word}'")
    elif not word and flag.many:
        raise BadInput(f"{flag.spellings[0]} needs {flag.values[0].metavar}")


def _check_prompt_flags(line: CommandLine) -> None:
    """Raise BadInput if a prompt is given with flags that send nothing."""
    if line.has("no_model") and line.has("to_model"):
        raise BadInput("-x and -X exclude each other")
    quiet = flag_spellings(line, (flag.name for flag in FLAGS if flag.alone or flag.name == "no_model"))
    if (line.words or line.has_separator) and quiet and not line.has("to_model"):
        hint = "remove the prompt" if "-x" in quiet else "remove the prompt, or add -X to do both"
        raise BadInput(f"{quiet[0]} sends nothing to the model: {hint}")


def parse_lock_timeout(text: str) -> float:
    """The seconds of `--wait-lock`; 0 without a value. Raises: BadInput."""
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise BadInput(f"--wait-lock takes a number of seconds, not '{text}'")
    return seconds


class CompletionPoint(NamedTuple):
    """What the next word of an unfinished line would be: a flag's value (`kind`), an argument of `command`, or neither.

    If `free`, it may be a flag; if `first`, a command. `home` and `project` are those given on the line.
    """

    kind: str = ""
    command: str = ""
    rest: tuple[str, ...] = ()
    free: bool = True
    first: bool = True
    home: str = ""
    project: str = ""


def completion_point(args: Iterable[str], commands: Collection[str]) -> CompletionPoint:
    """The point at the end of `args`; never raises."""
    flags = flags_by_spelling()
    rest = list(args)
    found = CompletionPoint()
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            return found._replace(free=False, first=False)
        if not _is_flag(arg):
            if found.first and arg in commands:
                return found._replace(command=arg, rest=tuple(rest))
            found = found._replace(first=False)
            continue
        values = _expected_values(arg, flags)
        if len(rest) < len(values):
            return found._replace(kind=values[len(rest)].kind)
        place = arg.partition("=")[2] or "".join(rest[:1])
        found = found._replace(**_location_value(arg, place))
        del rest[: len(values)]
    return found


def _location_value(arg: str, place: str) -> dict[str, str]:
    name = {"--home": "home", "--project-root": "project"}.get(arg.partition("=")[0])
    return {name: place} if name else {}


def _expected_values(arg: str, flags: Mapping[str, Flag]) -> tuple[Value, ...]:
    """The values that a flag, or the last of several letters, takes after the one attached to it."""
    name, attached = arg.partition("=")[0], "=" in arg
    if not arg.startswith("--"):
        takes = [at for at, letter in enumerate(arg) if at and (flag := flags.get(f"-{letter}")) and flag.values]
        at = takes[0] if takes else 1
        name, attached = f"-{arg[at]}", at < len(arg) - 1
    flag = flags.get(name)
    if flag is None:
        return ()
    return flag.values[1:] if attached else flag.values
