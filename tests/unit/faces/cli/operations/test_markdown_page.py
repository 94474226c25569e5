from pathlib import Path

import pytest

from fakes.program import Program, marid
from fakes.real_app import real_scope
from marid.core.errors import BadInput, NotFound
from marid.faces.cli.operations.markdown_page import page_path, show_page

__all__ = ["marid"]


def test_a_file_is_shown_as_an_answer_would_be_and_nothing_is_said(marid: Program) -> None:
    marid.write({"a.md": "# Title\n\n- **one**\n"})
    shown = marid("--debug", "md=a.md")
    assert (shown.code, "Title" in shown.text, "**" in shown.text) == (0, True, False)
    assert marid("--debug=request-log,md=a.md").text == shown.text
    assert marid("conversations", "--json").text.strip() == "[]"


def test_which_file_is_meant_stands_among_the_keys() -> None:
    assert page_path("request-log,md=x.md") == "x.md"
    assert page_path("all") == ""


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gone\.md"):
        show_page(real_scope(tmp_path), "gone.md")
    with pytest.raises(BadInput, match="cannot be read"):
        show_page(real_scope(tmp_path), str(tmp_path))
