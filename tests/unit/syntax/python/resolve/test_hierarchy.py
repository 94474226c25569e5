from collections.abc import Mapping, Sequence

import pytest

from marid.core.errors import NotFound
from marid.syntax.python.resolve.fact_reader import py_class_facts
from marid.syntax.python.resolve.facts import FileFacts
from marid.syntax.python.resolve.hierarchy import MentionIndex, SubclassTree, find_subclasses

TREE = {
    "pkg/__init__.py": "from .core import Base as Root\nfrom .star import *\n",
    "pkg/core.py": "class Base: ...\nclass Near(Base): ...\n",
    "pkg/star.py": "class Starry: ...\n",
    "a.py": "from pkg import Root\nclass A(Root): ...\nclass Both(A, Root): ...\n",
    "b.py": "import pkg.core as c\nAlias = c.Near\nclass B(Alias, Generic[T]): ...\n",
    "c.py": "from b import Alias as Other\ndef f():\n    from a import Both as Local\n    class C(Local): ...\n"
    "class D(Other): ...\n",
    "d.py": "from pkg import *\nclass S(Starry): ...\n",
    "e.py": "import unittest\nfrom unittest import TestCase as T\nclass E(unittest.TestCase): ...\nclass F(T): ...\n"
    "class G(E): ...\n",
    "h.py": "from somewhere import *\nclass H(Lost): ...\nclass I(H): ...\n"
    "class Outer:\n    class Inner: ...\n    class J(Inner): ...\n",
    "k.py": "class Base: ...\nclass K(Base): ...\n",
    "loop.py": "class Ring(Ring): ...\nclass P(Q): ...\nclass Q(P): ...\n",
    "unrelated.py": "class Z: ...\n",
}


def family(name: str, tree: Mapping[str, str] = TREE, loaded: list[str] | None = None) -> SubclassTree:
    files = {path: code.encode() for path, code in tree.items()}

    def load_all(paths: Sequence[str]) -> dict[str, FileFacts]:
        (loaded if loaded is not None else []).extend(paths)
        return {path: py_class_facts(files[path]) for path in paths}

    return find_subclasses(files, name, load_all)


def test_subclasses_are_found_through_imports_aliases_and_packages() -> None:
    found = family("pkg.core.Base")
    assert (
        "\n".join(found.lines)
        == """\
pkg/core.py:1: class Base
  a.py:2: class A(Root)
    a.py:3: class Both(A, Root)
      c.py:4: class C(Local)
  a.py:3: class Both(A, Root) [shown elsewhere]
  pkg/core.py:2: class Near(Base)
    b.py:3: class B(Alias, Generic[T])
    c.py:5: class D(Other)"""
    )
    assert found.count == 6


def test_every_class_of_a_bare_name_is_listed() -> None:
    lines = family("Base").lines
    assert [line for line in lines if not line.startswith(" ")] == ["k.py:1: class Base", "pkg/core.py:1: class Base"]
    assert "  k.py:2: class K(Base)" in lines


def test_a_class_of_a_library_has_subclasses_too() -> None:
    expected = (
        "unittest.TestCase (external)",
        "  e.py:3: class E(unittest.TestCase)",
        "    e.py:5: class G(E)",
        "  e.py:4: class F(T)",
    )
    assert family("TestCase").lines == family("unittest.TestCase").lines == expected


def test_names_that_a_package_hands_on_whole_are_followed() -> None:
    assert family("Starry").lines == ("pkg/star.py:1: class Starry", "  d.py:2: class S(Starry)")


def test_an_unresolved_base_is_listed_apart() -> None:
    found = family("Lost")
    assert found.lines == ("Lost (unresolved)", "  h.py:2: class H(Lost)", "    h.py:3: class I(H)")
    assert found.count == 2


def test_an_inner_class_is_found_by_either_name() -> None:
    expected = ("h.py:5: class Inner", "  h.py:6: class J(Inner)")
    assert family("Outer.Inner").lines == family("Inner").lines == expected


def test_circles_end() -> None:
    assert family("Ring").lines == ("loop.py:1: class Ring(Ring)",)
    assert family("P").lines == (
        "loop.py:2: class P(Q)",
        "  loop.py:3: class Q(P)",
        "    loop.py:2: class P(Q) [shown elsewhere]",
    )


@pytest.mark.parametrize("name", ["", "Nonesuch", "a b", "(" * 1000, "x" * 1_000_000, "Basee"])
def test_an_unknown_class_is_not_found(name: str) -> None:
    with pytest.raises(NotFound) as caught:
        family(name)
    assert len(str(caught.value)) < 400
    assert ("did you mean 'Base" in str(caught.value)) == (name == "Basee")


def test_only_files_that_matter_are_loaded_and_each_once() -> None:
    loaded: list[str] = []
    family("Starry", loaded=loaded)
    assert sorted(loaded) == ["d.py", "pkg/__init__.py", "pkg/star.py"]


MENTIONING = {
    "head.py": b"class A(x.Base): ...\n",
    "long.py": b"class A(\r\n    One,\r\n    Base,\r\n): ...\r\n",
    "imported.py": b"from a import (\n  b,\n  Base as B,\n)\n",
    "plain.py": b"  from a import b, Base\n",
    "broken_line.py": b"from a import b, \\\n  Base\n",
    "module.py": b"import Base.x\n",
    "other_name.py": b"import a\nB = a.Base\r\n",
    "used.py": b"import a\na.Base()\n# class Base\n",
    "part.py": b"class BaseX: ...\n",
    "nothing.py": b"Base = 1\n",
    "umlaut.py": "class Bäse: ...\n".encode(),
}


@pytest.mark.parametrize("more", [set[str](), {f"x{n}" for n in range(10)}], ids=["few", "many"])
def test_files_that_may_define_import_or_derive_from_a_class_are_found(more: set[str]) -> None:
    assert MentionIndex(MENTIONING).take_matching({"Base", *more}) == list(MENTIONING)[:7]


def test_a_file_is_returned_once() -> None:
    mentions = MentionIndex(MENTIONING)
    assert mentions.take_matching({"One"}) == ["long.py"]
    assert "long.py" not in mentions.take_matching({"Base"})
    assert mentions.take_matching({"Bäse"}) == ["umlaut.py"]
