"""The docstrings of a Python file."""

import ast

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import docstring_text, find_named
from marid.syntax.python.source import read_source

MODULE = "module"


def py_docstring(data: bytes, name: str) -> str:
    """The docstring of the file (`module`), a class, a function or a method, without its indentation.

    Raises:
        BadInput: the file does not parse, or several definitions of the name have docstrings of their own.
        NotFound: there is no such definition, or it has no docstring.
        Exhausted: the file is nested too deeply.
    """
    source = read_source(data)
    owners = [source.tree] if name.strip() == MODULE else find_named(source.tree.body, name)
    found = {text: owner for owner in owners if (text := docstring_text(owner))}
    if len(found) > 1:
        lines = ", ".join(
            str(source.line_span(owner)[0]) for owner in found.values() if not isinstance(owner, ast.Module)
        )
        raise BadInput(f"'{name}' is ambiguous: definitions with their own docstrings are at lines {lines}")
    if not found:
        raise NotFound("the file has no docstring" if name.strip() == MODULE else f"'{name}' has no docstring")
    return next(iter(found))
