"""A command line of flags and words is carried out: what was asked for first, then what is said."""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from marid.app import conversations
from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.argv.command_line import CommandLine, check_line, flag_values, parse_count, settings_from
from marid.faces.cli.operations import conversation_actions, conversation_views
from marid.faces.cli.operations.conversation_views import LogOptions
from marid.faces.cli.view.console import print_note
from marid.faces.flags import FLAGS, LOCATION_FLAGS

# What a person sets for good, before a prompt or a command that follows.
_SETTING_FLAGS = ("rename", "set_model", "set_prompt", "set_username")
_ACTION_FLAGS = tuple(flag.name for flag in FLAGS if flag.operates)


class LineRun(NamedTuple):
    """A line that is carried out in the conversation `name`."""

    scope: RequestScope
    line: CommandLine
    name: str

    @property
    def verbose(self) -> bool:
        """Whether more is to be told."""
        return self.line.has("verbose")

    @property
    def as_json(self) -> bool:
        """Whether a program reads it."""
        return self.line.has("as_json")


def is_empty(line: CommandLine) -> bool:
    """Whether nothing is asked for and nothing is said."""
    return not (line.words or line.has_separator or line.command or line.given.keys() - LOCATION_FLAGS)


def is_piped() -> bool:
    """Whether something is piped in: a terminal is no pipe, and neither is `/dev/null`."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def run_line(line: CommandLine, open_request: Callable[[], RequestScope]) -> int:
    """Carry it out; the exit code.

    Raises: MaridError; BadInput for a wrong line before anything is done.
    """
    run = start_run(line, open_request)
    code = _run_actions(run)
    if not asks_model(line):
        if not _has_actions(line):
            raise BadInput("there is nothing to do; `marid --help` lists what there is")
        return code
    if any(line.has(name) for name in ("destroy", "destroy_of", "rename_of")) and not line.has("conversation"):
        run = run._replace(name=conversations.resolve_name(run.scope))  # the one that was meant may be gone
    return _chat_unless_empty(run) or code


def start_run(line: CommandLine, open_request: Callable[[], RequestScope]) -> LineRun:
    """Check the line, and do what comes before everything else: a run in the conversation that is meant.

    Raises: BadInput.
    """
    check_line(line)
    flags = settings_from(flag_values(line))
    _warn_about_visible_key(flags)
    scope = open_request().within("", flags)
    gone = conversation_actions.sweep(scope, verbose=line.has("verbose"))
    if gone and not (line.has("switch") or line.has("conversation")):
        conversation_actions.report_expired_current(
            gone, changes=any(line.has(name) for name in ("clear", "destroy", "rename"))
        )
    name = _target_conversation(scope, line)
    run = LineRun(scope.within(name), line, name)
    run.scope.resolve()  # a wrong setting is an error before anything is changed
    if line.has("switch"):
        _switch(scope, line)
    name = _apply_changes(run)
    changed = any(line.has(flag) for flag in _SETTING_FLAGS)
    return LineRun(scope.within(name), line, name) if changed else run._replace(name=name)


def _warn_about_visible_key(flags: Mapping[str, object]) -> None:
    """Only a person who sits there: a script has no better way, or knows what it does."""
    if sys.stderr.isatty() and any(key.endswith("api_key") for key in flags):
        print_note(
            "whoever lists the processes of this machine can read that key: MARID_API_KEY or config.toml hides it"
        )


def _target_conversation(scope: RequestScope, line: CommandLine) -> str:
    chosen = "conversation" if line.has("conversation") else "switch"
    return conversations.resolve_name(scope, line.value(chosen))


def _switch(scope: RequestScope, line: CommandLine) -> None:
    name = conversations.resolve_name(scope, line.value("switch"), switch=True)
    if line.has("verbose") or not asks_model(line):
        conversation_actions.print_current(name)


def asks_model(line: CommandLine) -> bool:
    """Whether a model is asked after what is done: what is piped in is said as words would be."""
    if line.has("no_model"):
        return False
    if line.words or line.has_separator or line.has("to_model"):
        return True
    done = [flag for flag in FLAGS if flag.operates and line.has(flag.name)]
    return not any(flag.alone for flag in done) and (not done or is_piped())


def _has_actions(line: CommandLine) -> bool:
    """Whether something is done besides talking."""
    return any(line.has(name) for name in _ACTION_FLAGS) or line.has("switch") or _has_expiry(line)


def _has_expiry(line: CommandLine) -> bool:
    return line.has("destroy_at") or line.has("destroy_after")


def _apply_changes(run: LineRun) -> str:
    """Make the changes that a prompt or a command may follow: the name of the conversation after them."""
    scope, line, name = run
    if _has_expiry(line):
        conversation_actions.expire(scope, name, line.value("destroy_at"), line.value("destroy_after"))
    if line.has("clear"):
        conversation_actions.clear(scope, name)
    if line.has("rename"):
        name = conversation_actions.rename(scope, name, line.value("rename"))
    if line.has("set_model"):
        conversation_actions.set_model(scope, name, line.value("set_model"))
    if line.has("set_prompt"):
        conversation_actions.set_system_prompt(scope, name, line.value("set_prompt"))
    if line.has("set_username"):
        conversation_actions.set_username(scope, name, line.value("set_username"))
    return name


def _run_actions(run: LineRun) -> int:
    """All else that is asked for, always in this order, whatever the order of the flags; the exit code."""
    code = 0
    for name, act in _ACTIONS:
        for values in run.line.given.get(name, ()):
            code = act(run, *values) or code
    return code


def _resolve_name(run: LineRun, word: str) -> str:
    return conversation_actions.resolve_name(run.scope, word)


def _resolve_existing(run: LineRun, word: str) -> str:
    name = _resolve_name(run, word)
    conversation_actions.check_exists(run.scope, name)
    return name


def _clear_of(run: LineRun, word: str) -> None:
    conversation_actions.clear(run.scope, _resolve_existing(run, word))


def _rename(run: LineRun, word: str, new: str) -> None:
    conversation_actions.rename(run.scope, _resolve_name(run, word), new)


def _set_model(run: LineRun, word: str, model: str) -> None:
    conversation_actions.set_model(run.scope, _resolve_existing(run, word), model)


def _set_prompt(run: LineRun, word: str, text: str) -> None:
    conversation_actions.set_system_prompt(run.scope, _resolve_existing(run, word), text)


def _destroy(run: LineRun, word: str = "") -> None:
    conversation_actions.destroy(run.scope, _resolve_name(run, word) if word else run.name, yes=run.line.has("yes"))


def _show(run: LineRun) -> None:
    conversation_views.show_conversation(run.scope, run.name, as_json=run.as_json)


def _list(run: LineRun) -> None:
    conversation_views.list_conversations(run.scope, run.name, as_json=run.as_json)


def _log(run: LineRun, count: str) -> None:
    _show_log(run, run.name, count)


def _log_of(run: LineRun, word: str, count: str) -> None:
    _show_log(run, _resolve_name(run, word), count)


def _show_log(run: LineRun, name: str, count: str) -> None:
    if conversation_actions.exists_or_notify(run.scope, name, unused=run.name):
        manner = LogOptions(verbose=run.verbose, as_json=run.as_json, raw=run.line.has("raw"))
        conversation_views.show_log(run.scope, name, parse_count(count), manner)


def _inspect(run: LineRun, thing: str) -> None:
    conversation_views.show_inspection(run.scope, run.name, thing, as_json=run.as_json)


def _inspect_of(run: LineRun, word: str, thing: str) -> None:
    conversation_views.show_inspection(run.scope, _resolve_existing(run, word), thing, as_json=run.as_json)


def _model_info(run: LineRun, model: str, *, full: bool = False) -> int:
    from marid.faces.cli.commands.model_info import show_model

    return show_model(run.scope, model, full=full, as_json=run.as_json)


def _model_info_full(run: LineRun, model: str) -> int:
    return _model_info(run, model, full=True)


def _inboxes(run: LineRun) -> int:
    return _check_inboxes(run, None)


def _inbox_of(run: LineRun, word: str) -> int:
    return _check_inboxes(run, (_resolve_name(run, word),))


def _check_inboxes(run: LineRun, names: tuple[str, ...] | None) -> int:
    from marid.faces.cli.chat.chat_round import chat_request
    from marid.faces.cli.chat.inbox_rounds import check_inboxes

    return check_inboxes(run.scope, names, chat_request("", "", flag_values(run.line)))


def _tool(run: LineRun, *call: str) -> int:
    if run.line.has("to_model"):
        return 0  # its result is what is said
    from marid.faces.access_flags import access_from_flags
    from marid.faces.cli.operations.tool_flag import run_call

    name, packed = call
    return run_call(run.scope, access_from_flags(flag_values(run.line)), run.name, (name, packed), as_json=run.as_json)


_ACTIONS: tuple[tuple[str, Callable[..., int | None]], ...] = (
    ("clear_of", _clear_of),
    ("rename_of", _rename),
    ("set_model_of", _set_model),
    ("set_prompt_of", _set_prompt),
    ("destroy", _destroy),
    ("destroy_of", _destroy),
    ("list", _list),
    ("show", _show),
    ("log", _log),
    ("log_of", _log_of),
    ("inspect", _inspect),
    ("inspect_of", _inspect_of),
    ("model_info", _model_info),
    ("model_info_full", _model_info_full),
    ("inboxes", _inboxes),
    ("inbox_of", _inbox_of),
    ("tool", _tool),
)


def _chat_unless_empty(run: LineRun) -> int:
    """Talk; where a flag has done something already, nothing need be said."""
    from marid.faces.cli.chat.prompt_input import EmptyPrompt

    line = run.line
    try:
        return _chat(run)
    except EmptyPrompt:
        if line.words or line.has_separator or line.has("to_model") or not _has_actions(line):
            raise
    if line.has("switch") and not run.verbose:
        conversation_actions.print_current(run.name)
    return 0


def _chat(run: LineRun) -> int:
    # Imported when used: what only lists or changes needs nothing that talks.
    from dataclasses import replace

    from marid.faces.cli.chat.chat_round import chat_request, run_chat

    options = flag_values(run.line)
    said = chat_request(run.name, " ".join(run.line.words), options)
    if run.line.has("tool"):
        from marid.faces.cli.operations.tool_flag import call_tool, prompt_with_result

        for name, packed in run.line.given["tool"]:
            outcome = call_tool(run.scope, said.access, run.name, (name, packed))
            said = replace(said, prompt=prompt_with_result(outcome, said.prompt), force="agent")
    return run_chat(run.scope, said)


def is_on_terminal() -> bool:
    """Whether a person reads what comes."""
    return sys.stdout.isatty()
