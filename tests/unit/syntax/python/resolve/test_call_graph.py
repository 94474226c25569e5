from collections.abc import Mapping

from marid.syntax.python.resolve.call_graph import trace_calls
from marid.syntax.python.resolve.fact_reader import py_facts
from marid.syntax.python.resolve.facts import Class, External, Function
from marid.syntax.python.resolve.resolver import ModuleIndex, Resolver

TREE = {
    "shop.py": """
from till import Till, ring
class Shop:
    def __init__(self):
        self.till = Till()
    def open(self):
        self.till.count()
        self.close()
        handlers[0](self)
    def close(self):
        self.open()
        ring()
class Corner(Shop):
    def close(self):
        super().close()
class Bare: ...
def main(guest):
    corner = Corner()
    corner.open()
    Bare()
    corner()
    guest.greet()
    print(len('x'))
    Tool()()
class Tool:
    def __call__(self): ring()
""",
    "till.py": "class Till:\n    def count(self): return ring()\ndef ring(): ...\n",
}


def resolver_over(tree: Mapping[str, str]) -> Resolver:
    return Resolver(ModuleIndex(tree), lambda path: py_facts(tree[path].encode()))


def test_calls_are_followed_across_files_and_classes() -> None:
    found = trace_calls(resolver_over(TREE), Function("shop.py", "main"), 9)
    assert (
        "\n".join(found.lines)
        == """\
main (shop.py:17)
  external: len, print
  unresolved: corner (line 21), guest.greet (line 22)
  Shop.__init__ (shop.py:4) [makes Corner]
    Till (till.py:1)
  Shop.open (shop.py:6)
    unresolved: handlers[0] (line 9)
    Till.count (till.py:2)
      ring (till.py:3)
    Corner.close (shop.py:14)
      Shop.close (shop.py:10)
        Shop.open (shop.py:6) [cycle]
        ring (till.py:3)
  Bare (shop.py:16)
  Tool (shop.py:25)
  Tool.__call__ (shop.py:26)
    ring (till.py:3)"""
    )
    assert (found.functions, found.unfollowed, found.dropped) == (14, 0, 0)


def test_a_function_is_followed_where_it_stands_highest() -> None:
    tree = {"a.py": "def a():\n b()\n c()\ndef b(): c()\ndef c(): d()\ndef d(): ...\n"}
    found = trace_calls(resolver_over(tree), Function("a.py", "a"), 9)
    assert [line.strip().partition(" (")[0] for line in found.lines] == ["a", "b", "c", "c", "d"]
    assert found.lines[2].endswith("[shown elsewhere]")


def test_a_class_as_the_start_is_its_constructor() -> None:
    resolver = resolver_over(TREE)
    assert trace_calls(resolver, Class("shop.py", "Shop"), 1).lines[0] == "Shop.__init__ (shop.py:4)"
    assert trace_calls(resolver, Class("shop.py", "Bare"), 1).lines == ("Bare (shop.py:16)",)


def test_a_module_as_the_start_is_its_own_code() -> None:
    found = trace_calls(resolver_over({"a.py": "import b\nb.f()\n", "b.py": "def f(): ...\n"}), Function("a.py", ""), 3)
    assert found.lines == ("<module> (a.py:1)", "  f (b.py:1)")


def test_external_code_is_not_followed() -> None:
    assert trace_calls(resolver_over(TREE), External("len"), 3).lines == ("?",)


def test_mutual_recursion_ends() -> None:
    tree = {"a.py": "def a(): b()\ndef b():\n  a()\n  b()\n"}
    found = trace_calls(resolver_over(tree), Function("a.py", "a"), 10**6)
    assert found.lines == ("a (a.py:1)", "  b (a.py:2)", "    a (a.py:1) [cycle]", "    b (a.py:2) [cycle]")


def test_many_names_are_counted_instead() -> None:
    tree = {"a.py": "import x\ndef a():\n" + "".join(f"  x.f{n}()\n" for n in range(60))}
    (_, line) = trace_calls(resolver_over(tree), Function("a.py", "a"), 3).lines
    assert line.endswith("x.f39 and 20 more")
