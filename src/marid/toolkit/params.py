"""A tool's parameters: parsing by pydantic-core, JSON schema by pydantic. Made on first use, once for each spec."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import Parameter, signature
from keyword import iskeyword
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic_core import CoreConfig, SchemaValidator, ValidationError, core_schema

from marid.core.errors import BadInput
from marid.core.suggestions import close_matches, did_you_mean
from marid.text.display import escape_text
from marid.toolkit.argument_errors import check_arguments, format_argument_error
from marid.toolkit.handles import FileRef, FolderRef, PathHandle, PathRef, TargetRef
from marid.toolkit.inventory import dependencies_of
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import CoreSchema

PARSE_CONFIG = CoreConfig(extra_fields_behavior="forbid", validate_default=True, allow_inf_nan=False)
_PATH_HELP: Mapping[Any, str] = {
    FileRef: "path of a file of the project",
    TargetRef: "path of the file to change",
    FolderRef: "path of a folder of the project",
    PathRef: "path of a file or folder of the project",
}


@dataclass(frozen=True, kw_only=True)
class ToolParams:
    """What a tool takes from its caller: hint and default (`...`: none) of each parameter, without the ports.

    `renames` maps the parameters of all aliases to its own. `body_names` are the names in the body, where a keyword of
    Python (`from`) has an underscore behind it.
    """

    name: str
    fields: Mapping[str, tuple[Any, Any]]
    renames: Mapping[str, str]
    body_names: Mapping[str, str]

    @cached_property
    def model(self) -> "type[BaseModel]":
        """The parameters as a pydantic model."""
        from pydantic import ConfigDict, create_model  # imported when used: it costs more than reading a file

        config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)
        fields: dict[str, Any] = {
            name: (_with_description(hint), default) for name, (hint, default) in self.fields.items()
        }
        return create_model(self.name, __config__=config, **fields)

    @cached_property
    def _validate(self) -> Callable[[dict[str, object], PathScope], Mapping[str, Any]]:
        schema = plain_fields(self.fields)
        if schema is not None:
            plain = SchemaValidator(schema, PARSE_CONFIG)
            return lambda given, scope: plain.validate_python(given, context=scope)[0]
        return lambda given, scope: self.model.model_validate(given, context=scope).__dict__

    @cached_property
    def json_schema(self) -> Mapping[str, Any]:
        """JSON schema of the tool by its own name."""
        return inline_references(self.model.model_json_schema())

    def parse(self, args: Mapping[str, object], path_scope: PathScope) -> dict[str, object]:
        """The arguments in their own types, paths as handles. Raises: BadInput that names every problem, Refused."""
        check_arguments(args)
        given, called = self._normalize_names(args)
        try:
            made = self._validate(given, path_scope)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=True)
            raise BadInput("; ".join(dict.fromkeys(format_argument_error(one, called) for one in problems))) from error
        return {self.body_names[name]: value for name, value in made.items()}

    def _normalize_names(self, args: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
        """The arguments by our own names, without those whose null means: not given; and the names that differ."""
        given: dict[str, object] = {}
        called: dict[str, str] = {}
        for name, value in args.items():
            own = self.renames.get(name, name)
            if own not in self.fields:
                raise BadInput(self._unknown(str(name)))
            if own in given:
                raise BadInput(f"{called.get(own, own)}: the same parameter as '{name}': give one of them")
            hint, default = self.fields[own]
            if value is None and default is not ... and not _takes_none(hint):
                continue
            given[own] = value
            if own != name:
                called[own] = name
        return given, called

    def _unknown(self, name: str) -> str:
        known = list(self.fields)
        takes = f"parameters are {', '.join(known)}" if known else "it takes none"
        hint = did_you_mean(close_matches(name, [*known, *self.renames]))
        return f"no parameter is called '{escape_text(name[:60])}'{hint} ({takes})"


@cache
def tool_params(spec: ToolSpec) -> ToolParams:
    """The parameters of a tool. Raises: ValueError for an alias that does not fit them."""
    parameters, hints = signature(spec.body).parameters, dependencies_of(spec).param_hints
    defaults = {name: ... if (one := parameters[name].default) is Parameter.empty else one for name in hints}
    body_names = {_public_name(name): name for name in hints}
    fields = {public: (hints[name], defaults[name]) for public, name in body_names.items()}
    return ToolParams(name=spec.name, fields=fields, renames=_alias_renames(spec, fields), body_names=body_names)


def tool_schema(spec: ToolSpec, name: str | None = None) -> dict[str, Any]:
    """JSON schema of the tool as it is called by `name`, one of its names. Raises: KeyError for another name."""
    schema = dict(tool_params(spec).json_schema)
    if name is None or name == spec.name:
        return schema
    alias = {alias.name: alias for alias in spec.aliases}[name]
    renamed = {own: other for other, own in alias.renames}
    properties = schema.get("properties", {})
    defaults = {own: {**properties[own], "default": value} for own, value in alias.defaults}
    schema["properties"] = {renamed.get(own, own): value for own, value in {**properties, **defaults}.items()}
    if "required" in schema:
        schema["required"] = [renamed.get(own, own) for own in schema["required"]]
    return schema


def plain_fields(fields: Mapping[str, tuple[Any, Any]]) -> "core_schema.ModelFieldsSchema | None":
    """The schema that pydantic makes of these fields; None if one of them is not plain.

    Importing pydantic costs more than a call that reads a file. A test compares the two for every tool.
    """
    made: dict[str, core_schema.ModelField] = {}
    for name, (hint, default) in fields.items():
        schema = _plain_schema(hint)
        if schema is None:
            return None
        if default is not ...:
            schema = core_schema.with_default_schema(schema, default=default)
        made[name] = core_schema.model_field(schema)
    return core_schema.model_fields_schema(made)


def is_word(hint: Any) -> bool:
    """Whether the value of such a parameter is one word of a command line."""
    schema = _plain_schema(hint)
    return schema is not None and schema["type"] in ("str", "int", "float", "literal", "function-after")


def _plain_schema(hint: Any) -> "CoreSchema | None":
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _plain_schema(parts[0]) if all(isinstance(note, str) for note in parts[1:]) else None
    if origin is Literal:
        return core_schema.literal_schema(list(parts))
    if len(parts) == 2 and (origin, parts[1]) in ((Union, NoneType), (UnionType, NoneType), (tuple, ...)):
        inner = _plain_schema(parts[0])
        wrap = core_schema.tuple_variable_schema if origin is tuple else core_schema.nullable_schema
        return None if inner is None else wrap(inner)
    if isinstance(hint, type) and issubclass(hint, PathHandle):
        return hint.core_schema()
    return _PLAIN[hint]() if hint in _PLAIN else None


_PLAIN: Mapping[Any, Callable[[], "CoreSchema"]] = {
    str: core_schema.str_schema,
    int: core_schema.int_schema,
    bool: core_schema.bool_schema,
    float: core_schema.float_schema,
}


def _public_name(name: str) -> str:
    """A parameter as callers call it."""
    word = name.removesuffix("_")
    return word if iskeyword(word) else name


def _alias_renames(spec: ToolSpec, fields: Mapping[str, Any]) -> dict[str, str]:
    renames: dict[str, str] = {}
    for alias in spec.aliases:
        for other, own in alias.renames:
            if own not in fields or other in fields or renames.get(other, own) != own:
                raise ValueError(f"{spec.name}: '{alias.name}' cannot call '{own}' '{other}'")
            renames[other] = own
    return renames


def _takes_none(hint: Any) -> bool:
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return kind in (None, Any, object) or NoneType in get_args(kind)


def _with_description(hint: Any) -> Any:
    """A bare string in Annotated[...] is the parameter's description, which paths have without one too."""
    from pydantic import Field

    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    text = " ".join(note for note in notes if isinstance(note, str)) or _PATH_HELP.get(kind, "")
    others = [note for note in notes if not isinstance(note, str)]
    return Annotated[(kind, *others, Field(description=text))] if text else hint


