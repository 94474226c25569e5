import os
from pathlib import Path, PurePosixPath
from typing import Annotated

import pytest

from marid.core.policy.policy import Effect
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.params import tool_schema
from marid.toolkit.spec import Alias, tool


@pytest.mark.parametrize(
    "hint",
    [
        Path,
        PurePosixPath,
        Path | None,
        list[Path],
        dict[str, tuple[Path, ...]],
        Annotated[Path, "a path"],
        os.PathLike,
        "os.PathLike[str]",
        "list[Path] | None",
    ],
)
def test_a_tool_that_takes_a_bare_path_cannot_be_made(hint: object) -> None:
    def body(where: str) -> ToolOutput:
        return ToolOutput(text=where)

    body.__annotations__["where"] = hint
    with pytest.raises(TypeError, match="body: 'where' is a bare path"):
        tool(family="files", effect=Effect.READ)(body)


def test_words_about_a_path_are_no_path() -> None:
    def body(where: Annotated[str, "a Path"], other: "list[str]") -> ToolOutput:
        return ToolOutput(text=where + other[0])

    assert tool(family="files", effect=Effect.READ)(body).name == "body"


def test_an_alias_may_stand_for_other_defaults() -> None:
    aliases = (Alias(name="peek", renames=(("secs", "seconds"),), defaults=(("seconds", 30), ("hidden", False))),)

    @tool(family="files", effect=Effect.META, aliases=aliases)
    def look(seconds: int = 60, *, hidden: bool = True) -> ToolOutput:
        """Look."""
        return ToolOutput(text=f"{seconds} {hidden}")

    assert look.with_alias_defaults("look", {}) == {}
    assert look.with_alias_defaults("peek", {}) == {"seconds": 30, "hidden": False}
    assert look.with_alias_defaults("peek", {"secs": 5}) == {"secs": 5, "hidden": False}
    assert tool_schema(look, "peek")["properties"]["secs"]["default"] == 30
    assert tool_schema(look, "look")["properties"]["seconds"]["default"] == 60
