"""From command-line options to a request."""

import os
import sys
from collections.abc import Mapping
from typing import Any

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
from marid.faces.cli.view.console import print_note, redirect_target
from marid.text.display import quote_path, unquote_path


def context_request(options: Mapping[str, Any], scope: RequestScope) -> ContextRequest:
    """The request that the options mean.

    Raises: BadInput for options that contradict each other or cannot be read.
    """
    settings = scope.settings
    if options["frozen"] and not options["lock"]:
        raise BadInput("--frozen needs --lock FILE: the lock to compare with")
    if options["budget"] is not None and options["budget"] < 1:
        raise BadInput(f"--budget must be at least 1, not {options['budget']}")
    if options["copy"] and options["output"]:
        raise BadInput("--copy and --output are two places: choose one")
    megabytes = settings.context.max_size_mb if options["max_size_mb"] is None else options["max_size_mb"]
    return ContextRequest(
        cwd=scope.cwd,
        selection=FileSelection(
            targets=tuple(options["targets"]),
            rules=tuple(options["rules"]),
            config=options["config"],
            gitignore=not options["no_gitignore"],
            defaults=not options["no_defaults"],
            changed_since=options["changed_since"],
            branch=options["branch"],
        ),
        render=_output_options(options, scope),
        max_bytes=byte_limit(megabytes),
        encoding=options["encoding"] or settings.context.encoding,
        output=options["output"],
        redirect="" if options["output"] or options["copy"] else redirect_target(),
        lock=options["lock"],
        frozen=options["frozen"],
    )


def _output_options(options: Mapping[str, Any], scope: RequestScope) -> RenderOptions:
    return RenderOptions(
        form=OutputFormat(options["form"]),
        views=_views(options),
        null=options["null"],
        line_numbers=options["line_numbers"],
        with_tree=options["with_tree"],
        tokens=options["tokens"],
        mask=scope.settings.context.mask and not options["no_mask"],
        budget=options["budget"],
        levels=tuple(_level(text) for text in options["levels"]),
        symbols=tuple(_symbol(text) for text in options["symbols"]),
        diff=options["diff"],
        log=options["log"],
    )


def _views(options: Mapping[str, Any]) -> tuple[ContextView, ...]:
    asked = {
        ContextView.LIST: options["list_only"],
        ContextView.TREE: options["tree"],
        ContextView.STATS: options["stats"],
    }
    views = tuple(view for view, wanted in asked.items() if wanted)
    if ContextView.LIST in views and len(views) > 1:
        raise BadInput("--list-only goes with neither --tree nor --stats")
    forms = ("text",) if ContextView.TREE in views else ("text", "json")
    if views and options["form"] not in forms:
        raise BadInput("a tree is drawn as text, lists and statistics are written as text or json")
    if options["null"] and ContextView.LIST not in views and not options["files_from"]:
        raise BadInput("-0 goes with --list-only or --files-from")
    if views and (options["budget"] or options["lock"]):
        raise BadInput("--budget and --lock are about the files themselves, not about lists, trees or statistics")
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
    """The targets of the command line and of `--files-from`; listed files that are gone are told and left out.

    Raises: NotFound when there is no list, BadInput when it is empty.
    """
    place = options["files_from"]
    if not place:
        return ()
    try:
        data = sys.stdin.buffer.read() if place == "-" else _read_bytes(os.path.join(cwd, place))
    except OSError as error:
        raise NotFound(f"the list '{place}' cannot be read: {error.strerror}") from error
    separator = b"\0" if options["null"] or b"\0" in data else b"\n"
    names = [os.fsdecode(line.removesuffix(b"\r")) for line in data.split(separator) if line.strip()]
    if separator == b"\n":
        names = [unquote_path(name) for name in names]
    there: list[str] = []
    for name in names:
        if os.path.lexists(os.path.join(cwd, name)):
            there.append(name)
        else:
            print_note(f"skipped '{quote_path(name)}': it is not there")
    if not there and not options["targets"]:
        raise BadInput(f"the list '{place}' names no file that is there")
    return (*options["targets"], *there)


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
