import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.edit.name_lookup import locate_definition, locate_variable
from marid.syntax.python.scopes import assigned_names
from marid.syntax.python.source import read_source

CODE = '''\
import os

LIMIT = 3
first, (second, *rest) = 1, (2, 3)
a = b = [c] = [1]
noted: int
noted_too: str = "x"
counter += 1
print(walrus := 1)
os.environ = {}
os.x[1] = 2

if LIMIT:
    def by_if(): pass
elif first:
    def by_elif(): pass
else:
    for x in y:
        def by_for(): pass
    else:
        while x:
            def by_while(): pass

try:
    with x as z:
        class ByWith:
            inside = 1
except OSError:
    def by_except(): pass
else:
    def by_else(): pass
finally:
    def by_finally(): pass

match x:
    case 1:
        async def by_case(): pass


@decorate
# a comment between
@decorate(
    "x",
)
class Outer:
    """Doc."""

    attribute = 1

    class Inner:
        def deep(self):
            def deeper():
                local = 1
                return """
def not_this(): pass
"""
            return deeper

    @overload
    def many(self): ...
    @overload
    def many(self, x): ...
    def many(self, *x): ...


@(
    # the decorator's expression is on another row
    decorate
)
def odd(): pass


def outer():
    def inner():
        pass
'''
SOURCE = read_source(CODE.encode())


def lines(name: str) -> str:
    first, end = SOURCE.row_span(locate_definition(SOURCE, name).node)
    return SOURCE.rows(first, end)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        *((f"by_{word}", f"    def by_{word}", "pass\n") for word in ("if", "elif", "except", "else", "finally")),
        ("by_for", "        def by_for", "pass\n"),
        ("by_while", "            def by_while", "pass\n"),
        ("by_case", "        async def by_case", "pass\n"),
        ("ByWith", "        class ByWith", "inside = 1\n"),
        ("Outer", "@decorate\n# a comment", "*x): ...\n"),
        ("Outer.Inner", "    class Inner", "return deeper\n"),
        ("Outer.Inner.deep", "        def deep", "return deeper\n"),
        ("Outer.Inner.deep.deeper", "            def deeper", '"""\n'),
        ("odd", "@(\n", "pass\n"),
        ("outer.inner", "    def inner", "pass\n"),
        (" outer ", "def outer", "pass\n"),
    ],
)
def test_a_definition_is_found_by_its_dotted_name(name: str, start: str, end: str) -> None:
    assert lines(name).startswith(start)
    assert lines(name).endswith(end)


def test_a_name_defined_twice_is_ambiguous_until_a_line_says_which() -> None:
    with pytest.raises(BadInput, match=r"'Outer\.many' is ambiguous: defined at lines 59, 61, 63; .*'Outer\.many@59'"):
        locate_definition(SOURCE, "Outer.many")
    assert lines("Outer.many@59").endswith("self): ...\n")
    assert lines("Outer.many@62").endswith("self, x): ...\n")
    assert lines("Outer.many@63").endswith("*x): ...\n")


def test_a_line_that_holds_no_such_definition_finds_nothing() -> None:
    with pytest.raises(NotFound, match=r"'Outer\.many' is not at line 1"):
        locate_definition(SOURCE, "Outer.many@1")


def test_a_method_of_only_one_of_two_classes_is_not_ambiguous() -> None:
    source = read_source(b"if x:\n    class A:\n        def f(self): pass\nelse:\n    class A:\n        pass\n")
    assert locate_definition(source, "A.f").node.lineno == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("outr", "'outr' is not defined in the file; did you mean 'outer"),
        ("deep", r"did you mean 'Outer\.Inner\.deep"),
        ("not_this", "not defined"),
        ("LIMIT", "'LIMIT' is a variable, not a function or class"),
        ("Outer.attribute", "is a variable"),
        ("q" * 300, "not defined in the file$"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_the_nearest(name: str, words: str) -> None:
    with pytest.raises(NotFound, match=words):
        locate_definition(SOURCE, name)


@pytest.mark.parametrize("name", ["", ".", "a.", "a b", "1", "x\n.y", "a@", "@1", "f()", "x" * 501, "a@" + "9" * 20])
def test_an_invalid_dotted_name_is_bad_input(name: str) -> None:
    with pytest.raises(BadInput, match="not a dotted name"):
        locate_definition(SOURCE, name)


def test_names_are_compared_as_python_compares_them() -> None:
    source = read_source("def ﬁne(): pass\n".encode())
    assert locate_definition(source, "ﬁne") == locate_definition(source, "fine")


@pytest.mark.parametrize(
    "name",
    ["LIMIT", "first", "second", "rest", "a", "b", "c", "noted", "noted_too", "Outer.attribute", "ByWith.inside"],
)
def test_a_variable_of_a_module_or_class_is_found(name: str) -> None:
    node = locate_variable(SOURCE, name).node
    assert name.rpartition(".")[2] in assigned_names(node)


@pytest.mark.parametrize(
    "name", ["counter", "walrus", "environ", "os", "x", "z", "outer.inner.local", "Outer.Inner.deep.deeper.local"]
)
def test_what_declares_no_variable_of_a_module_or_class_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match="not defined"):
        locate_variable(SOURCE, name)


def test_a_function_asked_for_as_a_variable_is_said_to_be_one() -> None:
    with pytest.raises(NotFound, match="'outer' is a function or class, not a variable"):
        locate_variable(SOURCE, "outer")


def test_a_variable_assigned_twice_is_ambiguous() -> None:
    source = read_source(b"try:\n    x = 1\nexcept E:\n    x = 2\n")
    with pytest.raises(BadInput, match="'x' is ambiguous: defined at lines 2, 4"):
        locate_variable(source, "x")
    assert locate_variable(source, "x@4").node.lineno == 4
