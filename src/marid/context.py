"""Project context from Python: `from marid import context; context.assemble(path, rules=[...])`."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from marid.app import project_context as verbs
from marid.bootstrap.wiring import open_request
from marid.core.context import ContextRequest, ContextView, FileSelection, OutputFormat, RenderOptions, byte_limit
from marid.core.errors import BadInput

__all__ = ("assemble", "explain", "stream")


def assemble(path: str | os.PathLike[str] = ".", **options: Any) -> str:
    """The context of a folder as one string.

    Options, all by name: `rules` (sequence of rule lines), `only` (patterns of the files to keep), `list_only`,
    `format` ("text", "markdown", "xml", "json"), `targets` (files or folders below `path`), `budget` (tokens),
    `config` (a rule file), `gitignore`, `defaults`, `mask`, `line_numbers`, `with_tree`, `max_size_mb`.

    Raises: a MaridError (see marid.core.errors).
    """
    return b"".join(stream(path, **options)).decode("utf-8", "surrogateescape")


def stream(
    path: str | os.PathLike[str] = ".",
    *,
    rules: Sequence[str] = (),
    list_only: bool = False,
    format: str = "text",
    targets: Sequence[str] = (),
    **options: Any,
) -> Iterator[bytes]:
    """The same in pieces, for output that is too large for memory."""
    scope = open_request()
    top = os.path.abspath(path)
    megabytes = options.pop("max_size_mb", scope.settings.context.max_size_mb)
    selection = FileSelection(
        targets=tuple(os.path.join(top, target) for target in targets) or (top,),
        base=top,
        rules=tuple(rules),
        only=tuple(options.pop("only", ())),
        config=os.fspath(options.pop("config", "")),
        gitignore=options.pop("gitignore", True),
        defaults=options.pop("defaults", True),
    )
    render = RenderOptions(
        form=_parse_format(format),
        views=(ContextView.LIST,) if list_only else (ContextView.CONTENT,),
        budget=options.pop("budget", None),
        mask=options.pop("mask", scope.settings.context.mask),
        line_numbers=options.pop("line_numbers", False),
        with_tree=options.pop("with_tree", False),
    )
    if options:
        raise TypeError(f"unknown option: {', '.join(sorted(options))}")
    request = ContextRequest(
        cwd=scope.cwd,
        selection=selection,
        render=render,
        max_bytes=byte_limit(megabytes),
        encoding=scope.settings.context.encoding,
    )
    for batch in verbs.assemble(scope, request, lambda event: None):
        yield from batch


def explain(path: str | os.PathLike[str], *, root: str | os.PathLike[str] = ".", rules: Sequence[str] = ()) -> str:
    """Which rule, in which file and line, decides about `path` when `root` is packed."""
    selection = FileSelection(targets=(os.path.abspath(root),), rules=tuple(rules))
    return verbs.explain_path(open_request(), selection, os.fspath(path))


def _parse_format(name: str) -> OutputFormat:
    try:
        return OutputFormat(name)
    except ValueError as error:
        raise BadInput(f"'{name}' is not a format: use {', '.join(form.value for form in OutputFormat)}") from error
