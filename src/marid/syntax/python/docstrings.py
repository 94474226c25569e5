"""The docstrings of a Python file."""

import ast

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.scopes import DefinitionNode, docstring_node, find_named
from marid.syntax.python.source import read_source

MODULE = "module"
_SPACES = " \t"


def py_docstring(data: bytes, name: str) -> str:
    """The docstring of the file (`module`), a class, a function or a method, without its indentation.

    Raises:
        BadInput: the file does not parse, or several definitions of the name have each their own docstring.
        NotFound: there is no such definition, or it has no docstring.
        Exhausted: the file is nested too deeply.
    """
    source = read_source(data)
    owners = [source.tree] if name.strip() == MODULE else find_named(source.tree.body, name)
    found = {words: owner for owner in owners if (words := docstring_text(owner))}
    if len(found) > 1:
        lines = ", ".join(
            str(source.line_span(owner)[0]) for owner in found.values() if not isinstance(owner, ast.Module)
        )
        raise BadInput(f"'{name}' is ambiguous: it is defined with docstrings of its own at lines {lines}")
    if not found:
        raise NotFound("the file has no docstring" if name.strip() == MODULE else f"'{name}' has no docstring")
    return next(iter(found))


def docstring_text(owner: DefinitionNode | ast.Module) -> str:
    """The docstring as it is meant: no common indentation, no blank lines around; empty if there is none."""
    statement = docstring_node(owner)
    if statement is None or not isinstance(statement.value, ast.Constant):
        return ""
    first, *rest = str(statement.value.value).expandtabs().split("\n")
    widths = [len(line) - len(line.lstrip(_SPACES)) for line in rest if line.strip()]
    common = min(widths, default=0)
    return "\n".join([first.strip(), *(line[common:].rstrip() for line in rest)]).strip("\n").rstrip()
