"""`marid context`: carries out what the options say. Knows no click."""

import os
import sys
from collections.abc import Callable
from typing import Any

from marid.app import project_context
from marid.app.app import App
from marid.core.caller import Caller
from marid.core.errors import BadInput
from marid.faces.cli.operations.context_request import context_request, read_file_list
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.cli.view.progress import Progress

_CALLER = Caller(face="cli")


def run_context(options: dict[str, Any], make_app: Callable[[], App]) -> int:
    """Run the command; returns the exit code."""
    app = make_app()
    for note in () if options["quiet"] else app.notes:
        print_note(note)
    targets: tuple[str, ...] = options["targets"]
    if len(targets) == 2 and targets[0] == "diff" and not os.path.isdir(targets[1]):
        return _show_lock_changes(app, options)
    options["targets"] = read_file_list(options, app.cwd) or targets or (".",)
    request = context_request(options, app)
    if options["explain"]:
        print_line(project_context.explain_path(app, request.selection, options["explain"]))
        return 0
    progress = Progress(quiet=options["quiet"])
    if options["watch"]:
        return _watch(app, options, progress)
    run = project_context.assemble(app, request, _CALLER, progress)
    if options["copy"]:
        used = project_context.copy(app, run)
        progress.clear()
        print_note(f"copied with {used}")
    elif request.output:
        project_context.save(run, os.path.join(app.cwd, request.output))
    else:
        project_context.send(run, sys.stdout.fileno())
    progress.finish(run.report())
    return 0


def _show_lock_changes(app: App, options: dict[str, Any]) -> int:
    found = list(
        project_context.lock_differences(app, options["targets"][1], _CALLER, Progress(quiet=options["quiet"]))
    )
    for line in found:
        print_line(line)
    return 1 if found and options["exit_code"] else 0


def _watch(app: App, options: dict[str, Any], progress: Progress) -> int:
    # Imported when used: nobody else needs it.
    from marid.app.context_watch import follow

    if not options["output"]:
        raise BadInput("--watch needs --output FILE: there must be something to write again")
    for report in follow(app, context_request(options, app), _CALLER, progress):
        progress.finish(report)
    return 0
