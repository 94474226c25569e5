import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from marid.core.errors import BadInput, Refused
from marid.core.policy.policy import Effect
from marid.ports.workers import Workers
from marid.toolkit.handles import FileRef, FolderRef, Url
from marid.toolkit.inventory import dependencies_of
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.params import inline_references, tool_params, tool_schema
from marid.toolkit.spec import Alias, ToolSpec, tool
from marid.workspace.guard.api import PathScope


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    label: str = ""


def _said(**given: object) -> ToolOutput:
    return ToolOutput(text=repr(given))


@tool(
    family="files",
    effect=Effect.READ,
    aliases=(Alias(name="file_lines", renames=(("file", "path"), ("start", "start_line"))), Alias(name="lines")),
)
def get_slice(
    path: FileRef,
    start_line: Annotated[int, "first line, from 1"] = 1,
    whole: bool = False,
    share: float = 0.5,
    folder: FolderRef | None = None,
    *,
    workers: Workers,
) -> ToolOutput:
    """Read some lines."""
    return _said(path=path, start_line=start_line, whole=whole, share=share, folder=folder, workers=workers)


@tool(family="files", effect=Effect.READ)
def draw(
    colour: Colour,
    mode: Literal["fill", "line"] = "fill",
    points: list[Point] | None = None,
    paths: Annotated[list[FileRef], "files"] = [],  # noqa: B006 (copied by the form)
    data: dict[str, int] | None = None,
    title: str = "",
) -> ToolOutput:
    """Draw."""
    return _said(colour=colour, mode=mode, points=points, paths=paths, data=data, title=title)


@tool(family="files", effect=Effect.META)
def nothing() -> ToolOutput:
    """Do nothing."""
    return _said()


@tool(family="files", effect=Effect.META, aliases=(Alias(name="post", renames=(("sender", "from"),)),))
def send(
    to: str, from_: Annotated[str, "who sends it"] = "me", class_: int | None = None, plain_: int = 0
) -> ToolOutput:
    """Send something."""
    return _said(to=to, from_=from_, class_=class_, plain_=plain_)


@pytest.fixture
def territory(tmp_path: Path) -> PathScope:
    return PathScope([str(tmp_path)])


def _wrong(spec: ToolSpec, territory: PathScope, **args: object) -> str:
    with pytest.raises(BadInput) as caught:
        tool_params(spec).parse(args, territory)
    return str(caught.value)


def test_arguments_come_in_their_own_types_and_paths_as_handles(territory: PathScope) -> None:
    values = tool_params(get_slice).parse({"path": "a.py", "start_line": "7", "whole": "true", "share": 1}, territory)
    path = values.pop("path")
    assert isinstance(path, FileRef)
    assert (path.name, path.raw) == ("a.py", "a.py")
    assert values == {"start_line": 7, "whole": True, "share": 1.0, "folder": None}


