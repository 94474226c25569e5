"""`marid context` without click: options become a request, which is run."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from marid.app import project_context
from marid.app.app import RequestScope
from marid.core.context import (
    ContextRequest,
    ContextView,
    FileSelection,
    Level,
    LevelRule,
    OutputFormat,
    RenderOptions,
    SymbolChoice,
    SymbolDetail,
    byte_limit,
)
from marid.core.errors import BadInput, NotFound
from marid.faces.cli.view.console import print_line, print_note, redirect_target
from marid.faces.cli.view.progress import Progress
from marid.text.display import quote_path, unquote_path


def run_context(options: dict[str, Any], open_request: Callable[[], RequestScope]) -> int:
    """Run the command; returns the exit code."""
    scope = open_request()
    for note in () if options["quiet"] else scope.notes:
        print_note(note)
    targets: tuple[str, ...] = options["targets"]
    if len(targets) == 2 and targets[0] == "diff" and not os.path.isdir(targets[1]):
        return _show_lock_changes(scope, options)
    options["targets"] = read_file_list(options, scope.cwd) or targets or (".",)
    request = context_request(options, scope)
    if options["explain"]:
        print_line(project_context.explain_path(scope, request.selection, options["explain"]))
        return 0
    progress = Progress(quiet=options["quiet"])
    if options["watch"]:
        return _watch(scope, options, progress)
    run = project_context.assemble(scope, request, progress)
    if options["copy"]:
        used = project_context.copy(scope, run)
        progress.clear()
        print_note(f"copied with {used}")
    elif request.output:
        project_context.save(run, os.path.join(scope.cwd, request.output))
    else:
        project_context.send(run, sys.stdout.fileno())
    progress.finish(run.report())
    return 0


def _show_lock_changes(scope: RequestScope, options: dict[str, Any]) -> int:
    found = list(project_context.lock_differences(scope, options["targets"][1], Progress(quiet=options["quiet"])))
    for line in found:
        print_line(line)
    return 1 if found and options["exit_code"] else 0


def _watch(scope: RequestScope, options: dict[str, Any], progress: Progress) -> int:
    # Imported when used: only --watch needs it.
    from marid.app.context_watch import follow

    if not options["output"]:
        raise BadInput("--watch needs --output FILE")
    for report in follow(scope, context_request(options, scope), progress):
        progress.finish(report)
    return 0


def context_request(options: Mapping[str, Any], scope: RequestScope) -> ContextRequest:
    """The request that the options make. Raises: BadInput for options that exclude each other or are invalid."""
    settings = scope.settings
    if options["frozen"] and not options["lock"]:
        raise BadInput("--frozen needs --lock FILE: the lock to compare with")
    if options["budget"] is not None and options["budget"] < 1:
        raise BadInput(f"--budget must be at least 1, not {options['budget']}")
    if options["copy"] and options["output"]:
        raise BadInput("--copy and --output exclude each other")
    megabytes = settings.context.max_size_mb if options["max_size_mb"] is None else options["max_size_mb"]
    return ContextRequest(
        cwd=scope.cwd,
        selection=FileSelection(
            targets=tuple(options["targets"]),
            rules=tuple(options["rules"]),
            only=tuple(options["only"]),
            gitignore=not options["no_gitignore"],
            defaults=not options["no_defaults"],
            **{name: options[name] for name in ("config", "changed_since", "branch")},
        ),
        render=_output_options(options, scope),
        max_bytes=byte_limit(megabytes),
        encoding=options["encoding"] or settings.context.encoding,
        redirect="" if options["output"] or options["copy"] else redirect_target(),
        **{name: options[name] for name in ("output", "lock", "frozen")},
    )


def _output_options(options: Mapping[str, Any], scope: RequestScope) -> RenderOptions:
    return RenderOptions(
        form=OutputFormat(options["form"]),
        views=_views(options),
        mask=scope.settings.context.mask and not options["no_mask"],
        levels=tuple(map(_level, options["levels"])),
        symbols=tuple(map(_symbol, options["symbols"])),
        **{name: options[name] for name in ("null", "line_numbers", "with_tree", "tokens", "budget", "diff", "log")},
    )


def _views(options: Mapping[str, Any]) -> tuple[ContextView, ...]:
    flags = {ContextView.LIST: "list_only", ContextView.TREE: "tree", ContextView.STATS: "stats"}
    views = tuple(view for view, flag in flags.items() if options[flag])
    if ContextView.LIST in views and len(views) > 1:
        raise BadInput("--list-only cannot be combined with --tree or --stats")
    forms = ("text",) if ContextView.TREE in views else ("text", "json")
    if views and options["form"] not in forms:
        raise BadInput("--tree needs --format text; --list-only and --stats need text or json")
    if options["null"] and ContextView.LIST not in views and not options["files_from"]:
        raise BadInput("-0 needs --list-only or --files-from")
    if views and (options["budget"] or options["lock"]):
        raise BadInput("--budget and --lock cannot be combined with --list-only, --tree or --stats")
    return views or (ContextView.CONTENT,)


def _level(text: str) -> LevelRule:
    pattern, _, level = text.rpartition("=")
    if not pattern or level not in {one.value for one in Level}:
        raise BadInput(f"--level '{text}' must be PATTERN=full, PATTERN=outline or PATTERN=name")
    return LevelRule(pattern, Level(level))


def _symbol(text: str) -> SymbolChoice:
    place, equals, choice = text.rpartition("=")
    path, colons, name = place.partition("::")
    if not equals or not colons or not name or choice not in {one.value for one in SymbolDetail}:
        raise BadInput(f"--symbol '{text}' must be PATH::NAME=full, =signature or =hide")
    return SymbolChoice(os.path.normpath(path), name, SymbolDetail(choice))


def read_file_list(options: Mapping[str, Any], cwd: str) -> tuple[str, ...]:
    """The targets of the command line and of `--files-from`; missing files are skipped with a note.

    Raises: NotFound if the list cannot be read, BadInput if it has no existing file.
    """
    place = options["files_from"]
    if not place:
        return ()
    try:
        data = sys.stdin.buffer.read() if place == "-" else _read_bytes(os.path.join(cwd, place))
    except OSError as error:
        raise NotFound(f"cannot read the list '{place}': {error.strerror}") from error
    separator = b"\0" if options["null"] or b"\0" in data else b"\n"
    names = [os.fsdecode(line.removesuffix(b"\r")) for line in data.split(separator) if line.strip()]
    if separator == b"\n":
        names = [unquote_path(name) for name in names]
    found: list[str] = []
    for name in names:
        if os.path.lexists(os.path.join(cwd, name)):
            found.append(name)
        else:
            print_note(f"skipped '{quote_path(name)}': no such file")
    if not found and not options["targets"]:
        raise BadInput(f"the list '{place}' has no existing file")
    return (*options["targets"], *found)


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