_MAX_SCHEMA_DEPTH = 20
_VALUE_KEYS = frozenset({"default", "const", "enum", "examples"})


def inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with every `$ref` replaced by what it refers to. Raises: ValueError for one that holds itself."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    inlined = _inline_node({key: value for key, value in schema.items() if key != "$defs"}, definitions, 0)
    inlined.setdefault("properties", {})
    inlined.pop("description", None)
    return inlined


def _inline_node(node: Any, definitions: Mapping[str, Any], depth: int) -> Any:
    if depth > _MAX_SCHEMA_DEPTH:
        raise ValueError("a parameter's type holds itself; a tool's parameters must be finite")
    if isinstance(node, list):
        return [_inline_node(one, definitions, depth) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast("dict[str, Any]", node)
    if (reference := fields.get("$ref")) is not None:
        siblings = {key: value for key, value in fields.items() if key != "$ref"}
        return _inline_node({**definitions[reference.rpartition("/")[2]], **siblings}, definitions, depth + 1)
    made: dict[str, Any] = {}
    for key, value in fields.items():
        if key == "properties":
            made[key] = {name: _inline_node(one, definitions, depth + 1) for name, one in value.items()}
        elif key != "title":
            made[key] = value if key in _VALUE_KEYS else _inline_node(value, definitions, depth + 1)
    return made