def test_ports_are_no_arguments(territory: PathScope) -> None:
    assert dependencies_of(get_slice).required == {"workers": Workers}
    assert "no parameter is called 'workers'" in _wrong(get_slice, territory, path="a", workers=1)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "path: is missing"),
        ({"path": 5}, "path: must be a text, not 5"),
        ({"path": None}, "path: must be a text, not null"),
        ({"path": "a", "start_line": "x"}, "start_line: must be a whole number, not 'x'"),
        ({"path": "a", "start_line": 1.5}, "start_line: must be a whole number, not 1.5"),
        ({"path": "a", "start_line": []}, "start_line: must be a whole number, not []"),
        ({"path": "a", "whole": "maybe"}, "whole: must be true or false, not 'maybe'"),
        ({"path": "a", "share": "nan"}, "share: must be a finite number, not 'nan'"),
        ({"path": "a", "share": "inf"}, "share: must be a finite number, not 'inf'"),
        ({"path": "a", "share": float("nan")}, "share: must be a finite number"),
        ({"path": "a", "share": {}}, "share: must be a number, not {}"),
        ({"path": "a", "folder": 5}, "folder: must be a text, not 5"),
        ({"pth": "a"}, "no parameter is called 'pth'; did you mean 'path'? (parameters are path, start_line, whole"),
        ({"path": "a", "zzzz": 1}, "no parameter is called 'zzzz' (parameters are"),
        ({"path": "a\ud800"}, "path: invalid text"),
        ({"path": "a", "start_line": 10**30}, "start_line: the number is out of range"),
    ],
)
def test_a_mistake_is_told_in_words_that_help(territory: PathScope, args: dict[str, object], words: str) -> None:
    assert words in _wrong(get_slice, territory, **args)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"colour": "green"}, "colour: must be 'red' or 'blue', not 'green'"),
        ({"colour": "red", "mode": "dot"}, "mode: must be 'fill' or 'line', not 'dot'"),
        ({"colour": "red", "points": "x"}, "points: must be a list, not 'x'"),
        ({"colour": "red", "points": [5]}, "points.0: must be an object of names and values, not 5"),
        ({"colour": "red", "data": 5}, "data: must be an object of names and values, not 5"),
        ({"colour": "red", "points": [{"x": 1}, {}]}, "points.1"),
    ],
)
def test_a_mistake_in_a_nested_value_is_told_where_it_is(
    territory: PathScope, args: dict[str, object], words: str
) -> None:
    assert words in _wrong(draw, territory, **args)


def test_all_mistakes_are_told_at_once(territory: PathScope) -> None:
    told = "path: is missing; start_line: must be a whole number, not 'x'; whole: must be true or false, not 'maybe'"
    assert _wrong(get_slice, territory, start_line="x", whole="maybe") == told
    assert tool_params(nothing).parse({}, territory) == {}
    assert _wrong(nothing, territory, x=1) == "no parameter is called 'x' (it takes none)"


def test_null_for_what_has_a_default_means_not_given(territory: PathScope) -> None:
    values = tool_params(get_slice).parse({"path": "a", "start_line": None, "folder": None}, territory)
    assert values["start_line"] == 1
    assert values["folder"] is None


def test_a_parameter_is_accepted_and_named_in_errors_by_the_name_that_was_used(territory: PathScope) -> None:
    values = tool_params(get_slice).parse({"file": "a", "start": "3"}, territory)
    assert values["start_line"] == 3
    assert isinstance(values["path"], FileRef)
    assert _wrong(get_slice, territory, file="a", path="b") == "file: the same parameter as 'path': give one of them"
    assert _wrong(get_slice, territory, path="b", file="a") == "path: the same parameter as 'file': give one of them"
    assert _wrong(get_slice, territory, file="a", start="x") == "start: must be a whole number, not 'x'"


def test_the_schema_speaks_the_language_of_the_name(territory: PathScope) -> None:
    own, other = tool_schema(get_slice), tool_schema(get_slice, "file_lines")
    assert list(own["properties"]) == ["path", "start_line", "whole", "share", "folder"]
    assert list(other["properties"]) == ["file", "start", "whole", "share", "folder"]
    assert (own["required"], other["required"]) == (["path"], ["file"])
    assert tool_schema(get_slice, "lines") == own
    assert own["additionalProperties"] is False
    assert own["properties"]["start_line"] == {"default": 1, "description": "first line, from 1", "type": "integer"}
    with pytest.raises(KeyError):
        tool_schema(get_slice, "another")
    assert tool_schema(nothing) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_schema_holds_no_reference_and_no_title() -> None:
    text = repr(tool_schema(draw))
    assert "$ref" not in text
    assert "$defs" not in text
    assert tool_schema(draw)["properties"]["title"] == {"default": "", "type": "string"}
    assert tool_schema(draw)["properties"]["colour"] == {"enum": ["red", "blue"], "type": "string"}
    assert tool_schema(draw)["properties"]["paths"]["description"] == "files"
    assert tool_schema(get_slice)["properties"]["path"]["description"] == "path of a file of the project"


def _alias(*renames: tuple[str, str]) -> ToolSpec:
    def body(path: str, other: str = "") -> ToolOutput:
        return _said(path=path, other=other)

    return tool(family="files", effect=Effect.READ, aliases=(Alias(name="b", renames=renames),))(body)


