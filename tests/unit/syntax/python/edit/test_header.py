import pytest

from marid.core.errors import BadInput
from marid.syntax.python.edit.header import fit_header, name_span
from marid.syntax.python.source import DEFINITION_NODES, DefinitionNode, PythonSource, read_source


def only(text: str) -> tuple[PythonSource, DefinitionNode]:
    source = read_source(text.encode())
    node = source.tree.body[0]
    assert isinstance(node, DEFINITION_NODES)
    return source, node


@pytest.mark.parametrize(
    "text", ["def name(): pass", "async  def \\\n name(): pass", "class name: pass", "@x\nclass name: 1"]
)
def test_the_name_in_a_head_is_found(text: str) -> None:
    source, node = only(text)
    start, end = name_span(source, node)
    assert source.text[start:end] == "name"


@pytest.mark.parametrize(
    ("given", "base", "result"),
    [
        ("def g(a)", "", "def g(a):"),
        ("  async def g(a):\n", "    ", "async def g(a):"),
        ("def g(\n    a,\n):", "    ", "def g(\n        a,\n    ):"),
        ("def g(\r\n        a,\r\n    ):", "    ", "def g(\n        a,\n    ):"),
        ("    def g(\n        a,\n    ):", "  ", "def g(\n      a,\n  ):"),
        ("def g(\n    a='''\nx''',\n\n):", "  ", "def g(\n      a='''\nx''',\n\n  ):"),
    ],
)
def test_a_new_head_is_made_to_fit(given: str, base: str, result: str) -> None:
    assert fit_header(only("def f(): pass")[1], given, base) == result


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "line 1 of the new signature"),
        ("def f(:", "line 1 of the new signature"),
        ("x", "line 1 of the new signature"),
        ("if x:", "must be one line or more from 'def'"),
        ("def f(): pass\ndef g():", "must be one line or more"),
        ("def f(): return 1", "line 1 of the new signature|must"),
        ("@x\ndef f():", "must start with 'def'"),
        ("# x\ndef f():", "must start with 'def'"),
        ("class f:", "is a function; its signature cannot become that of a class"),
    ],
)
def test_what_is_no_head_is_bad_input(given: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        fit_header(only("def f(): pass")[1], given, "")


def test_a_class_stays_a_class() -> None:
    node = only("class A: pass")[1]
    assert fit_header(node, "class A(B)", "") == "class A(B):"
    with pytest.raises(BadInput, match=r"is a class; .* of a function"):
        fit_header(node, "def A():", "")
