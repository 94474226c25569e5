"""What a tool gets instead of a path or a URL: a place that only the guard opens, or a checked address."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from marid.ports.web import Target
from marid.toolkit.outcome import PlannedChange
from marid.workspace.guard.api import MAX_FILE_BYTES, FolderEntry, GuardedPath, OpenFolder, PathScope
from marid.workspace.write.parent_folder import check_writable

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class PathResolver(Protocol):
    """Port to the paths of a call, for tools that take none. A PathScope is one."""

    def resolve(self, raw: str, *, write: bool = False) -> GuardedPath:
        """Where the path leads, from the first root. Raises: BadInput if it is no path, Refused if it is protected."""
        ...


@dataclass(frozen=True)
class PathHandle:
    """A guarded path, and the path as the caller gave it, which is the one that messages name."""

    path: GuardedPath
    raw: str
    format: ClassVar[str] = "project-path"
    writes: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The path relative to its root, with slashes."""
        return self.path.name

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return cls.core_schema()

    @classmethod
    def core_schema(cls) -> "CoreSchema":
        """How pydantic-core parses one."""
        from pydantic_core import core_schema

        def parse(raw: str, info: "ValidationInfo[Any]") -> Self:
            if not isinstance(info.context, PathScope):
                raise TypeError("a path was parsed with no root to hold it")
            return cls(info.context.resolve(raw, write=cls.writes), raw)

        return core_schema.with_info_after_validator_function(parse, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler") -> "JsonSchemaValue":
        return {"type": "string", "format": cls.format}


class FileRef(PathHandle):
    """A file to read."""

    def read(self, limit: int = MAX_FILE_BYTES) -> bytes:
        """Its bytes. Raises: NotFound, Refused, BadInput for what is no regular file, Exhausted if too large."""
        return self.path.read(limit)


class TargetRef(FileRef):
    """A file to change or make: `change` plans it, the dispatcher carries it out."""

    format = "project-path-to-write"
    writes = True

    def change(self, before: bytes | None, after: bytes) -> PlannedChange:
        """The plan that turns `before`, the bytes that were read (None: no such file), into `after`.

        Raises: what committing it would raise now (Refused for a link or the git directory, BadInput for a folder), so
        that no question is asked about what cannot be done.
        """
        check_writable(self.path)
        return PlannedChange(path=self.path, before=before, after=after)


class FolderRef(PathHandle):
    """A folder to look into."""

    def entries(self) -> list[FolderEntry]:
        """What is directly in it, by name. Raises: NotFound, Refused, BadInput for what is no folder."""
        return self.path.entries()

    def walk(self, *, ignored: bool = False, hidden: bool = True) -> Iterator[OpenFolder]:
        """It and all below it; see `GuardedPath.walk`."""
        return self.path.walk(ignored=ignored, hidden=hidden)


class PathRef(FileRef, FolderRef):
    """A file or a folder."""

    def is_folder(self) -> bool:
        """Whether it is a folder now. Raises: NotFound, Refused."""
        return self.path.is_folder()


@dataclass(frozen=True)
class Url:
    """An http or https address. Making one opens nothing and looks nothing up."""

    target: Target

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The address that the text is. Raises: BadInput."""
        from marid.text.web.http_urls import parse_url  # imported when used: it compiles patterns

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
