import ast

import pytest

from marid.syntax.python.resolve.facts import annotation_class, chain


def expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("a", ("a",)),
        ("a.b(c).d", ("a", "b", "()", "d")),
        ("(await a.b()).c", ("a", "b", "()", "c")),
        ("(x := A()).b", ("A", "()", "b")),
        ("'s'.join", ("str", "()", "join")),
        ("f'{x}'.join", ("str", "()", "join")),
        ("b''.join", ("bytes", "()", "join")),
        ("[].append", ("list", "()", "append")),
        ("{}.get", ("dict", "()", "get")),
        ("a[0].b", ()),
        ("(a or b).c", ()),
        ("1", ()),
    ],
)
def test_an_expression_is_followed_as_far_as_it_is_plain(code: str, steps: tuple[str, ...]) -> None:
    assert chain(expression(code)) == steps


@pytest.mark.parametrize(
    ("code", "itself", "steps"),
    [
        ("A", False, ("A",)),
        ("a.B", False, ("a", "B")),
        ("'a.B'", False, ("a", "B")),
        ("'A | None'", False, ("A",)),
        ("'list[A]'", False, ()),
        ("'None'", False, ()),
        ("A | None", False, ("A",)),
        ("None | A", False, ("A",)),
        ("Optional['A']", False, ("A",)),
        ("Annotated[A, 'help']", False, ("A",)),
        ("ClassVar[A | None]", False, ("A",)),
        ("type[A]", True, ("A",)),
        ("Box[A]", False, ("Box",)),
        ("a[0][A]", False, ()),
    ],
)
def test_an_annotation_names_a_class_where_it_is_plain(code: str, itself: bool, steps: tuple[str, ...]) -> None:
    assert annotation_class(expression(code)) == (itself, steps)
