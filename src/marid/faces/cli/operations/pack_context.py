"""`marid context`: carries out what the options say. Knows no click."""

import os
import sys
from collections.abc import Callable
from typing import Any

from marid.app import project_context
from marid.app.app import RequestScope
from marid.core.errors import BadInput
from marid.faces.cli.operations.context_request import context_request, read_file_list
from marid.faces.cli.view.console import print_line, print_note
from marid.faces.cli.view.progress import Progress


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
    # Imported when used: nobody else needs it.
    from marid.app.context_watch import follow

    if not options["output"]:
        raise BadInput("--watch needs --output FILE: there must be something to write again")
    for report in follow(scope, context_request(options, scope), progress):
        progress.finish(report)
    return 0
