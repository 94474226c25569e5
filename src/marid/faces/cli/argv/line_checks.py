"""Errors of a command line that can be found before anything is done."""

from collections.abc import Iterator

from marid.app.conversations import check_selector
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import CommandLine, flag_spellings, flag_values, settings_from
from marid.faces.flags import ANY, FLAGS, NAME, NUMBER, PREVIOUS, SECONDS, THING, Flag
from marid.text.conversation_names import check_conversation_name


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
