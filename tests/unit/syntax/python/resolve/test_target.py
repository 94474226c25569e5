import re

import pytest

from marid.core.errors import BadInput, NotFound
from marid.syntax.python.resolve.fact_reader import py_facts
from marid.syntax.python.resolve.facts import Class, Entity, Function
from marid.syntax.python.resolve.resolver import ModuleIndex, Resolver
from marid.syntax.python.resolve.target import defined_names, find_target

FILES = {
    "src/pkg/__init__.py": b"from .core import Shop as Store\n",
    "src/pkg/core.py": b"class Shop:\n  def open(self): ...\n  class Till:\n    def ring(self): ...\ndef both(): ...\n",
    "src/pkg/other.py": b"def both(): ...\ndef twice(): ...\ndef twice(): ...\ndef alone():\n  def twice(): ...\n",
    "tools/other.py": b"x = 1\n",
    "broken.py": b"def broken(:\n",
}


def resolver() -> Resolver:
    return Resolver(ModuleIndex(FILES), lambda path: None if path == "broken.py" else py_facts(FILES[path]))


SHOP = Class("src/pkg/core.py", "Shop")
OPEN = Function("src/pkg/core.py", "Shop.open", SHOP)


@pytest.mark.parametrize(
    ("targets", "thing"),
    [
        (["src/pkg/core.py::Shop.open", "./src/pkg/core.py :: Shop.open"], OPEN),
        (["pkg.core.Shop.open", "pkg.Store.open", "Shop.open", "open"], OPEN),
        (["src\\pkg\\core.py::Shop", "Shop"], SHOP),
        (["core.py::both", "src.pkg.core.both"], Function("src/pkg/core.py", "both")),
        (["core.py", "pkg.core"], Function("src/pkg/core.py", "")),
        (["other"], Function("tools/other.py", "")),
        (["Till.ring"], Function("src/pkg/core.py", "Shop.Till.ring", Class("src/pkg/core.py", "Shop.Till"))),
        (["pkg.other.twice", "src/pkg/other.py::twice"], Function("src/pkg/other.py", "twice#2")),
        (["alone"], Function("src/pkg/other.py", "alone")),
    ],
)
def test_a_target_is_found_by_path_by_module_or_by_its_name_alone(targets: list[str], thing: Entity) -> None:
    for target in targets:
        assert (target, find_target(resolver(), FILES, target)) == (target, thing)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "not a target"),
        ("x" * 2000, "not a target"),
        ("both", "'both' is ambiguous: src/pkg/core.py::both, src/pkg/other.py::both"),
        ("other.py::both", "'other.py' is ambiguous: src/pkg/other.py, tools/other.py"),
        ("broken.py::broken", "'broken.py' does not parse"),
        ("broken", "'broken.py' does not parse"),
    ],
)
def test_what_names_several_things_or_none_is_bad_input(target: str, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        find_target(resolver(), FILES, target)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("../../etc/passwd::x", "no Python file '../../etc/passwd' in the folder"),
        ("/etc/passwd::x", "no Python file '/etc/passwd' in the folder"),
        ("src/pkg/cores.py::x", "did you mean 'src/pkg/core.py"),
        ("core.py::opne", "no 'opne' in 'src/pkg/core.py'"),
        ("core.py::ring", "did you mean 'Shop.Till.ring'?"),
        ("alon", "did you mean 'alone"),
        ("Shop.opne", "did you mean 'Shop.open"),
        ("pkg.core.Shop.opne", "did you mean 'Shop.open"),
        (".", "no function or class '.'"),
        ("pkg.nonesuch", "no function or class 'pkg.nonesuch'"),
    ],
)
def test_what_is_not_there_is_not_found(target: str, words: str) -> None:
    with pytest.raises(NotFound, match=re.escape(words)):
        find_target(resolver(), FILES, target)


def test_many_candidates_are_counted() -> None:
    files = {f"m{n:02}.py": b"def f(): ..." for n in range(12)}
    many = Resolver(ModuleIndex(files), lambda path: py_facts(files[path]))
    with pytest.raises(BadInput, match=r"m09.py::f and 2 more"):
        find_target(many, files, "f")


def test_suggestions_do_not_search_a_large_tree_to_its_end() -> None:
    files = {"a.py": b"def first(): ..." + b" " * (17 << 20), "b.py": b"def second(): ..."}
    assert defined_names(files, re.compile(rb"def (\w+)")) == ["first"]
