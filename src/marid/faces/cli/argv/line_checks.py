"""What can be seen to be wrong with a command line before anything is done."""

from collections.abc import Iterator

from marid.app.conversations import check_selector
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import CommandLine, flag_spellings, flag_values
from marid.faces.cli.argv.flag_settings import settings_from
from marid.faces.flags import ANY, FLAGS, NAME, NUMBER, PREVIOUS, SECONDS, THING, Flag
from marid.text.conversation_names import check_conversation_name


def check_line(line: CommandLine) -> None:
    """Raises: BadInput for flags that contradict each other, and for values that cannot be."""
    for flag, values in _given_flags(line):
        for value, word in zip(flag.values, values, strict=False):
            _check_value(flag, value.kind, word)
    _check_prompt_flags(line)
    if line.has("as_json") and not any(flag.for_json for flag, _ in _given_flags(line)):
        raise BadInput("--json is for what is listed or called; `marid json` talks in JSON")
    if line.has("yes") and not any(flag.destroys for flag, _ in _given_flags(line)):
        raise BadInput("--yes is for -d and -D")
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
        # Imported when used: few ask for a thing.
        from marid.app.inspection import check_inspectable

        check_inspectable(word)
    elif kind in (NUMBER, SECONDS) and not (word.removeprefix("-") if kind == NUMBER else word).isdecimal():
        raise BadInput(f"{flag.spellings[0]} takes a whole number, not '{word}'")
    elif not word and flag.many:
        raise BadInput(f"{flag.spellings[0]} needs {flag.values[0].metavar}")


def _check_prompt_flags(line: CommandLine) -> None:
    """Something is said, or it is not."""
    if line.has("no_model") and line.has("to_model"):
        raise BadInput("-x and -X contradict each other: say something to the model, or do not")
    quiet = flag_spellings(line, (flag.name for flag in FLAGS if flag.alone or flag.name == "no_model"))
    if (line.words or line.has_separator) and quiet and not line.has("to_model"):
        hint = "leave out the words" if "-x" in quiet else "leave out the words, or add -X to do both"
        raise BadInput(f"with {quiet[0]} nothing is said to a model: {hint}")


def parse_lock_timeout(text: str) -> float:
    """How long `--wait-lock` waits; not at all without a value. Raises: BadInput."""
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise BadInput(f"--wait-lock takes a number of seconds, not '{text}'")
    return seconds
