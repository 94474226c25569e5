"""A command line as it was typed: its flags, and then a command or the words of a prompt. Knows no click."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from marid.core.debug_logs import parse_log_names
from marid.core.errors import BadInput
from marid.faces.flags import (
    DEBUG_KEYS,
    FLAGS,
    FORCE_MARKDOWN,
    NUMBER,
    PATH,
    SECONDS,
    TEXT,
    Flag,
    Value,
    find_flag,
)

MARKDOWN_PAGE_KEY = "md="
"""The key of `--debug` that names a file."""


class CommandLine(NamedTuple):
    """`given` holds, by a flag's name, the values of every time it was given. `said` is true where `--` was written:
    then there is a prompt, whatever its first word is."""

    given: Mapping[str, tuple[tuple[str, ...], ...]]
    words: tuple[str, ...] = ()
    has_separator: bool = False
    command: str = ""
    rest: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether the flag is there."""
        return name in self.given

    def values(self, name: str) -> tuple[str, ...]:
        """What the flag was given last; nothing without it."""
        return self.given[name][-1] if name in self.given else ()

    def value(self, name: str) -> str:
        """Its only value."""
        return "".join(self.values(name)[:1])

    def all_values(self, name: str) -> tuple[str, ...]:
        """The only value of each time."""
        return tuple(values[0] for values in self.given.get(name, ()))


def parse_command_line(args: list[str], commands: Collection[str] = ()) -> CommandLine:
    """Flags may stand before and between the words of a prompt; what follows a command's name is the command's, but for
    `--home` and `--project-root`, which mean the same everywhere.

    Raises: BadInput for a flag that there is not, or that lacks a value.
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
# One has a flag of that name itself, the other takes any text.
_OPAQUE_COMMANDS = ("json", "set")


def _extract_locations(command: str, args: list[str], given: dict[str, tuple[tuple[str, ...], ...]]) -> tuple[str, ...]:
    """The words of a command; flags that say where everything is are read here."""
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
    """A dash with a letter, or two with a name. A dash alone is a word, and so are a number below zero and a list."""
    name = arg.partition("=")[0].removeprefix("-") if arg.startswith("--") else arg[1:2]
    return arg.startswith("-") and name.removeprefix("-")[:1].isalpha() and not any(map(str.isspace, name))


def _parse_flag(arg: str, rest: list[str], given: dict[str, tuple[tuple[str, ...], ...]]) -> None:
    """Read a flag, or several letters after one dash, and take its values from the rest."""
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
    """Whether a word may be a value: where it cannot begin with a dash, the next flag is not swallowed."""
    return kind in (TEXT, PATH, NUMBER, SECONDS) or not _is_flag(word)


def parse_debug_keys(text: str) -> frozenset[str]:
    """The keys of a list that are known; `all` stands for both logs."""
    words = text.split(",")
    return parse_log_names(words) | ({word.strip().replace("_", "-") for word in words} & {FORCE_MARKDOWN})


def parse_count(text: str) -> int:
    """A count of entries. One with more digits than there can be entries means all of them, which 0 does."""
    return int(text) if len(text) < _MAX_DIGITS else 0


def unknown_key_warnings(text: str) -> Iterator[str]:
    """What a person is told of each key of a list that nobody knows; it is ignored."""
    words = (word.strip().replace("_", "-") for word in text.split(","))
    for word in words:
        if not word or word in DEBUG_KEYS or word.startswith(MARKDOWN_PAGE_KEY):
            continue
        import difflib  # imported when used: keys are seldom wrong

        near = difflib.get_close_matches(word, DEBUG_KEYS, 1)
        yield f"--debug does not know '{word}'" + (f": did you mean {near[0]}?" if near else "; it is ignored")


def flags_by_spelling() -> dict[str, Flag]:
    """All flags as they may be written."""
    return {spelling: flag for flag in FLAGS for spelling in flag.spellings}


def _find_flag(name: str, whole: str = "") -> Flag:
    """Raises: BadInput that names the nearest flag."""
    flags = flags_by_spelling()
    if name in flags:
        return flags[name]
    # Imported when used: whoever types what is right does not wait for it.
    import difflib

    near = difflib.get_close_matches(whole or name, flags, 1)
    hint = f"did you mean {near[0]}?" if near else "`marid --help` lists them."
    inside = f" (in {whole})" if whole and whole != name else ""
    raise BadInput(f"there is no flag {name}{inside}; {hint} Words that begin with a dash are said after --")


def flag_spellings(line: CommandLine, names: Iterable[str]) -> list[str]:
    """How a person writes those of the flags that are on the line."""
    return [find_flag(name).spellings[0] for name in names if line.has(name)]


def flag_values(line: CommandLine) -> dict[str, Any]:
    """The flags by name as the commands take them: switches, texts or None, and tuples where one may be repeated."""
    found: dict[str, Any] = {}
    for flag in FLAGS:
        if flag.many:
            found[flag.name] = line.all_values(flag.name)
        elif flag.values:
            found[flag.name] = line.value(flag.name) if line.has(flag.name) else None
        else:
            found[flag.name] = line.has(flag.name)
    return found


class CompletionPoint(NamedTuple):
    """What a word at the end of an unfinished line would be: the value of a flag, a word of a command, or free.

    `free` is whether it could begin a flag or, where nothing was said yet, be a command. `home` and `project` are what
    the line says of them.
    """

    kind: str = ""
    command: str = ""
    rest: tuple[str, ...] = ()
    free: bool = True
    first: bool = True
    home: str = ""
    project: str = ""


def completion_point(args: Iterable[str], commands: Collection[str]) -> CompletionPoint:
    """For completion: never complains."""
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
    """The values that a flag, or the last of several letters, takes besides the one that is attached to it."""
    name, attached = arg.partition("=")[0], "=" in arg
    if not arg.startswith("--"):
        takes = [at for at, letter in enumerate(arg) if at and (flag := flags.get(f"-{letter}")) and flag.values]
        at = takes[0] if takes else 1
        name, attached = f"-{arg[at]}", at < len(arg) - 1
    flag = flags.get(name)
    if flag is None:
        return ()
    return flag.values[1:] if attached else flag.values
