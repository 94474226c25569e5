"""A tool's parameters as a pydantic model: schema and parsing. Made on first use, once for each spec."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from marid.core.errors import BadInput
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard import Territory


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a tool takes. `needs` are the parameters typed by a port: injected, never in the schema."""

    model: type[BaseModel]
    needs: Mapping[str, type]
    schema: Mapping[str, Any]

    def parse(self, args: Mapping[str, object], territory: Territory) -> dict[str, object]:
        """The arguments in their own types, paths as handles. Raises: BadInput that names every problem."""
        try:
            made = self.model.model_validate(args, context=territory)
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False)]
            raise BadInput("; ".join(lines)) from error
        return {name: getattr(made, name) for name in self.model.model_fields}


@cache
def form(spec: ToolSpec) -> Form:
    """The form of a tool."""
    hints = get_type_hints(spec.body, include_extras=True)
    fields: dict[str, Any] = {}
    needs: dict[str, type] = {}
    for name, parameter in signature(spec.body).parameters.items():
        hint = hints[name]
        if getattr(hint, "_is_protocol", False):
            needs[name] = hint
            continue
        fields[name] = (_described(hint), ... if parameter.default is Parameter.empty else parameter.default)
    model = create_model(spec.name, __config__=ConfigDict(extra="forbid", validate_default=True), **fields)
    return Form(model=model, needs=needs, schema=model.model_json_schema())


def _described(hint: Any) -> Any:
    """A bare string in Annotated[...] is the parameter's help."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    words = " ".join(note for note in notes if isinstance(note, str))
    return Annotated[kind, Field(description=words)]
