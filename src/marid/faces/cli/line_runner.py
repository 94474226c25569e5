"""Carry out a command line of flags and words: first what the flags ask for, then the prompt."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import (
    CommandLine,
    LineRun,
    flag_spellings,
    flag_values,
    parse_count,
    parse_lock_timeout,
    settings_from,
)
from marid.faces.cli.chat.prompt_input import EmptyPrompt
from marid.faces.cli.operations import conversation_actions, conversation_views
from marid.faces.cli.view.console import print_note
from marid.faces.flags import ANY, FLAGS, LOCATION_FLAGS, NAME, NUMBER, PREVIOUS, SECONDS, THING, Flag
from marid.text.conversation_names import check_conversation_name

_ACTION_FLAGS = tuple(flag.name for flag in FLAGS if flag.operates)
# Kept in the conversation: its scope is resolved again after them.
_SETTING_FLAGS = ("set_model", "set_prompt", "set_username")
_EXPIRY_FLAGS = ("destroy_at", "destroy_after")


def is_empty(line: CommandLine) -> bool:
    """Whether the line has no prompt and asks for nothing."""
    return not (line.words or line.has_separator or line.command or line.given.keys() - LOCATION_FLAGS)


def is_piped() -> bool:
    """Whether stdin is a pipe or a file: neither a terminal nor `/dev/null`."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def run_line(line: CommandLine, open_request: Callable[[], RequestScope]) -> int:
    """Carry out the line; returns the exit code.

    Raises: MaridError; BadInput for a wrong line before anything is done.
    """
    run = start_run(line, open_request)
    code = _run_actions(run)
    if not asks_model(line):
        if not _has_actions(line):
            raise BadInput("nothing to do; see `marid --help`")
        return code
    if _has_any(line, "destroy", "destroy_of", "rename_of") and not line.has("conversation"):
        run = run._replace(name=conversations.resolve_name(run.scope))  # the one before may be gone
    try:
        return _rounds().chat(run) or code
    except EmptyPrompt:
        if line.words or line.has_separator or line.has("to_model") or not _has_actions(line):
            raise
    if line.has("switch") and not line.has("verbose"):
        conversation_actions.print_current(run.name)
    return code


def _rounds():
    # Imported when used: what only lists or changes needs nothing that talks to a model.
    from marid.faces.cli import line_rounds

    return line_rounds


def start_run(line: CommandLine, open_request: Callable[[], RequestScope]) -> LineRun:
    """Check the line, choose its conversation, and make the changes that come before a prompt or a command.

    Raises: BadInput.
    """
    check_line(line)
    flags = settings_from(flag_values(line))
    _warn_about_visible_key(flags)
    scope = open_request().within("", flags)
    gone = conversation_actions.sweep(scope, verbose=line.has("verbose"))
    if gone and not _has_any(line, "switch", "conversation"):
        conversation_actions.report_expired_current(gone, changes=_has_any(line, "clear", "destroy", "rename"))
    name = conversations.resolve_name(scope, line.value("conversation" if line.has("conversation") else "switch"))
    run = LineRun(scope.within(name), line, name)
    run.scope.resolve()  # a wrong setting is an error before anything is changed
    if line.has("switch"):
        current = conversations.resolve_name(scope, line.value("switch"), switch=True)
        if line.has("verbose") or not asks_model(line):
            conversation_actions.print_current(current)
    return _apply_changes(run, scope)


def _warn_about_visible_key(flags: Mapping[str, object]) -> None:
    """Only on a terminal: a script has no better way, or knows what it does."""
    if sys.stderr.isatty() and any(key.endswith("api_key") for key in flags):
        print_note("other users can see this key in the list of processes: use MARID_API_KEY or config.toml")


def _has_any(line: CommandLine, *names: str) -> bool:
    return any(line.has(name) for name in names)


