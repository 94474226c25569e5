"""Resolve the symbols that a request chooses."""

import os

from marid.assembly.lock.lock_file import load_lock
from marid.assembly.selection import Selection
from marid.assembly.symbol_excerpts import AnchoredSymbol
from marid.core.context import ContextRequest
from marid.core.errors import NotFound
from marid.text.display import quote_path


def resolve_symbols(request: ContextRequest, selection: Selection, lock: str) -> dict[str, tuple[AnchoredSymbol, ...]]:
    """The chosen symbols by path. An existing lock file adds anchors, and choices for other files.

    Raises: NotFound for a file that is not selected.
    """
    old = load_lock(lock).symbols() if lock else {}
    chosen: dict[str, tuple[AnchoredSymbol, ...]] = {}
    for given, name, choice in request.render.symbols:
        path = _selected_path(given, request.cwd, selection)
        anchor = next((one.anchor for one in old.get(path, ()) if one.name == name), None)
        chosen[path] = (*chosen.get(path, ()), AnchoredSymbol(name, choice, anchor))
    return old | chosen


def _selected_path(given: str, cwd: str, selection: Selection) -> str:
    """The selected path for `given`, relative to the top or to the working directory."""
    paths = frozenset(selection.paths())
    for path in (given, os.path.relpath(os.path.realpath(os.path.join(cwd, given)), selection.top)):
        if path in paths:
            return path
    raise NotFound(f"--symbol: {quote_path(given)} is not selected")
