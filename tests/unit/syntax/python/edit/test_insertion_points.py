import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.additions import (
    InsertionGap,
    StatementRange,
    find_anchor,
    gap_after,
    gap_before,
    usual_blank_lines,
)
from marid.syntax.python.edit.name_lookup import locate_definition_node
from marid.syntax.python.source import read_source


def spot(text: str, path: list[str], symbol: str) -> tuple[int, int]:
    source = read_source(text.encode())
    scope = locate_definition_node(source, ".".join(path)) if path else source.tree
    found = find_anchor(source, scope, path, symbol)
    return found.first, found.end


CODE = "X = 1\nclass A:\n    y = 1\n    @p\n    def f(self): 1\n    @f.setter\n    def f(self): 2\n    def g(self): 3\n"


@pytest.mark.parametrize(
    ("path", "symbol", "error", "words"),
    [
        ([], "", BadInput, "anchor_symbol is needed"),
        ([], "A.f", BadInput, "not at the top of the module"),
        (["A"], "B.f", BadInput, "not in 'A'"),
        ([], "a", NotFound, "did you mean 'A"),
        (["A"], "ff", NotFound, r"did you mean 'A\.f"),
        (["A"], "f@1", NotFound, r"anchor: 'A\.f' is not at line 1"),
        ([], "a b", BadInput, "not a dotted name"),
    ],
)
def test_an_anchor_that_is_not_in_the_scope_is_an_error(
    path: list[str], symbol: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        spot(CODE, path, symbol)


@pytest.mark.parametrize("text", ["def f(): 1\nx = 1\ndef f(): 2\n", "if x:\n    def f(): 1\nelse:\n    def f(): 2\n"])
def test_an_anchor_of_several_that_are_no_neighbours_is_ambiguous(text: str) -> None:
    with pytest.raises(BadInput, match="ambiguous"):
        spot(text, [], "f")


@pytest.mark.parametrize(
    ("text", "blanks"),
    [
        ("x = 1\n\n\n\ny = 2\n", 2),
        ("def f(): 1\ndef g(): 2\ndef h(): 3\n", 0),
        ("def f(): 1\n\ndef g(): 2\n\n# note\n\ndef h(): 3\n\nx = 1\n", 1),
    ],
)
def test_the_gap_is_the_one_that_most_definitions_have(text: str, blanks: int) -> None:
    source = read_source(text.encode())
    assert usual_blank_lines(source, source.tree.body, outermost=True) == blanks


def at(text: str, index: int, *, before: bool) -> InsertionGap:
    source = read_source(text.encode())
    where = StatementRange(block=source.tree.body, first=index, end=index + 1)
    return gap_before(source, where, 2) if before else gap_after(source, where, 2)


def test_code_goes_behind_the_comments_of_what_it_follows() -> None:
    text = "def f():\n    1\n    # end of f\n# on g\n\ndef g(): 2\n"
    assert at(text, 0, before=False) == InsertionGap(first=3, end=3, above=2, below=2)


def test_code_goes_before_the_comments_of_what_it_precedes() -> None:
    text = "x = 1\n\n# on f\n# more\ndef f(): 1\n"
    assert at(text, 1, before=True) == InsertionGap(first=2, end=2, above=1, below=2)


def test_an_end_of_a_region_belongs_to_what_is_above() -> None:
    assert at("x = 1\n#endregion\ndef f(): 1\n", 1, before=True).first == 2


def test_the_comments_at_the_head_of_a_file_stay_there() -> None:
    assert at("#!/bin/python\n# licence\ndef f(): 1\n", 0, before=True) == InsertionGap(
        first=2, end=2, above=2, below=2
    )
    assert at("def f(): 1\n", 0, before=True) == InsertionGap(first=0, end=0, above=0, below=2)


def test_a_string_that_looks_like_a_comment_is_not_a_comment() -> None:
    assert at('x = """\n# a\n# b"""\ndef f(): 1\n', 1, before=True).first == 3


def test_statements_on_one_line_are_not_parted() -> None:
    assert at("a = 1; b = 2\ndef f(): 1\n", 0, before=False).first == 1
    assert at("a = 1; b = 2\ndef f(): 1\n", 1, before=True).first == 0