def asks_model(line: CommandLine) -> bool:
    """Whether a prompt is sent after what the flags do; piped text is a prompt as words are."""
    if line.has("no_model"):
        return False
    if line.words or line.has_separator or line.has("to_model"):
        return True
    done = [flag for flag in FLAGS if flag.operates and line.has(flag.name)]
    return not any(flag.alone for flag in done) and (not done or is_piped())


def _has_actions(line: CommandLine) -> bool:
    """Whether something is done besides sending a prompt."""
    return _has_any(line, *_ACTION_FLAGS, "switch", *_EXPIRY_FLAGS)


def _apply_changes(run: LineRun, outer: RequestScope) -> LineRun:
    """Make the changes that a prompt or a command may follow; the run after them."""
    scope, line, name = run
    if _has_any(line, *_EXPIRY_FLAGS):
        conversation_actions.expire(scope, name, line.value("destroy_at"), line.value("destroy_after"))
    if line.has("clear"):
        conversation_actions.clear(scope, name)
    if line.has("rename"):
        name = conversation_actions.rename(scope, name, line.value("rename"))
    if _has_any(line, *_SETTING_FLAGS):
        _rounds().apply_settings(run._replace(name=name))
    return LineRun(outer.within(name), line, name) if _has_any(line, "rename", *_SETTING_FLAGS) else run


def _run_actions(run: LineRun) -> int:
    """All else that is asked for, always in the order of the table; returns the exit code."""
    code = 0
    for name in _ACTION_ORDER.split():
        for values in run.line.given.get(name, ()):
            action = _ACTIONS.get(name) or _rounds().ACTIONS[name]
            code = action(run, *values) or code
    return code


def _clear_of(run: LineRun, word: str) -> None:
    conversation_actions.clear(run.scope, conversation_actions.resolve_existing(run.scope, word))


def _rename_of(run: LineRun, word: str, new: str) -> None:
    conversation_actions.rename(run.scope, conversation_actions.resolve_name(run.scope, word), new)


def _destroy(run: LineRun, word: str = "") -> None:
    name = conversation_actions.resolve_name(run.scope, word) if word else run.name
    conversation_actions.destroy(run.scope, name, yes=run.line.has("yes"))


def _view(view: Callable[..., None], run: LineRun) -> None:
    view(run.scope, run.name, as_json=run.line.has("as_json"))


def _log(run: LineRun, *values: str) -> None:
    *words, count = values
    name = conversation_actions.resolve_name(run.scope, words[0]) if words else run.name
    if conversation_actions.exists_or_notify(run.scope, name, unused=run.name):
        given = {option: run.line.has(option) for option in ("verbose", "as_json", "raw")}
        conversation_views.show_log(run.scope, name, parse_count(count), conversation_views.LogOptions(**given))


def _inspect(run: LineRun, *values: str) -> None:
    # Imported when used, as below: what only lists needs no settings.
    from marid.faces.cli.operations.conversation_properties import show_inspection

    *words, thing = values
    name = conversation_actions.resolve_existing(run.scope, words[0]) if words else run.name
    show_inspection(run.scope, name, thing, as_json=run.line.has("as_json"))


_ACTION_ORDER = """
    clear_of rename_of set_model_of set_prompt_of destroy destroy_of list show log log_of inspect inspect_of model_info
    model_info_full inboxes inbox_of tool
"""
_ACTIONS: dict[str, Callable[..., int | None]] = {
    "clear_of": _clear_of,
    "rename_of": _rename_of,
    "destroy": _destroy,
    "destroy_of": _destroy,
    "list": partial(_view, conversation_views.list_conversations),
    "show": partial(_view, conversation_views.show_conversation),
    "log": _log,
    "log_of": _log,
    "inspect": _inspect,
    "inspect_of": _inspect,
}


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
        conversations.check_selector(word, allow_new=kind == ANY)
    elif kind == NAME:
        check_conversation_name(word)
    elif kind == THING:
        from marid.app.inspection import check_inspectable  # imported when used: few lines have -n or -N

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
