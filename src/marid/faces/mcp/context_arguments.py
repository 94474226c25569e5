"""The arguments of `read_context`: what a client is told about them, and what it may send."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.core.context import OutputFormat
from marid.core.errors import BadInput
from marid.faces.mcp.face_tool import Arguments

FORMS = tuple(form.value for form in OutputFormat)


class ContextArguments(NamedTuple):
    """Arguments in their own types; what is left out has the value that it then means."""

    path: str
    rules: tuple[str, ...] = ()
    list_only: bool = False
    form: OutputFormat = OutputFormat.TEXT
    budget: int | None = None
    targets: tuple[str, ...] = ()


def arguments_schema() -> dict[str, Any]:
    """The arguments as JSON Schema."""
    return {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Absolute path of the folder to read."},
            "rules": _texts(
                "Rules in the syntax of .contextfiles, stronger than every file of rules: '!*.log' leaves files out, "
                "'docs/*.md' or 'vendor/' brings in what would be left out. To read only a part, use targets."
            ),
            "list_only": {
                "type": "boolean",
                "default": False,
                "description": "Give the paths of the selected files, one a line, instead of their contents.",
            },
            "format": {
                "type": "string",
                "enum": list(FORMS),
                "default": OutputFormat.TEXT.value,
                "description": "How the files are written.",
            },
            "budget": {
                "type": "integer",
                "minimum": 1,
                "description": "Most tokens of the result. The most useful files are given in full, others as an "
                "outline of their definitions or only by name; too few tokens even for the names is an error.",
            },
            "targets": _texts(
                "Files or folders below path to read; without any, all of it. Paths in the result and in rules stay "
                "relative to path."
            ),
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def parse_arguments(arguments: Arguments) -> ContextArguments:
    """What the arguments mean. Null stands for an argument that is left out.

    Raises: BadInput that names the argument and what would fit.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if unknown := sorted(given.keys() - _PARSERS.keys()):
        known = ", ".join(_PARSERS)
        raise BadInput(f"read_context takes no '{unknown[0]}'; it takes {known}")
    if "path" not in given:
        raise BadInput("'path' is missing: give the absolute path of a folder")
    values = {"form" if name == "format" else name: _PARSERS[name](name, value) for name, value in given.items()}
    found = ContextArguments(**cast("dict[str, Any]", values))
    if found.list_only and found.budget is not None:
        raise BadInput("'budget' is about the contents of files: leave it out, or leave out 'list_only'")
    return found


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise BadInput(f"'{name}' must be a text that is not empty, not {_quote(value)}")
    return value


def _list(name: str, value: object) -> tuple[str, ...]:
    lines = cast("list[object]", value if isinstance(value, list) else [None])
    texts = [line for line in lines if isinstance(line, str)]
    if len(texts) < len(lines):
        raise BadInput(f"'{name}' must be a list of texts, not {_quote(cast('object', value))}")
    return tuple(texts)


def _flag(name: str, value: object) -> bool:
    # Some models send every argument as a text.
    found = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise BadInput(f"'{name}' must be true or false, not {_quote(value)}")
    return found


def _count(name: str, value: object) -> int:
    # 2000.0 is an integer to JSON Schema.
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
        raise BadInput(f"'{name}' must be a whole number above 0, not {_quote(value)}")
    return whole


def _form(name: str, value: object) -> OutputFormat:
    if value not in FORMS:
        raise BadInput(f"'{name}' must be one of {', '.join(FORMS)}, not {_quote(value)}")
    return OutputFormat(value)


def _quote(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


_PARSERS: Mapping[str, Callable[[str, object], object]] = MappingProxyType(
    {"path": _text, "rules": _list, "list_only": _flag, "format": _form, "budget": _count, "targets": _list}
)
