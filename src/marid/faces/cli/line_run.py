"""A command line of flags and words is carried out: what was asked for first, then what is said."""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from marid.app import conversations
from marid.app.app import App
from marid.app.overriding import with_settings
from marid.core.errors import BadInput
from marid.faces.cli import operations, operations_show
from marid.faces.cli.exits import say
from marid.faces.cli.flag_settings import settings_from
from marid.faces.cli.line import Line, number_of, options_of
from marid.faces.cli.line_checks import check_line
from marid.faces.cli.operations_show import Manner
from marid.faces.flags import FLAGS, WHERE

_OPERATING = tuple(flag.name for flag in FLAGS if flag.operates)


class Run(NamedTuple):
    """A line that is carried out in the conversation `name`."""

    app: App
    line: Line
    name: str

    @property
    def verbose(self) -> bool:
        """Whether more is to be told."""
        return self.line.has("verbose")

    @property
    def as_json(self) -> bool:
        """Whether a program reads it."""
        return self.line.has("as_json")


def is_bare(line: Line) -> bool:
    """Whether nothing is asked for and nothing is said."""
    return not (line.words or line.said or line.command or line.given.keys() - WHERE)


def is_piped() -> bool:
    """Whether something is piped in: a terminal is no pipe, and neither is `/dev/null`."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def run_line(line: Line, make_app: Callable[[], App]) -> int:
    """Carry it out; the exit code.

    Raises: MaridError; BadInput for a wrong line before anything is done.
    """
    run = begin(line, make_app)
    code = _operate(run)
    if not speaks(line):
        if not _does(line):
            raise BadInput("there is nothing to do; `marid --help` lists what there is")
        return code
    if any(line.has(name) for name in ("destroy", "destroy_of", "rename_of")) and not line.has("conversation"):
        run = run._replace(name=conversations.meant(run.app))  # the one that was meant may be gone
    return _talked(run) or code


def begin(line: Line, make_app: Callable[[], App]) -> Run:
    """Check the line, and do what comes before everything else: a run in the conversation that is meant.

    Raises: BadInput.
    """
    check_line(line)
    app = make_app()
    flags = settings_from(options_of(line))
    _warn_of_keys(flags)
    app = with_settings(app, flags)
    gone = operations.sweep(app, verbose=line.has("verbose"))
    if gone and not (line.has("switch") or line.has("conversation")):
        operations.check_meant(gone, changes=any(line.has(name) for name in ("clear", "destroy", "rename")))
    run = Run(app, line, _meant(app, line))
    return run._replace(name=_changed(run))


def _warn_of_keys(flags: Mapping[str, object]) -> None:
    """Only a person who sits there: a script has no better way, or knows what it does."""
    if sys.stderr.isatty() and any(key.endswith("api_key") for key in flags):
        say("whoever lists the processes of this machine can read that key: MARID_API_KEY or config.toml hides it")


def _meant(app: App, line: Line) -> str:
    name = ""
    if line.has("switch"):
        name = conversations.meant(app, line.one("switch"), stay=True)
        if line.has("verbose") or not speaks(line):
            operations.tell_current(name)
    if line.has("conversation"):
        name = conversations.meant(app, line.one("conversation"))
    return name or conversations.meant(app)


def speaks(line: Line) -> bool:
    """Whether a model is asked after what is done: what is piped in is said as words would be."""
    if line.has("no_model"):
        return False
    if line.words or line.said or line.has("to_model"):
        return True
    done = [flag for flag in FLAGS if flag.operates and line.has(flag.name)]
    return not any(flag.alone for flag in done) and (not done or is_piped())


def _does(line: Line) -> bool:
    """Whether something is done besides talking."""
    return any(line.has(name) for name in _OPERATING) or line.has("switch") or _expires(line)


def _expires(line: Line) -> bool:
    return line.has("destroy_at") or line.has("destroy_after")


def _changed(run: Run) -> str:
    """Make the changes that a prompt or a command may follow: the name of the conversation after them."""
    app, line, name = run
    if _expires(line):
        operations.expire(app, name, line.one("destroy_at"), line.one("destroy_after"))
    if line.has("clear"):
        operations.clear(app, name)
    if line.has("rename"):
        name = operations.rename(app, name, line.one("rename"))
    if line.has("set_model"):
        operations.set_model(app, name, line.one("set_model"))
    if line.has("set_prompt"):
        operations.set_system_prompt(app, name, line.one("set_prompt"))
    if line.has("set_username"):
        operations.set_username(app, name, line.one("set_username"))
    return name


def _operate(run: Run) -> int:
    """All else that is asked for, always in this order, whatever the order of the flags; the exit code."""
    code = 0
    for name, act in _ACTS:
        for values in run.line.given.get(name, ()):
            code = act(run, *values) or code
    return code


def _named(run: Run, word: str) -> str:
    return operations.named(run.app, word)


def _existing(run: Run, word: str) -> str:
    name = _named(run, word)
    operations.check_there(run.app, name)
    return name


def _clear_of(run: Run, word: str) -> None:
    operations.clear(run.app, _existing(run, word))


def _rename(run: Run, word: str, new: str) -> None:
    operations.rename(run.app, _named(run, word), new)


def _set_model(run: Run, word: str, model: str) -> None:
    operations.set_model(run.app, _existing(run, word), model)


def _set_prompt(run: Run, word: str, text: str) -> None:
    operations.set_system_prompt(run.app, _existing(run, word), text)


def _destroy(run: Run, word: str = "") -> None:
    operations.destroy(run.app, _named(run, word) if word else run.name, yes=run.line.has("yes"))


def _show(run: Run) -> None:
    operations_show.show_conversation(run.app, run.name, as_json=run.as_json)


def _list(run: Run) -> None:
    operations_show.list_conversations(run.app, run.name, as_json=run.as_json)


def _log(run: Run, count: str) -> None:
    _show_log(run, run.name, count)


def _log_of(run: Run, word: str, count: str) -> None:
    _show_log(run, _named(run, word), count)


def _show_log(run: Run, name: str, count: str) -> None:
    if operations.is_there_or_told(run.app, name, unused=run.name):
        manner = Manner(verbose=run.verbose, as_json=run.as_json, raw=run.line.has("raw"))
        operations_show.show_log(run.app, name, number_of(count), manner)


def _inspect(run: Run, thing: str) -> None:
    operations_show.show_thing(run.app, run.name, thing, as_json=run.as_json)


def _inspect_of(run: Run, word: str, thing: str) -> None:
    operations_show.show_thing(run.app, _existing(run, word), thing, as_json=run.as_json)


def _model_info(run: Run, model: str, *, full: bool = False) -> int:
    from marid.faces.cli.model_info_command import show_model

    return show_model(run.app, model, full=full, as_json=run.as_json)


def _model_info_full(run: Run, model: str) -> int:
    return _model_info(run, model, full=True)


def _inboxes(run: Run) -> int:
    return _check_inboxes(run, None)


def _inbox_of(run: Run, word: str) -> int:
    return _check_inboxes(run, (_named(run, word),))


def _check_inboxes(run: Run, names: tuple[str, ...] | None) -> int:
    from marid.faces.cli.talk_inboxes import check_inboxes
    from marid.faces.cli.talk_options import talk_of

    return check_inboxes(run.app, names, talk_of("", "", options_of(run.line)))


def _tool(run: Run, *call: str) -> int:
    if run.line.has("to_model"):
        return 0  # its result is what is said
    from marid.faces.cli.operations_tool import show_call
    from marid.faces.reach import reach_of

    name, packed = call
    return show_call(run.app, reach_of(options_of(run.line)), run.name, (name, packed), as_json=run.as_json)


_ACTS: tuple[tuple[str, Callable[..., int | None]], ...] = (
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


def _talked(run: Run) -> int:
    """Talk; where a flag has done something already, nothing need be said."""
    from marid.faces.cli.prompt_input import NothingSaid

    line = run.line
    try:
        return _talk(run)
    except NothingSaid:
        if line.words or line.said or line.has("to_model") or not _does(line):
            raise
    if line.has("switch") and not run.verbose:
        operations.tell_current(run.name)
    return 0


def _talk(run: Run) -> int:
    # Imported when used: what only lists or changes needs nothing that talks.
    from dataclasses import replace

    from marid.faces.cli.talk import talk
    from marid.faces.cli.talk_options import talk_of

    options = options_of(run.line)
    said = talk_of(run.name, " ".join(run.line.words), options)
    if run.line.has("tool"):
        from marid.faces.cli.operations_tool import call_tool, said_of

        for name, packed in run.line.given["tool"]:
            outcome = call_tool(run.app, said.reach, run.name, (name, packed))
            said = replace(said, prompt=said_of(outcome, said.prompt), force="agent")
    return talk(run.app, said)


def on_terminal() -> bool:
    """Whether a person reads what comes."""
    return sys.stdout.isatty()
