"""What a tool gets instead of the text of a URL: an address that was taken apart and checked while it was parsed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from marid.ports.web import Target

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


@dataclass(frozen=True)
class Url:
    """An http or https address. Making one opens nothing and looks nothing up."""

    target: Target

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The address that the text is. Raises: BadInput."""
        from marid.text.web.http_urls import (
            parse_url,  # imported when used: its patterns cost more than the rest of a tool
        )

        return cls(parse_url(text))

    def __str__(self) -> str:
        return str(self.target)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls.from_text, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        return {"type": "string", "format": "uri"}