@pytest.mark.parametrize("renames", [(("file", "pth"),), (("other", "path"),), (("x", "path"), ("x", "other"))])
def test_an_alias_that_does_not_fit_is_a_mistake(renames: Any) -> None:
    with pytest.raises(ValueError, match="body: 'b' cannot call"):
        tool_params(_alias(*renames))


def test_a_default_is_checked_like_an_argument(territory: PathScope) -> None:
    def body(path: FileRef = "../x", count: int = "x") -> ToolOutput:  # pyright: ignore[reportArgumentType]
        return _said(path=path, count=count)

    spec = tool(family="files", effect=Effect.READ)(body)
    with pytest.raises(Refused):
        tool_params(spec).parse({}, territory)
    with pytest.raises(BadInput, match=re.escape("count: must be a whole number, not 'x'")):
        tool_params(spec).parse({"path": "a"}, territory)


def test_notes_beside_the_help_are_kept(territory: PathScope) -> None:
    from annotated_types import Ge

    def body(count: Annotated[int, Ge(1), "how many"], other: Annotated[int, Ge(1)] = 1) -> ToolOutput:
        return _said(count=count, other=other)

    spec = tool(family="files", effect=Effect.READ)(body)
    assert tool_schema(spec)["properties"]["count"] == {"description": "how many", "minimum": 1, "type": "integer"}
    with pytest.raises(BadInput, match="count: should be greater than or equal to 1, not 0"):
        tool_params(spec).parse({"count": 0}, territory)


def test_a_parameter_may_be_called_by_a_word_of_python(territory: PathScope) -> None:
    assert list(tool_schema(send)["properties"]) == ["to", "from", "class", "plain_"]
    assert tool_schema(send)["properties"]["from"] == {"default": "me", "description": "who sends it", "type": "string"}
    given = tool_params(send).parse({"to": "a", "from": "b", "class": "3"}, territory)
    assert given == {"to": "a", "from_": "b", "class_": 3, "plain_": 0}
    assert tool_params(send).parse({"to": "a", "from": None}, territory)["from_"] == "me"
    assert _wrong(send, territory, **{"to": "a", "from": 5}) == "from: must be a text, not 5"
    assert "no parameter is called 'from_'; did you mean 'from'?" in _wrong(send, territory, to="a", from_="b")
    assert list(tool_schema(send, "post")["properties"]) == ["to", "sender", "class", "plain_"]
    assert tool_params(send).parse({"to": "a", "sender": "b"}, territory)["from_"] == "b"
    assert _wrong(send, territory, **{"to": "a", "from": "b", "sender": "c"}).startswith("from: the same parameter")


def test_references_are_replaced_by_what_they_refer_to() -> None:
    schema = {
        "$defs": {"Kind": {"title": "Kind", "enum": ["a"], "type": "string"}},
        "title": "tool",
        "description": "of the model",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string"},
            "kind": {"$ref": "#/$defs/Kind", "description": "which"},
            "kinds": {"items": {"$ref": "#/$defs/Kind"}, "type": "array"},
            "one": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}], "default": {"title": "kept"}},
        },
    }
    assert inline_references(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "kind": {"enum": ["a"], "type": "string", "description": "which"},
            "kinds": {"items": {"enum": ["a"], "type": "string"}, "type": "array"},
            "one": {"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "null"}], "default": {"title": "kept"}},
        },
    }


def test_a_type_that_holds_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="holds itself"):
        inline_references({"$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}, "$ref": "#/$defs/A"})


def test_a_url_is_checked_while_it_is_parsed(territory: PathScope) -> None:
    def visit(url: Url) -> ToolOutput:
        return _said(url=url)

    spec = tool(family="files", effect=Effect.READ)(visit)
    assert str(tool_params(spec).parse({"url": "HTTP://Example.com?q"}, territory)["url"]) == "http://example.com/?q"
    for url in ("ftp://example.com", "http://user:pw@example.com/", "http://127.1/", ""):
        assert _wrong(spec, territory, url=url)
